// redis+sentinel: and redis+cluster: private servers, of which others take over from a master.
#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

#include "histories/plan.hpp"
#include "histories/store.hpp"
#include "support/redis_cluster.hpp"
#include "support/redis_sentinels.hpp"

namespace holdfast::histories {

namespace {

using namespace std::chrono_literals;
using support::redis_cluster;
using support::redis_sentinels;
using support::redis_server;

/// Whether a key without an end is as it should be.
bool may_stay(std::string const& key) {
    return key == "holdfast:mark" || key.starts_with("holdfast:mark:{");
}

void add_leftovers(redis_server const& server, bool has_keys, std::vector<std::string>& out) {
    std::istringstream keys{has_keys ? server.ask({"KEYS", "*"}) : std::string{}};
    for (std::string key; std::getline(keys, key);)
        if (!may_stay(key) && server.ask({"PTTL", key}) == "-1")
            out.push_back("the key " + key + ", which does not expire");
    std::istringstream clients{server.ask({"CLIENT", "LIST"})};
    for (std::string line; std::getline(clients, line);)
        if (line.find("name=holdfast-") != std::string::npos)
            out.push_back("the connection " + line);
}

void revive(redis_server& server) { server.is_alive() ? server.resume() : server.start(); }

/// So that the machine is not taken for dead when it is busy.
constexpr std::chrono::seconds silence_bound{3};

// A replica lags behind its master by a little, so a master that is gone takes some of its last grants with it.
struct found_terms {
    bool replicas{false};  ///< a grant counts when a replica has it
    [[nodiscard]] char const* option() const { return replicas ? "&replicas=1" : ""; }
};

// A master that is asked to go, or comes back after another was found, goes on as one for some seconds, and a replica
// that still follows it confirms what it grants. Only of one that has died it can be said that nothing confirmed is
// lost.
class sentinel_store final : public store {
public:
    explicit sentinel_store(found_terms terms) : terms_{terms} {}

    [[nodiscard]] std::string url(int) const override {
        return servers_.url() + "?timeout=1s" + terms_.option() + url_options(true);
    }

    [[nodiscard]] std::vector<fault> faults() override {
        std::vector<fault> out;
        out.push_back({.name = "failover asked for",
                       .begin = [this](random&) { servers_.fail_over(); },
                       .end = [this] { mend(); },
                       .forgets = true,
                       .longest = 1000ms});
        add_end(out, "master killed", &redis_server::kill, !terms_.replicas);
        add_end(out, "master stopped until another is found", &redis_server::stop, true);
        out.push_back({.name = "master stopped for a moment",
                       .begin = [this](random&) { servers_.master().stop(); },
                       .end = [this] { mend(); },
                       .longest = 400ms});
        out.push_back(
            {.name = "sentinel killed",
             .begin = [this](random& chance) { servers_.sentinel(chance.below(3)).kill(); },
             .end = [this] { mend(); }});
        out.push_back({.name = "replica killed",
                       .begin = [this](random& chance) { any_replica(chance).kill(); },
                       .end = [this] { mend(); }});
        return out;
    }

    [[nodiscard]] std::vector<std::string> leftovers() override {
        std::vector<std::string> out;
        auto const& leads = servers_.master();
        for (std::size_t i = 0; i < 3; ++i) {
            add_leftovers(servers_.server(i), &servers_.server(i) == &leads, out);
            add_leftovers(servers_.sentinel(i), false, out);
        }
        return out;
    }

private:
    void add_end(std::vector<fault>& out, char const* name, auto strike, bool forgets) {
        out.push_back({.name = name,
                       .begin =
                           [this, strike](random&) {
                               auto& old = servers_.master();
                               (old.*strike)();
                               servers_.await_other_than(old);
                           },
                       .end = [this] { mend(); },
                       .forgets = forgets,
                       .longest = 1000ms});
    }

    [[nodiscard]] redis_server& any_replica(random& chance) {
        auto const& leads = servers_.master();
        auto const first = chance.below(3);
        auto& chosen = servers_.server(first);
        return &chosen != &leads ? chosen : servers_.server((first + 1) % 3);
    }

    void mend() {
        for (std::size_t i = 0; i < 3; ++i)
            revive(servers_.sentinel(i));
        auto const port = std::to_string(servers_.master().port());
        for (std::size_t i = 0; i < 3; ++i) {
            auto& each = servers_.server(i);
            bool const was_dead = !each.is_alive();
            revive(each);
            // It begins with what its command line says. The sentinels put that right as well, ten seconds later.
            if (was_dead && std::to_string(each.port()) != port)
                each.ask({"REPLICAOF", "127.0.0.1", port});
        }
        servers_.await_in_step();
    }

