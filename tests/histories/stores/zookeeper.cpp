// ZooKeeper: three private servers, and for each worker a bad network of its own to all of them.
#include <array>
#include <memory>

#include "histories/plan.hpp"
#include "histories/store.hpp"
#include "support/proxy.hpp"
#include "support/zookeeper_server.hpp"

namespace holdfast::histories {

namespace {

using namespace std::chrono_literals;
using redis_faults::proxy;

constexpr std::size_t members = 3;

class zookeeper_store final : public store {
public:
    explicit zookeeper_store(std::uint64_t seed) {
        for (int worker = 0; worker < workers(); ++worker) {
            auto& ways = networks_.emplace_back();
            for (std::size_t each = 0; each < members; ++each)
                ways[each] = std::make_unique<proxy>(server_.port(each), ++seed);
        }
    }
    ~zookeeper_store() override {
        for (std::size_t each = 0; each < members; ++each)
            server_.resume(each);
    }

    [[nodiscard]] std::string url(int worker) const override {
        std::string out = "zookeeper://";
        for (auto const& way : networks_[static_cast<std::size_t>(worker)])
            out +=
                (out.ends_with('/') ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(way->port());
        return out + "?timeout=500ms&tick=200ms" + url_options(true);
    }
    [[nodiscard]] std::string direct_url() const override {
        return server_.url() + "&timeout=1s" + url_options(true);
    }

    [[nodiscard]] std::vector<fault> faults() override {
        std::vector<fault> out;
        add_leader_faults(out);
        add_member_faults(out);
        add_network_faults(out);
        return out;
    }

private:
    void add_leader_faults(std::vector<fault>& out) {
        auto const add = [&](char const* name, auto begin, auto end) {
            out.push_back({.name = name,
                           .begin =
                               [this, begin](random&) {
                                   leader_ = server_.leader();
                                   begin(server_, leader_);
                               },
                           .end = [this, end] { end(server_, leader_); }});
        };
        add(
            "leader killed", [](auto& all, auto which) { all.kill(which); },
            [](auto& all, auto which) { all.start(which); });
        add(
            "leader stopped", [](auto& all, auto which) { all.stop(which); },
            [](auto& all, auto which) { all.resume(which); });
        add(
            "leader cut off", [](auto& all, auto which) { all.cut_off(which); },
            [](auto& all, auto) { all.heal(); });
        add(
            "follower cut off from its leader",
            [](auto& all, auto which) { all.cut_off_from((which + 1) % members, which); },
            [](auto& all, auto) { all.heal(); });
    }

    void add_member_faults(std::vector<fault>& out) {
        out.push_back({.name = "majority killed",
                       .begin =
                           [this](random& chance) {
                               spared_ = chance.below(members);
                               each_but(spared_, [this](auto which) { server_.kill(which); });
                           },
                       .end = [this] { server_.start_dead(); }});
        out.push_back(
            {.name = "all members stopped",
             .begin =
                 [this](random&) {
                     each_but(members, [this](auto which) { server_.stop(which); });
                 },
             .end = [this] { each_but(members, [this](auto which) { server_.resume(which); }); }});
    }

    template <class Action>
    static void each_but(std::size_t spared, Action&& act) {
        for (std::size_t each = 0; each < members; ++each)
            if (each != spared) act(each);
    }

    void add_network_faults(std::vector<fault>& out) {
        auto const add = [&](char const* name, std::function<void(proxy&)> spoil) {
            out.push_back({.name = name,
                           .begin =
                               [this, spoil = std::move(spoil)](random& chance) {
                                   // One worker's, or everybody's.
                                   auto const one = chance.below(networks_.size());
                                   bool const all = chance.once_in(2);
                                   for (std::size_t i = 0; i < networks_.size(); ++i)
                                       for (auto const& way : networks_[i])
                                           if (all || i == one) spoil(*way);
                               },
                           .end =
                               [this] {
                                   for (auto const& ways : networks_)
                                       for (auto const& way : ways) {
                                           way->stall(false);
                                           way->be_good();
                                       }
                               }});
        };
        add("network cut", [](proxy& of) { of.be_bad({.lose_request = 1}); });
        add("network stalled", [](proxy& of) { of.stall(true); });
        add("network half-open", [](proxy& of) { of.swallow(); });
        add("network slow", [](proxy& of) { of.be_bad({.delay = 1, .longest_delay = 400ms}); });
        add("network lossy", [](proxy& of) {
            of.be_bad({.lose_request = 40,
                       .lose_reply = 40,
                       .cut_reply = 40,
                       .silence = 100,
                       .garble = 200,
                       .delay = 10});
        });
    }

    support::zookeeper_server server_{{.members = members, .cuttable = true, .sync_limit = 10}};
    std::vector<std::array<std::unique_ptr<proxy>, members>> networks_;
    std::size_t leader_{0};  ///< when the fault began
    std::size_t spared_{0};
};

store_row const ensemble{
    "zookeeper", [](std::uint64_t seed) { return std::make_unique<zookeeper_store>(seed); }};

}  // namespace

}  // namespace holdfast::histories
