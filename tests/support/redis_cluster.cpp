#include "support/redis_cluster.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "support/eventually.hpp"

namespace holdfast::support {

namespace {

using namespace std::chrono_literals;

constexpr auto nodes_agree_within = 60s;
constexpr unsigned slot_count = 16384;
constexpr std::size_t count_of_masters = 3;

void require_ok(std::string const& said) {
    if (said != "OK") throw std::runtime_error{"a node refuses: " + said};
}

std::vector<std::string> words_of(std::string const& line) {
    std::istringstream in{line};
    std::vector<std::string> out;
    for (std::string word; in >> word;)
        out.push_back(word);
    return out;
}

/// A line of CLUSTER NODES.
struct view {
    std::string id;
    unsigned port{0};
    std::string flags;
    std::string master;
    bool linked{false};
    std::vector<std::pair<unsigned, unsigned>> slots{};

    [[nodiscard]] bool is(char const* flag) const { return flags.find(flag) != std::string::npos; }
    [[nodiscard]] bool serves(unsigned slot) const {
        return std::ranges::any_of(
            slots, [&](auto const& each) { return each.first <= slot && slot <= each.second; });
    }
};

std::vector<view> view_of(redis_server const& node) {
    std::vector<view> out;
    std::istringstream lines{node.ask({"CLUSTER", "NODES"})};
    for (std::string line; std::getline(lines, line);) {
        auto const words = words_of(line);
        if (words.size() < 8) continue;
        auto const colon = words[1].find(':');
        view each{.id = words[0],
                  .port = static_cast<unsigned>(std::stoul(words[1].substr(colon + 1))),
                  .flags = words[2],
                  .master = words[3],
                  .linked = words[7] == "connected"};
        for (std::size_t i = 8; i < words.size(); ++i) {
            if (words[i].front() == '[') continue;  // on the move
            auto const dash = words[i].find('-');
            auto const first = static_cast<unsigned>(std::stoul(words[i].substr(0, dash)));
            auto const last = dash == std::string::npos
                                  ? first
                                  : static_cast<unsigned>(std::stoul(words[i].substr(dash + 1)));
            each.slots.emplace_back(first, last);
        }
        out.push_back(std::move(each));
    }
    return out;
}

bool has(redis_server const& node, char const* section, char const* line) {
    return node.ask({"INFO", section}).find(line) != std::string::npos;
}

}  // namespace

redis_server_options redis_cluster::options_of_node(std::size_t which) const {
    auto const place = which < options_.places.size() ? options_.places[which] : redis_place{};
    auto const bus = place.bus != 0 ? place.bus : free_port();
    redis_server_options out{
        .tls = options_.tls,
        .arguments = {"--repl-diskless-sync-delay", "0", "--cluster-enabled", "yes",
                      "--cluster-config-file", "nodes.conf", "--cluster-node-timeout",
                      std::to_string(options_.node_timeout.count()), "--cluster-port",
                      std::to_string(bus), "--databases", "1", "--cluster-allow-replica-migration",
                      "no"}};
    if (options_.tls)
        out.arguments.insert(out.arguments.end(),
                             {"--tls-cluster", "yes", "--tls-replication", "yes"});
    out.arguments.insert(out.arguments.end(), options_.arguments.begin(), options_.arguments.end());
    if (which < options_.clocks_ahead.size()) out.clock_ahead = options_.clocks_ahead[which];
    out.place = place;
    if (options_.tls && !nodes_.empty()) out.certificates = nodes_.front()->certificates();
    return out;
}

redis_cluster::redis_cluster(redis_cluster_options options) : options_{std::move(options)} {
    for (std::size_t i = 0; i < 2 * count_of_masters; ++i)
        nodes_.push_back(std::make_unique<redis_server>(options_of_node(i)));
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        require_ok(nodes_[i]->ask({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)}));
    for (std::size_t i = 0; i < count_of_masters; ++i) {
        auto const first = slot_count * i / count_of_masters;
        auto const last = slot_count * (i + 1) / count_of_masters - 1;
        require_ok(nodes_[i]->ask(
            {"CLUSTER", "ADDSLOTSRANGE", std::to_string(first), std::to_string(last)}));
    }
    for (auto const& each : nodes_)
        if (each != nodes_.front()) meet(*each);
    await(
        [&] {
            return std::ranges::all_of(nodes_, [&](auto const& each) {
                auto const seen = view_of(*each);
                return seen.size() == nodes_.size() &&
                       std::ranges::none_of(seen,
                                            [](view const& one) { return one.is("handshake"); });
            });
        },
        "all know each other");
    for (std::size_t i = 0; i < count_of_masters; ++i)
        require_ok(nodes_[i + count_of_masters]->ask({"CLUSTER", "REPLICATE", id_of(*nodes_[i])}));
    await_in_step();
}

