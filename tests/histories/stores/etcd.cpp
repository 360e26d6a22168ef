// etcd: three private members, and for each worker a bad network of its own to all of them.
#include <array>
#include <cstdio>
#include <memory>
#include <sstream>

#include "histories/plan.hpp"
#include "histories/store.hpp"
#include "support/etcd_server.hpp"
#include "support/proxy.hpp"

namespace holdfast::histories {

namespace {

using namespace std::chrono_literals;
using redis_faults::proxy;

constexpr std::size_t members = 3;

// Up to 3.4.30 and 3.5.12 a leader that was stopped or cut off may revoke leases that another one has renewed since: those
// holds end before anybody can be told (docs/stores/etcd.md, *Versions*).
bool stopped_leaders_revoke(support::etcd_server const& server) {
    std::istringstream lines{server.control({"endpoint", "status", "--write-out=fields"})};
    for (std::string line; std::getline(lines, line);) {
        int minor = 0;
        int patch = 0;
        if (std::sscanf(line.c_str(), "\"Version\" : \"3.%d.%d\"", &minor, &patch) == 2)
            return minor == 4 ? patch <= 30 : minor == 5 && patch <= 12;
    }
    return false;
}

class etcd_store final : public store {
public:
    explicit etcd_store(std::uint64_t seed) {
        for (int worker = 0; worker < workers(); ++worker) {
            auto& ways = networks_.emplace_back();
            for (std::size_t each = 0; each < members; ++each)
                ways[each] = std::make_unique<proxy>(server_.port(each), ++seed);
        }
    }
    ~etcd_store() override {
        for (std::size_t each = 0; each < members; ++each)
            server_.resume(each);
    }

    [[nodiscard]] std::string url(int worker) const override {
        std::string out = "etcd://";
        for (auto const& way : networks_[static_cast<std::size_t>(worker)])
            out +=
                (out.ends_with('/') ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(way->port());
        return out + "?timeout=500ms" + url_options(true);
    }
    [[nodiscard]] std::string direct_url() const override {
        return server_.url() + "?timeout=1s" + url_options(true);
    }

    [[nodiscard]] std::vector<fault> faults() override {
        std::vector<fault> out;
        add_leader_faults(out);
        add_member_faults(out);
        add_network_faults(out);
        return out;
    }

    // What hangs on no lease, although nobody is there any more. Latches and the barrier are remembered for a day, and
    // then go in passing.
    [[nodiscard]] std::vector<std::string> leftovers() override {
        std::vector<std::string> out;
        std::istringstream keys{server_.control({"get", "", "--prefix", "--write-out=fields"})};
        auto const latches = "\"holdfast/name/" + std::string{latch_prefix};
        auto const barrier = "\"holdfast/name/" + std::string{barrier_name} + "\"";
        std::string key;
        for (std::string line; std::getline(keys, line);) {
            if (line.starts_with("\"Key\"")) key = line.substr(line.find(':') + 2);
            if (key.starts_with(latches) || key == barrier) continue;
            if (line == "\"Lease\" : 0")
                out.push_back("the key " + key + ", which ends with nobody");
        }
        return out;
    }

private:
    void add_leader_faults(std::vector<fault>& out) {
        auto const add = [&](char const* name, auto begin, auto end, bool forgets) {
            out.push_back({.name = name,
                           .begin =
                               [this, begin](random&) {
                                   leader_ = server_.leader();
                                   begin(server_, leader_);
                               },
                           .end = [this, end] { end(server_, leader_); },
                           .forgets = forgets,
                           .aftermath = 1s});
        };
        bool const revokes = stopped_leaders_revoke(server_);
        add(
            "leader killed", [](auto& all, auto which) { all.kill(which); },
            [](auto& all, auto which) { all.start(which); }, false);
        add(
            "leader stopped", [](auto& all, auto which) { all.stop(which); },
            [](auto& all, auto which) { all.resume(which); }, revokes);
        add(
            "leader cut off", [](auto& all, auto which) { all.cut_off(which); },
            [](auto& all, auto) { all.heal(); }, revokes);
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
        out.push_back({.name = "history compacted, database defragmented",
                       .begin =
                           [this](random&) {
                               server_.compact();
                               server_.control({"defrag"});
                           },
                       .end = [] {},
                       .longest = 200ms});
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

    support::etcd_server server_{{.members = members, .cuttable = true}};
    std::vector<std::array<std::unique_ptr<proxy>, members>> networks_;
    std::size_t leader_{0};  ///< when the fault began
    std::size_t spared_{0};
};

store_row const cluster{"etcd",
                        [](std::uint64_t seed) { return std::make_unique<etcd_store>(seed); }};

}  // namespace

}  // namespace holdfast::histories
