// Tokens rise between conflicting grants: whoever asked after another had been granted has a higher one.
#include <algorithm>
#include <map>

#include "histories/checks/all.hpp"

namespace holdfast::histories::checks {

namespace {

struct highest {
    hold const* exclusive{nullptr};
    hold const* shared{nullptr};

    void take(hold const& one) {
        auto& mine = one.mode == mode::shared ? shared : exclusive;
        if (mine == nullptr || one.token > mine->token) mine = &one;
    }
    void compare(hold const& next, hold const* former, findings& out) const {
        if (former == nullptr || former->call == next.call || next.token > former->token) return;
        out.push_back({"token",
                       "the token of call " + std::to_string(next.call) + " for " + next.name +
                           " does not exceed that of call " + std::to_string(former->call) +
                           ", which was granted before it asked",
                       next.name, next.granted, former->call, next.call});
    }
    void judge(hold const& next, findings& out) const {
        compare(next, exclusive, out);
        if (next.mode == mode::exclusive) compare(next, shared, out);
    }
};

/// Since when a token is due. One that was passed on within a process is that of the grant which was passed on: where the
/// store has forgotten that one, whoever was granted since has a higher token, until the process is told.
class due_times {
public:
    due_times(std::vector<hold const*> const& granted, std::vector<event> const& lapses)
        : lapses_{lapses} {
        for (auto const* one : granted) {
            auto const [where, is_first] = first_.emplace(one->token >> pass_bits, one->asked);
            if (!is_first) where->second = std::min(where->second, one->asked);
        }
    }
    [[nodiscard]] instant of(hold const& one) const {
        bool const passed_on = (one.token & ((1U << pass_bits) - 1)) != 0;
        auto const since = first_.at(one.token >> pass_bits);
        return passed_on && forgot_between(lapses_, since, one.granted) ? since : one.asked;
    }

private:
    static constexpr unsigned pass_bits = 8;
    std::vector<event> const& lapses_;
    std::map<std::uint64_t, instant> first_;  ///< by the store's sequence
};

/// `granted` is in the order of the grants.
void sweep(std::vector<hold const*> const& granted, std::vector<event> const& lapses,
           findings& out) {
    due_times const due{granted, lapses};
    auto asked = granted;
    std::sort(asked.begin(), asked.end(),
              [&](hold const* a, hold const* b) { return due.of(*a) < due.of(*b); });
    highest former;
    auto next = granted.begin();
    for (auto const* one : asked) {
        for (; next != granted.end() && (*next)->granted < due.of(*one); ++next)
            former.take(**next);
        former.judge(*one, out);
    }
    std::map<std::uint64_t, hold const*> seen;
    for (auto const* one : granted) {
        if (one->mode == mode::shared) continue;
        auto const [where, is_new] = seen.emplace(one->token, one);
        if (!is_new)
            out.push_back({"token", "two exclusive grants of " + one->name + " have one token",
                           one->name, one->granted, where->second->call, one->call});
    }
}

}  // namespace

void tokens(evidence const& from, findings& out) {
    std::map<std::string, std::vector<hold const*>> names;
    for (auto const& one : from.holds) {
        bool const second_half = one.weakened != 0 && one.mode == mode::shared;
        if (one.mode != mode::permits && !second_half) names[one.name].push_back(&one);
    }
    for (auto const& [name, granted] : names)
        sweep(granted, from.lapses, out);
}

}  // namespace holdfast::histories::checks