void redis_cluster::meet(redis_server& whom) {
    auto const& arguments = whom.options().arguments;
    auto const bus = *std::next(std::ranges::find(arguments, "--cluster-port"));
    require_ok(living().ask({"CLUSTER", "MEET", "127.0.0.1", std::to_string(whom.port()), bus}));
}

std::string redis_cluster::url() const {
    return (options_.tls ? "rediss+cluster://127.0.0.1:" : "redis+cluster://127.0.0.1:") +
           std::to_string(nodes_[0]->port()) + ",127.0.0.1:" + std::to_string(nodes_[4]->port());
}

std::string redis_cluster::id_of(redis_server const& node) { return node.ask({"CLUSTER", "MYID"}); }

redis_server& redis_cluster::living() {
    auto const found = std::ranges::find_if(
        nodes_, [](auto const& each) { return each->is_alive() && !each->is_stopped(); });
    if (found == nodes_.end()) throw std::runtime_error{"no node lives"};
    return **found;
}

redis_server& redis_cluster::with_port(unsigned port) {
    for (auto const& each : nodes_)
        if (each->port() == port) return *each;
    throw std::runtime_error{"a node that is not ours"};
}

std::vector<redis_server*> redis_cluster::masters() {
    std::vector<redis_server*> out;
    for (auto const& each : view_of(living()))
        if (each.is("master") && !each.is("fail") && !each.slots.empty())
            out.push_back(&with_port(each.port));
    return out;
}

redis_server& redis_cluster::master_of(unsigned slot) {
    for (auto const& each : view_of(living()))
        if (each.serves(slot)) return with_port(each.port);
    throw std::runtime_error{"nobody serves the slot"};
}

redis_server& redis_cluster::replica_of(redis_server const& master) {
    auto const id = id_of(master);
    redis_server* out = nullptr;
    // One that was a master itself a moment ago may not be known as a replica yet.
    await(
        [&] {
            for (auto const& each : view_of(living()))
                if (each.master == id && !each.is("fail")) out = &with_port(each.port);
            return out != nullptr;
        },
        "a replica");
    return *out;
}

void redis_cluster::await_in_step() {
    auto const settled = [&](redis_server const& node) {
        unsigned served = 0;
        for (auto const& each : view_of(node)) {
            if (each.is("fail") || each.is("handshake")) continue;
            for (auto const& [first, last] : each.slots)
                served += last - first + 1;
        }
        bool const ok = node.ask({"CLUSTER", "INFO"}).find("cluster_state:ok") != std::string::npos;
        bool const replica = has(node, "replication", "role:slave");
        return ok && served == slot_count &&
               (!replica || has(node, "replication", "master_link_status:up"));
    };
    await(
        [&] {
            return std::ranges::all_of(nodes_, [&](auto const& each) {
                return !each->is_alive() || each->is_stopped() || settled(*each);
            });
        },
        "agreement");
}

