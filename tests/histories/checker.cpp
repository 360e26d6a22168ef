#include "histories/checker.hpp"

#include <algorithm>

#include "histories/checks/all.hpp"

namespace holdfast::histories {

namespace {

constexpr std::size_t most_lines = 60;

/// Whether an event helps to understand what went wrong.
bool matters(event const& one, violation const& about) {
    bool const of_run = one.kind >= kind::fault_began;
    bool const of_call = one.call != 0 && (one.call == about.call || one.call == about.other_call);
    auto const last = std::max(one.before, one.after);
    bool const near = last > about.at - second / 4 && one.before < about.at + second / 4;
    if (of_call) return true;
    if (of_run) return last > about.at - 10 * second && one.before < about.at + second;
    if (about.party >= 0)
        return one.party == about.party && one.worker == about.worker &&
               last > about.at - 10 * second;
    return near && (about.name.empty() || one.name_view() == about.name);
}

}  // namespace

std::vector<violation> check(history const& all) {
    auto const holds = holds_of(all);
    auto const lapses = lapses_of(all);
    checks::evidence const evidence{all, holds, lapses};
    std::vector<violation> out;
    checks::exclusion(evidence, out);
    checks::permits(evidence, out);
    checks::tokens(evidence, out);
    checks::registers(evidence, out);
    checks::outcomes(evidence, out);
    checks::leaders(evidence, out);
    checks::latches(evidence, out);
    checks::barriers(evidence, out);
    checks::conditions(evidence, out);
    checks::progress(evidence, out);
    checks::remains(evidence, out);
    std::stable_sort(out.begin(), out.end(),
                     [](violation const& a, violation const& b) { return a.at < b.at; });
    return out;
}

std::string story(history const& all, violation const& about) {
    std::vector<event const*> lines;
    for (auto const& one : all.events)
        if (matters(one, about)) lines.push_back(&one);
    // The nearest ones, when there are too many.
    while (lines.size() > most_lines) {
        bool const first_is_farther =
            about.at - lines.front()->before > lines.back()->before - about.at;
        lines.erase(first_is_farther ? lines.begin() : lines.end() - 1);
    }
    auto out = about.promise + ": " + about.text + "\n";
    for (auto const* one : lines)
        out += "    " + describe(*one, all.origin()) + "\n";
    return out;
}

}  // namespace holdfast::histories
