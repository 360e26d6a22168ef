// quorum+redis: three private servers, or five, that know nothing of each other, each behind a bad network. All clients
// name the members in the same words, so that they share the networks.
#include <cstddef>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "histories/store.hpp"
#include "support/proxy.hpp"
#include "support/redis_server.hpp"

namespace holdfast::histories {

namespace {

using namespace std::chrono_literals;
using redis_faults::proxy;
using support::redis_server;

class quorum_store final : public store {
public:
    quorum_store(std::uint64_t seed, std::size_t members) {
        for (std::size_t i = 0; i < members; ++i) {
            servers_.push_back(std::make_unique<redis_server>(
                support::redis_server_options{.arguments = {"--save", ""}}));
            networks_.push_back(std::make_unique<proxy>(servers_[i]->port(), seed + i));
        }
    }
    ~quorum_store() override {
        for (auto const& each : servers_)
            each->resume();
    }

    [[nodiscard]] std::string url(int /*worker*/) const override {
        std::string out = "quorum+redis://";
        for (auto const& each : networks_)
            out +=
                (out.ends_with('/') ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(each->port());
        return out + "?timeout=1s&max_lease=2s" + url_options(true);
    }

    [[nodiscard]] bool has_only_locks() const override { return true; }

    [[nodiscard]] std::vector<fault> faults() override {
        std::vector<fault> out;
        add_server_faults(out, "a member", 1);
        if (majority() > 2) add_server_faults(out, "two members", 2);
        add_server_faults(out, "a majority", majority());
        out.push_back({.name = "all members restarted empty",
                       .begin =
                           [this](random& chance) {
                               choose(chance, servers_.size());
                               kill_chosen();
                           },
                       .end = [this] { start_chosen(); },
                       .forgets = true,
                       .longest = 1000ms});
        add_network_faults(out, "a member", 1);
        if (majority() > 2) add_network_faults(out, "two members", 2);
        add_network_faults(out, "all members", servers_.size());
        return out;
    }

    [[nodiscard]] std::vector<std::string> leftovers() override {
        std::vector<std::string> out;
        for (auto const& server : servers_) {
            std::istringstream keys{server->ask({"KEYS", "*"})};
            for (std::string key; std::getline(keys, key);)
                if (key != "holdfast:mark" && key != "holdfast:ballots" &&
                    server->ask({"PTTL", key}) == "-1")
                    out.push_back("the key " + key + ", which does not expire");
        }
        return out;
    }

private:
    [[nodiscard]] std::size_t majority() const { return servers_.size() / 2 + 1; }
    void choose(random& chance, std::size_t count) {
        chosen_.clear();
        auto const first = chance.below(servers_.size());
        for (std::size_t i = 0; i < count; ++i)
            chosen_.push_back((first + i) % servers_.size());
    }
    void kill_chosen() {
        for (auto const each : chosen_)
            servers_[each]->kill();
    }
    void start_chosen() {
        for (auto const each : chosen_)
            servers_[each]->start();
    }

    // They keep nothing, so one that was killed has forgotten everything. That is no excuse as long as others have not, but
    // what a majority has forgotten is lost to its holder.
    void add_server_faults(std::vector<fault>& out, std::string const& who, std::size_t count) {
        out.push_back({.name = who + " stopped",
                       .begin =
                           [this, count](random& chance) {
                               choose(chance, count);
                               for (auto const each : chosen_)
                                   servers_[each]->stop();
                           },
                       .end =
                           [this] {
                               for (auto const each : chosen_)
                                   servers_[each]->resume();
                           }});
        out.push_back({.name = who + " restarted empty",
                       .begin =
                           [this, count](random& chance) {
                               choose(chance, count);
                               kill_chosen();
                           },
                       .end = [this] { start_chosen(); },
                       .ends_holds = count >= majority()});
    }

    void add_network_faults(std::vector<fault>& out, std::string const& who, std::size_t count) {
        auto const add = [&](char const* name, std::function<void(proxy&)> spoil) {
            out.push_back({.name = "network of " + who + " " + name,
                           .begin =
                               [this, count, spoil = std::move(spoil)](random& chance) {
                                   choose(chance, count);
                                   for (auto const each : chosen_)
                                       spoil(*networks_[each]);
                               },
                           .end =
                               [this] {
                                   for (auto const& each : networks_) {
                                       each->stall(false);
                                       each->be_good();
                                   }
                               }});
        };
        add("cut", [](proxy& of) { of.be_bad({.lose_request = 1}); });
        add("stalled", [](proxy& of) { of.stall(true); });
        add("half-open", [](proxy& of) { of.swallow(); });
        add("slow", [](proxy& of) { of.be_bad({.delay = 1, .longest_delay = 400ms}); });
        add("lossy", [](proxy& of) {
            of.be_bad({.lose_request = 40,
                       .lose_reply = 40,
                       .cut_reply = 40,
                       .silence = 100,
                       .delay = 10,
                       .repeat = true});
        });
    }

    std::vector<std::unique_ptr<redis_server>> servers_;
    std::vector<std::unique_ptr<proxy>> networks_;
    std::vector<std::size_t> chosen_;
};

store_row const of_three{
    "quorum", [](std::uint64_t seed) { return std::make_unique<quorum_store>(seed, 3); }};
store_row const of_five{"quorum-of-five",
                        [](std::uint64_t seed) { return std::make_unique<quorum_store>(seed, 5); }};

}  // namespace

}  // namespace holdfast::histories
