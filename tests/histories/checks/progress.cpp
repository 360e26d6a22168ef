// After each fault every party of every worker gets on, within the bound.
#include <algorithm>
#include <map>
#include <utility>

#include "histories/checks/all.hpp"

namespace holdfast::histories::checks {

namespace {

using party = std::pair<int, int>;

bool is_progress(event const& one) {
    switch (one.kind) {
    case kind::granted:
    case kind::saw_open:
    case kind::tripped:
    case kind::woke:
    case kind::notified:
    case kind::evicted:
    case kind::saw_leader: return one.number >= 0;
    default: return false;
    }
}

}  // namespace

void progress(evidence const& from, findings& out) {
    std::map<party, std::vector<instant>> steps;
    for (auto const& one : from.all.events) {
        if (one.kind == kind::party_began) steps[{one.worker, one.party}];
        if (is_progress(one)) steps[{one.worker, one.party}].push_back(one.after);
    }
    for (auto& [who, times] : steps)
        std::sort(times.begin(), times.end());

    auto const& events = from.all.events;
    for (auto one = events.begin(); one != events.end(); ++one) {
        if (one->kind != kind::healed) continue;
        auto const next = std::find_if(one, events.end(), [](event const& other) {
            return other.kind == kind::fault_began || other.kind == kind::finishing;
        });
        if (next == events.end()) continue;  // the run was cut short, which is told elsewhere
        auto const bound = one->after + from.all.plan.progress_bound;
        for (auto const& [who, times] : steps) {
            auto const step = std::lower_bound(times.begin(), times.end(), one->after);
            if (step != times.end() && *step <= std::min(bound, next->before)) continue;
            out.push_back({"progress",
                           "party " + std::to_string(who.second) + " of worker " +
                               std::to_string(who.first) + " did not get on after a fault",
                           "", one->after, 0, 0, who.first, who.second});
        }
    }
}

}  // namespace holdfast::histories::checks