void redis_cluster::await(std::function<bool()> const& met, char const* what) {
    if (eventually(met, nodes_agree_within)) return;
    std::string seen;
    for (auto const& each : nodes_)
        if (each->is_alive() && !each->is_stopped()) seen += each->ask({"CLUSTER", "NODES"}) + "\n";
    throw std::runtime_error{"the cluster does not come to this: " + std::string{what} + "\n" +
                             seen};
}

bool redis_cluster::is_served_by_another(redis_server const& old, unsigned slot) const {
    return std::ranges::all_of(nodes_, [&](auto const& node) {
        if (!node->is_alive() || node->is_stopped()) return true;
        return std::ranges::any_of(view_of(*node), [&](view const& each) {
            return each.serves(slot) && each.port != old.port();
        });
    });
}

void redis_cluster::await_other_than(redis_server const& old, unsigned slot) {
    await([&] { return is_served_by_another(old, slot); }, "another master");
}

void redis_cluster::fail_over(unsigned slot, std::string const& how) {
    auto& old = master_of(slot);
    std::vector<std::string> wanted{"CLUSTER", "FAILOVER"};
    if (!how.empty()) wanted.push_back(how);
    // On a busy machine it may be given up, and must be asked for again.
    constexpr auto one_try = 10s;
    await(
        [&] {
            if (&master_of(slot) == &old) replica_of(old).ask(wanted);
            return eventually([&] { return is_served_by_another(old, slot); }, one_try);
        },
        "a failover");
}

// --- slots that move -----------------------------------------------------------------------------

redis_server& redis_cluster::add_node() {
    nodes_.push_back(std::make_unique<redis_server>(options_of_node(nodes_.size())));
    auto& fresh = *nodes_.back();
    meet(fresh);
    auto const known_by_all = [&] {
        return std::ranges::all_of(nodes_, [&](auto const& each) {
            auto const seen = view_of(*each);
            return std::ranges::any_of(seen, [&](view const& one) {
                return one.port == fresh.port() && !one.is("handshake");
            });
        });
    };
    await(known_by_all, "a node that is known");
    await_in_step();
    return fresh;
}

void redis_cluster::begin_move(unsigned slot, redis_server& from, redis_server& to) {
    auto const number = std::to_string(slot);
    require_ok(to.ask({"CLUSTER", "SETSLOT", number, "IMPORTING", id_of(from)}));
    require_ok(from.ask({"CLUSTER", "SETSLOT", number, "MIGRATING", id_of(to)}));
}

void redis_cluster::end_move(unsigned slot, redis_server& from, redis_server& to) {
    auto const number = std::to_string(slot);
    for (;;) {
        std::istringstream keys{from.ask({"CLUSTER", "GETKEYSINSLOT", number, "100"})};
        std::vector<std::string> move{"MIGRATE", "127.0.0.1", std::to_string(to.port()), "", "0",
                                      "5000",    "KEYS"};
        auto const bare = move.size();
        for (std::string key; std::getline(keys, key);)
            if (!key.empty()) move.push_back(key);
        if (move.size() == bare) break;
        auto const said = from.ask(move);
        if (said != "OK" && said != "NOKEY") throw std::runtime_error{"MIGRATE: " + said};
    }
    auto const id = id_of(to);
    require_ok(to.ask({"CLUSTER", "SETSLOT", number, "NODE", id}));
    require_ok(from.ask({"CLUSTER", "SETSLOT", number, "NODE", id}));
    // The others would learn it, unless the former owner has a higher epoch by then: it would have the slot back.
    for (auto* const each : masters())
        if (each != &to && each != &from)
            require_ok(each->ask({"CLUSTER", "SETSLOT", number, "NODE", id}));
}

void redis_cluster::give_up_move(unsigned slot, redis_server& from, redis_server& to) {
    for (auto* const each : {&to, &from})
        require_ok(each->ask({"CLUSTER", "SETSLOT", std::to_string(slot), "STABLE"}));
}

void redis_cluster::move_slot(unsigned slot, redis_server& from, redis_server& to) {
    begin_move(slot, from, to);
    end_move(slot, from, to);
}

}  // namespace holdfast::support
