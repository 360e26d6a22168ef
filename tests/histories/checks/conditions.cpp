// No notice is lost for ever: nobody goes on waiting for a thing that is there.
#include <algorithm>
#include <map>

#include "histories/checks/all.hpp"

namespace holdfast::histories::checks {

namespace {

struct span {
    instant from{0};
    instant until{0};
};

/// When there was surely something to take.
std::vector<span> full(history const& all) {
    std::vector<event const*> writes;
    for (auto const& one : all.events)
        if (one.kind == kind::fenced_write && one.name_view() == condition_name)
            writes.push_back(&one);
    std::sort(writes.begin(), writes.end(),
              [](event const* a, event const* b) { return a->serial < b->serial; });
    std::vector<span> out;
    for (std::size_t i = 0; i < writes.size(); ++i) {
        bool const last = i + 1 == writes.size();
        if (writes[i]->number > 0)
            out.push_back(
                {writes[i]->after, last ? all.events.back().before : writes[i + 1]->before});
    }
    return out;
}

/// When no fault was active.
std::vector<span> calm(history const& all) {
    std::vector<span> out;
    instant from = 0;
    for (auto const& one : all.events) {
        if (one.kind == kind::healed) from = one.after;
        bool const ends = one.kind == kind::fault_began || one.kind == kind::finishing;
        if (ends && from != 0) out.push_back({from, one.before});
        if (ends) from = 0;
    }
    return out;
}

span both(span a, span b) { return {std::max(a.from, b.from), std::min(a.until, b.until)}; }

}  // namespace

void conditions(evidence const& from, findings& out) {
    std::map<std::uint64_t, span> waits;
    for (auto const& one : from.all.events) {
        if (one.kind == kind::waiting) waits[one.call].from = one.before;
        if (one.kind == kind::woke) waits[one.call].until = one.after;
    }
    auto const there = full(from.all);
    auto const quiet = calm(from.all);
    for (auto const& [call, wait] : waits)
        for (auto const& window : quiet)
            for (auto const& thing : there) {
                auto const idle = both(both(wait, window), thing);
                if (idle.until - idle.from <= from.all.plan.notice_bound) continue;
                out.push_back({"notice",
                               "call " + std::to_string(call) + " waited for " +
                                   std::to_string((idle.until - idle.from) / millisecond) +
                                   " ms for a thing that was there",
                               std::string{condition_name}, idle.from, call, 0});
            }
}

}  // namespace holdfast::histories::checks