    found_terms terms_;
    redis_sentinels servers_{{.down_after = silence_bound}};
};

// When it is asked to go, a node waits for its replica.
class cluster_store final : public store {
public:
    explicit cluster_store(found_terms terms) : terms_{terms} {}

    [[nodiscard]] std::string url(int) const override {
        return nodes_.url() + "?timeout=1s" + terms_.option() + url_options(true);
    }

    [[nodiscard]] std::vector<fault> faults() override {
        std::vector<fault> out;
        add_failovers(out);
        add_ends(out);
        out.push_back({.name = "slots moved",
                       .begin = [this](random& chance) { begin_moves(chance); },
                       .end = [this] { end_moves(); },
                       .longest = 1500ms});
        return out;
    }

    [[nodiscard]] std::vector<std::string> leftovers() override {
        std::vector<std::string> out;
        auto const masters = nodes_.masters();
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            auto& each = nodes_.node(i);
            add_leftovers(each, std::ranges::find(masters, &each) != masters.end(), out);
        }
        return out;
    }

private:
    /// That of a name which the parties use, so that a fault meets somebody.
    [[nodiscard]] unsigned any_slot(random& chance) {
        static constexpr std::array used{lock_names[0],  lock_names[1], lock_names[2],
                                         semaphore_name, election_name, barrier_name,
                                         condition_name, evicted_name};
        std::string const name{chance.one_of(used)};
        return static_cast<unsigned>(
            std::stoul(nodes_.masters().front()->ask({"CLUSTER", "KEYSLOT", name})));
    }

    void mend() {
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            revive(nodes_.node(i));
        nodes_.await_in_step();
    }

    void add_failovers(std::vector<fault>& out) {
        auto const add = [&](char const* name, std::string how, bool forgets) {
            out.push_back(
                {.name = name,
                 .begin = [this, how = std::move(how)](
                              random& chance) { nodes_.fail_over(any_slot(chance), how); },
                 .end = [this] { mend(); },
                 .forgets = forgets,
                 .longest = 1000ms});
        };
        add("failover asked for", {}, false);
        add("failover forced", "FORCE", true);
        add("slots taken over", "TAKEOVER", true);
    }

    void add_ends(std::vector<fault>& out) {
        auto const add = [&](char const* name, auto strike, bool forgets) {
            out.push_back({.name = name,
                           .begin =
                               [this, strike](random& chance) {
                                   auto const slot = any_slot(chance);
                                   auto& old = nodes_.master_of(slot);
                                   (old.*strike)();
                                   nodes_.await_other_than(old, slot);
                               },
                           .end = [this] { mend(); },
                           .forgets = forgets,
                           .longest = 1000ms});
        };
        add("master killed", &redis_server::kill, !terms_.replicas);
        add("master stopped until another is found", &redis_server::stop, !terms_.replicas);
        out.push_back(
            {.name = "master stopped for a moment",
             .begin = [this](random& chance) { nodes_.master_of(any_slot(chance)).stop(); },
             .end = [this] { mend(); },
             .longest = 400ms});
    }

    struct move {
        unsigned slot{0};
        redis_server* from{nullptr};
        redis_server* to{nullptr};
    };

    void begin_moves(random& chance) {
        auto const masters = nodes_.masters();
        for (int i = 0; i < 3; ++i) {
            move one{.slot = any_slot(chance)};
            if (std::ranges::find(moves_, one.slot, &move::slot) != moves_.end()) continue;
            one.from = &nodes_.master_of(one.slot);
            do
                one.to = masters[chance.below(masters.size())];
            while (one.to == one.from);
            nodes_.begin_move(one.slot, *one.from, *one.to);
            moves_.push_back(one);
        }
    }
    void end_moves() {
        for (auto const& each : moves_)
            nodes_.end_move(each.slot, *each.from, *each.to);
        for (auto const& each : std::exchange(moves_, {}))
            nodes_.await_other_than(*each.from, each.slot);
    }

    found_terms terms_;
    redis_cluster nodes_{{.node_timeout = silence_bound}};
    std::vector<move> moves_;
};

store_row const sentinel{"redis-sentinel", [](std::uint64_t) {
                             return std::make_unique<sentinel_store>(found_terms{});
                         }};
store_row const sentinel_replicated{
    "redis-sentinel-replicas",
    [](std::uint64_t) { return std::make_unique<sentinel_store>(found_terms{.replicas = true}); }};
store_row const cluster{
    "redis-cluster", [](std::uint64_t) { return std::make_unique<cluster_store>(found_terms{}); }};
store_row const replicated{
    "redis-cluster-replicas",
    [](std::uint64_t) { return std::make_unique<cluster_store>(found_terms{.replicas = true}); }};

}  // namespace

}  // namespace holdfast::histories
