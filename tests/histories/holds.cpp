#include "histories/holds.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace holdfast::histories {

namespace {

using key = std::pair<std::uint64_t, std::string>;  // a call may be for several names

void take(hold& to, event const& one) {
    switch (one.kind) {
    case kind::asked: to.asked = one.before; break;
    case kind::granted:
        to.granted = to.from = one.after;
        to.token = one.token;
        to.permits = one.number;
        to.mode = one.mode;
        to.worker = one.worker;
        to.incarnation = one.incarnation;
        break;
    case kind::believed:
        to.believed = std::max(to.believed, one.before);
        to.promised = std::max(to.promised, one.before + one.number);
        break;
    case kind::disbelieved:
        if (to.disbelieved == 0) to.disbelieved = one.after;
        break;
    case kind::weakened:
        if (to.weakened == 0) to.weakened = one.before;
        break;
    case kind::releasing:
        to.releasing = one.before;
        to.left = one.number;
        break;
    case kind::released:
        to.outcome = one.outcome;
        to.released = one.after;
        break;
    default: break;
    }
}

/// Sets `until`.
void judge(hold& one, std::vector<event> const& lapses, instant death) {
    one.until = one.promised;
    // "It was held until now", says that answer.
    if (one.outcome == outcome::released) one.until = std::max(one.until, one.releasing);
    auto const end_at = [&](instant end) {
        if (end != 0) one.until = std::min(one.until, end);
    };
    end_at(one.releasing);
    end_at(one.disbelieved);
    end_at(death);
    for (auto const& lapse : lapses)
        if (one.asked <= lapse.after) end_at(lapse.before);
}

}  // namespace

std::vector<event> lapses_of(history const& all) {
    std::vector<event> out;
    for (auto const& one : all.events)
        if (one.kind == kind::forgot) out.push_back(one);
    return out;
}

std::vector<event> early_ends_of(history const& all) {
    auto out = lapses_of(all);
    for (auto const& one : all.events)
        if (one.kind == kind::ended_holds) out.push_back(one);
    return out;
}

bool forgot_between(std::vector<event> const& lapses, instant from, instant until) {
    return std::any_of(lapses.begin(), lapses.end(), [&](event const& lapse) {
        return lapse.before <= until && lapse.after >= from;
    });
}

std::vector<hold> holds_of(history const& all) {
    std::map<key, hold> calls;
    std::map<std::pair<int, int>, instant> deaths;
    for (auto const& one : all.events) {
        if (one.kind == kind::killed) deaths[{one.worker, one.incarnation}] = one.before;
        if (one.call == 0 || one.kind < kind::asked || one.kind > kind::released) continue;
        auto& call = calls[{one.call, std::string{one.name_view()}}];
        call.call = one.call;
        call.name = one.name_view();
        take(call, one);
    }
    auto const lapses = lapses_of(all);
    std::vector<hold> out;
    for (auto& [which, one] : calls) {
        if (one.granted == 0) continue;
        auto const death = deaths.find({one.worker, one.incarnation});
        judge(one, lapses, death == deaths.end() ? 0 : death->second);
        if (one.weakened != 0) {
            auto shared = one;
            shared.mode = mode::shared;
            shared.from = one.weakened;
            one.until = std::min(one.until, one.weakened);
            out.push_back(shared);
        }
        out.push_back(one);
    }
    std::sort(out.begin(), out.end(),
              [](hold const& a, hold const& b) { return a.granted < b.granted; });
    return out;
}

bool is_judged(std::string_view name) { return name != evicted_name; }

}  // namespace holdfast::histories
