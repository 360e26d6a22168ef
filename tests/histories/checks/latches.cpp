// A latch opens when it was counted down, not before; then it stays open.
#include <algorithm>
#include <limits>
#include <map>

#include "histories/checks/all.hpp"

namespace holdfast::histories::checks {

namespace {

struct one_latch {
    std::vector<event const*> events{};
    std::int64_t count{0};

    /// What may have been counted down by the time `until`, and what surely was.
    [[nodiscard]] std::int64_t begun(instant until) const {
        return sum(kind::counting_down, until);
    }
    [[nodiscard]] std::int64_t done(instant until) const { return sum(kind::counted_down, until); }

private:
    [[nodiscard]] std::int64_t sum(kind of, instant until) const {
        std::int64_t out = 0;
        for (auto const* one : events)
            if (one->kind == of && (of == kind::counting_down ? one->before : one->after) < until)
                out += one->number;
        return out;
    }
};

void judge(std::string const& name, one_latch const& latch, findings& out) {
    auto first_open = std::numeric_limits<instant>::max();
    for (auto const* one : latch.events)
        if (one->kind == kind::saw_open) first_open = std::min(first_open, one->after);
    auto const say = [&](char const* text, event const& one) {
        out.push_back({"latch", name + " " + text, name, one.before, one.call, 0});
    };
    for (auto const* one : latch.events) {
        bool const closed =
            one->kind == kind::saw_closed || (one->kind == kind::saw_count && one->number > 0);
        bool const open =
            one->kind == kind::saw_open || (one->kind == kind::saw_count && one->number == 0);
        if (open && latch.begun(one->after) < latch.count)
            say("opened before it was counted down", *one);
        if (closed && one->before > first_open) say("was closed again", *one);
        if (closed && latch.done(one->before) >= latch.count)
            say("is closed after all counted down", *one);
        if (one->kind != kind::saw_count || one->number == 0) continue;
        if (one->number < latch.count - latch.begun(one->after))
            say("was counted down twice", *one);
        if (one->number > latch.count - latch.done(one->before)) say("lost what was counted", *one);
    }
}

}  // namespace

void latches(evidence const& from, findings& out) {
    std::map<std::string, one_latch> all;
    for (auto const& one : from.all.events) {
        if (one.kind < kind::counting_down || one.kind > kind::saw_count) continue;
        auto& latch = all[std::string{one.name_view()}];
        latch.events.push_back(&one);
        latch.count = one.second_number;
    }
    for (auto const& [name, latch] : all) {
        instant last = 0;
        for (auto const* one : latch.events)
            last = std::max({last, one->before, one->after});
        if (!forgot_between(from.lapses, latch.events.front()->before, last))
            judge(name, latch, out);
    }
}

}  // namespace holdfast::histories::checks
