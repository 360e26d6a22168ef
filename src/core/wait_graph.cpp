#include "core/wait_graph.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/text.hpp"

namespace holdfast {
inline namespace v1 {

namespace {

// One owner waits, by one claim on one name, for another owner.
struct edge {
    deadlock_step step;
    std::string_view to;
};

using graph = std::multimap<std::string_view, edge>;

// What no thread and nobody by name has is listed as the client's, with a zero in the place of the thread. Owners by name
// may end so, too.
bool has_owner(claim_info const& claim) {
    auto const& owner = claim.owner;
    return !owner.ends_with("/0") || owner.size() != base::hex_digits + 2 ||
           !base::parse_hex(std::string_view{owner}.substr(0, base::hex_digits));
}

// The text that edges point to belongs to `names`.
graph make_graph(std::vector<lock_info> const& names) {
    graph out;
    for (auto const& name : names) {
        if (name.kind != lock_kind::lock && name.kind != lock_kind::election) continue;
        claim_info const* before = nullptr;
        for (auto const& waiter : name.waiters) {
            auto const wait_for = [&](claim_info const& other) {
                if (has_owner(waiter) && has_owner(other) && waiter.owner != other.owner)
                    out.emplace(waiter.owner, edge{{name.name, waiter}, other.owner});
            };
            for (auto const& holder : name.holders)
                if (!holder.kept) wait_for(holder);  // what is kept ends by itself
            if (before != nullptr) wait_for(*before);
            before = &waiter;
        }
    }
    return out;
}

// Depth first from `at` back to `home`; `path` holds the steps on the way.
bool leads_home(graph const& all, std::string_view at, std::string_view home,
                std::set<std::string_view>& seen, std::vector<deadlock_step>& path) {
    if (at == home) return true;
    if (!seen.insert(at).second) return false;
    auto const [from, to] = all.equal_range(at);
    for (auto edge = from; edge != to; ++edge) {
        path.push_back(edge->second.step);
        if (leads_home(all, edge->second.to, home, seen, path)) return true;
        path.pop_back();
    }
    return false;
}

std::vector<deadlock_step> cycle_from(graph const& all, std::string_view owner, edge const& first) {
    std::set<std::string_view> seen;
    std::vector<deadlock_step> path{first.step};
    if (!leads_home(all, first.to, owner, seen, path)) path.clear();
    return path;
}

}  // namespace

std::vector<std::vector<deadlock_step>> find_deadlocks(std::vector<lock_info> const& names) {
    auto const all = make_graph(names);
    std::vector<std::vector<deadlock_step>> out;
    std::set<std::set<std::string>> known;
    for (auto const& [owner, first] : all) {
        auto cycle = cycle_from(all, owner, first);
        std::set<std::string> members;
        for (auto const& step : cycle)
            members.insert(step.waiter.id);
        // The same cycle is found from each of its members.
        if (cycle.empty() || !known.insert(std::move(members)).second) continue;
        out.push_back(std::move(cycle));
    }
    return out;
}

}  // namespace v1

namespace core {

std::vector<deadlock_step> find_cycle(std::vector<lock_info> const& names, std::string_view id) {
    auto const all = make_graph(names);
    for (auto const& [owner, first] : all) {
        if (first.step.waiter.id != id) continue;
        auto cycle = cycle_from(all, owner, first);
        if (!cycle.empty()) return cycle;
    }
    return {};
}

bool is_youngest(std::vector<deadlock_step> const& cycle, std::string_view id) {
    if (cycle.empty()) return false;
    auto const age = [](deadlock_step const& step) {
        return std::pair{step.waiter.arrival, step.waiter.id};
    };
    return std::ranges::max_element(cycle, {}, age)->waiter.id == id;
}

}  // namespace core
}  // namespace holdfast
