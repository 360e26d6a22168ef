// The guarded resource: no update is lost, and nobody who holds is refused.
#include <algorithm>
#include <map>

#include "histories/checks/all.hpp"

namespace holdfast::histories::checks {

namespace {

void no_lost_update(std::vector<event const*>& uses, findings& out) {
    std::sort(uses.begin(), uses.end(),
              [](event const* a, event const* b) { return a->serial < b->serial; });
    std::int64_t value = 0;
    std::uint64_t writer = 0;
    for (auto const* use : uses) {
        if (use->kind != kind::fenced_write) continue;
        if (use->second_number != value)
            out.push_back({"lost update",
                           std::string{use->name_view()} + " was written from " +
                               std::to_string(use->second_number) + " when it was " +
                               std::to_string(value),
                           std::string{use->name_view()}, use->before, writer, use->call});
        value = use->number;
        writer = use->call;
    }
}

/// A reader that still holds after its second look has seen the same twice.
void steady_for_readers(evidence const& from, std::map<std::uint64_t, hold const*> const& readers,
                        std::vector<event const*> const& uses, findings& out) {
    std::map<std::uint64_t, std::int64_t> seen;
    for (auto const* use : uses) {
        auto const reader = readers.find(use->call);
        if (use->kind != kind::fenced_read || use->mode != mode::shared || reader == readers.end())
            continue;
        auto const [first, is_new] = seen.emplace(use->call, use->number);
        if (is_new || first->second == use->number || reader->second->believed <= use->after ||
            forgot_between(from.lapses, reader->second->asked, use->after))
            continue;
        std::string const name{use->name_view()};
        out.push_back(
            {"fence", name + " changed while it was read", name, use->before, use->call, 0});
    }
}

}  // namespace

void registers(evidence const& from, findings& out) {
    std::map<std::string, std::vector<event const*>> names;
    std::map<std::pair<std::uint64_t, std::string>, hold const*> holds;
    for (auto const& one : from.holds)
        holds[{one.call, one.name}] = &one;
    for (auto const& one : from.all.events) {
        if (one.kind < kind::fenced_read || one.kind > kind::fence_refused) continue;
        std::string const name{one.name_view()};
        names[name].push_back(&one);
        if (one.kind != kind::fence_refused || !is_judged(name)) continue;
        auto const found = holds.find({one.call, name});
        // Whoever used it with a higher token was granted it, so the hold had ended. One that the store
        // forgot may believe for a while.
        if (found == holds.end() || found->second->believed <= one.after ||
            forgot_between(from.lapses, found->second->asked, one.after))
            continue;
        out.push_back({"fence", "a token was refused although its hold of " + name + " went on",
                       name, one.before, one.call, 0});
    }
    for (auto& [name, uses] : names) {
        no_lost_update(uses, out);
        std::map<std::uint64_t, hold const*> readers;
        for (auto const& one : from.holds)
            if (one.name == name && one.mode == mode::shared && is_judged(name))
                readers[one.call] = &one;
        steady_for_readers(from, readers, uses, out);
    }
}

}  // namespace holdfast::histories::checks
