// At most one leader is a matter of exclusion. What others are told of it: terms follow each other, and
// nobody leads who has resigned.
#include <algorithm>
#include <map>

#include "histories/checks/all.hpp"

namespace holdfast::histories::checks {

namespace {

/// What one observer hears goes forward only.
void in_order(evidence const& from, findings& out) {
    std::map<std::uint64_t, event const*> last;
    for (auto const& one : from.all.events) {
        if (one.kind != kind::heard || one.token == 0) continue;
        auto& former = last[one.call];
        if (former != nullptr && former->token > one.token &&
            !forgot_between(from.lapses, former->before, one.after))
            out.push_back({"leader", "an observer hears of a former leader after the next one",
                           std::string{one.name_view()}, one.before, one.call, 0});
        former = &one;
    }
}

}  // namespace

void leaders(evidence const& from, findings& out) {
    in_order(from, out);
    std::map<std::uint64_t, hold const*> terms;
    for (auto const& one : from.holds)
        if (one.name == election_name) terms[one.token] = &one;
    std::vector<event const*> seen;
    for (auto const& one : from.all.events)
        if (one.kind == kind::saw_leader && one.token != 0) seen.push_back(&one);

    std::multimap<instant, event const*> told;  // by the time at which it was known
    for (auto const* one : seen) {
        auto const name = std::string{one->name_view()};
        auto const term = terms.find(one->token);
        if (term != terms.end() && term->second->outcome == outcome::released &&
            term->second->released < one->before &&
            // A backup may bring back who had resigned since.
            !forgot_between(from.lapses, term->second->asked, one->after))
            out.push_back({"leader", "somebody is said to lead who has resigned", name, one->before,
                           term->second->call, 0});
        for (auto const& [when, former] : told) {
            if (when >= one->before) break;
            if (former->token > one->token &&
                !forgot_between(from.lapses, former->before, one->after))
                out.push_back(
                    {"leader", "a former leader is said to lead again", name, one->before, 0, 0});
        }
        told.emplace(one->after, one);
        // The highest of those before is enough to compare with.
        while (told.size() > 16)
            told.erase(told.begin());
    }
}

}  // namespace holdfast::histories::checks
