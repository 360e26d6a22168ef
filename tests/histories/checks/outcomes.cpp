// What the product says of one hold agrees with itself.
#include "histories/checks/all.hpp"

namespace holdfast::histories::checks {

namespace {

violation about(char const* promise, std::string const& text, hold const& one, instant at) {
    return {promise, text + ", call " + std::to_string(one.call), one.name, at, one.call, 0};
}

void judge(hold const& one, std::vector<event> const& lapses, std::vector<event> const& early_ends,
           findings& out) {
    if (!is_judged(one.name) || forgot_between(lapses, one.asked, one.granted)) return;
    bool const lost_in_time =
        one.outcome == outcome::already_lost && one.released < one.releasing + one.left;
    if (lost_in_time && !forgot_between(early_ends, one.asked, one.released))
        out.push_back(about("outcome",
                            "a release says already-lost before the time that remaining() gave",
                            one, one.releasing));
    bool const told_early = one.disbelieved != 0 && one.disbelieved < one.promised;
    if (told_early && !forgot_between(early_ends, one.asked, one.disbelieved))
        out.push_back(about("lease", "a hold was lost before the time that remaining() gave", one,
                            one.disbelieved));
    if (one.outcome == outcome::released && one.disbelieved != 0 && one.disbelieved < one.releasing)
        out.push_back(about("outcome", "a release says released after held() had said false", one,
                            one.releasing));
}

}  // namespace

void outcomes(evidence const& from, findings& out) {
    auto const early_ends = early_ends_of(from.all);
    for (auto const& one : from.holds)
        if (one.weakened == 0 || one.mode == mode::shared) judge(one, from.lapses, early_ends, out);
    for (auto const& one : from.all.events)
        if (one.kind == kind::contradiction)
            out.push_back({"outcome", std::string{one.note_view()}, std::string{one.name_view()},
                           one.before, one.call, 0});
}

}  // namespace holdfast::histories::checks
