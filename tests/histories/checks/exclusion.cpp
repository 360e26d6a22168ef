// No two conflicting holds of a name at once, as their holders believed.
#include <algorithm>
#include <map>

#include "histories/checks/all.hpp"

namespace holdfast::histories::checks {

namespace {

bool conflict(hold const& a, hold const& b) {
    return a.call != b.call && (a.mode == mode::exclusive || b.mode == mode::exclusive);
}

void sweep(std::vector<hold const*>& of_name, findings& out) {
    std::sort(of_name.begin(), of_name.end(),
              [](hold const* a, hold const* b) { return a->from < b->from; });
    std::vector<hold const*> current;
    for (auto const* next : of_name) {
        std::erase_if(current, [&](hold const* one) { return one->until <= next->from; });
        for (auto const* one : current)
            if (conflict(*one, *next))
                out.push_back(
                    {"exclusion",
                     "two hold " + next->name + " at once: call " + std::to_string(one->call) +
                         " and call " + std::to_string(next->call) + ", for " +
                         std::to_string((std::min(one->until, next->until) - next->from) / 1000) +
                         " us",
                     next->name, next->from, one->call, next->call});
        current.push_back(next);
    }
}

}  // namespace

void exclusion(evidence const& from, findings& out) {
    std::map<std::string, std::vector<hold const*>> names;
    for (auto const& one : from.holds)
        if (one.mode != mode::permits && is_judged(one.name) && one.from < one.until)
            names[one.name].push_back(&one);
    for (auto& [name, of_name] : names)
        sweep(of_name, out);
}

}  // namespace holdfast::histories::checks
