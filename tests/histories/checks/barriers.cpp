// The parties of a generation go on together, all of them, and generations follow each other.
#include <algorithm>
#include <map>
#include <set>

#include "histories/checks/all.hpp"

namespace holdfast::histories::checks {

namespace {

struct generation {
    std::vector<event const*> tripped{};
    instant first_return{0};
    instant last_arrival{0};

    void take(event const& one) {
        first_return = tripped.empty() ? one.after : std::min(first_return, one.after);
        last_arrival = std::max(last_arrival, one.before);
        tripped.push_back(&one);
    }
};

using generations = std::map<std::pair<std::size_t, std::int64_t>, generation>;

/// Arrivals of which nobody can say to which generation they belong: their end is unknown, or the store
/// forgot them on their way.
std::vector<event const*> unresolved(history const& all, std::vector<event> const& lapses) {
    std::map<std::uint64_t, event const*> open;
    std::set<std::uint64_t> resolved;
    for (auto const& one : all.events) {
        if (one.kind == kind::arriving) open[one.call] = &one;
        bool const definite = one.kind == kind::broken && one.number == 1;
        if ((one.kind == kind::tripped || definite) &&
            !forgot_between(lapses, one.before, one.after))
            resolved.insert(one.call);
    }
    std::vector<event const*> out;
    for (auto const& [call, one] : open)
        if (!resolved.contains(call)) out.push_back(one);
    return out;
}

void judge(generation const& of, std::int64_t parties, std::int64_t lost, findings& out) {
    auto const& first = *of.tripped.front();
    auto const say = [&](std::string const& text) {
        out.push_back({"barrier", "generation " + std::to_string(first.number) + " " + text,
                       std::string{first.name_view()}, of.first_return, first.call, 0});
    };
    auto const count = static_cast<std::int64_t>(of.tripped.size());
    if (of.first_return < of.last_arrival) say("let one go before another had arrived");
    if (count > parties) say("has " + std::to_string(count) + " parties");
    if (count + lost < parties) say("tripped for " + std::to_string(count) + " parties only");
}

}  // namespace

void barriers(evidence const& from, findings& out) {
    generations all;
    for (auto const& one : from.all.events) {
        if (one.kind != kind::tripped || forgot_between(from.lapses, one.before, one.after))
            continue;
        auto const epoch = static_cast<std::size_t>(
            std::count_if(from.lapses.begin(), from.lapses.end(),
                          [&](event const& lapse) { return lapse.after < one.before; }));
        all[{epoch, one.number}].take(one);
    }
    auto const open = unresolved(from.all, from.lapses);
    std::size_t epoch = 0;
    event const* former = nullptr;
    for (auto const& [which, one] : all) {
        auto const lost = std::count_if(open.begin(), open.end(), [&](event const* arrival) {
            return arrival->before < one.first_return;
        });
        judge(one, one.tripped.front()->second_number, lost, out);
        auto const& first = *one.tripped.front();
        if (former != nullptr && which.first == epoch && one.first_return < former->before)
            out.push_back({"barrier", "generations do not follow each other",
                           std::string{first.name_view()}, first.before, first.call, former->call});
        former = &first;
        epoch = which.first;
    }
}

}  // namespace holdfast::histories::checks
