// Never more permits out than the limit.
#include <map>

#include "histories/checks/all.hpp"

namespace holdfast::histories::checks {

void permits(evidence const& from, findings& out) {
    struct change {
        std::int64_t permits;
        hold const* by;
    };
    std::map<std::string, std::multimap<instant, change>> names;
    for (auto const& one : from.holds) {
        if (one.mode != mode::permits || one.from >= one.until) continue;
        auto& changes = names[one.name];
        // Those that end at a moment come before those that begin at it: touching is not overlapping.
        changes.emplace_hint(changes.lower_bound(one.until), one.until, change{-one.permits, &one});
        changes.emplace(one.from, change{one.permits, &one});
    }
    for (auto const& [name, changes] : names) {
        std::int64_t taken = 0;
        for (auto const& [at, step] : changes) {
            taken += step.permits;
            if (step.permits > 0 && taken > from.all.plan.limit)
                out.push_back({"limit",
                               std::to_string(taken) + " permits of " + name + " are out, of " +
                                   std::to_string(from.all.plan.limit),
                               name, at, step.by->call, 0});
        }
    }
}

}  // namespace holdfast::histories::checks
