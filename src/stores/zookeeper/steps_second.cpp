// The second branch of a step: claims join the line, and then the name is looked at.
#include <algorithm>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "stores/zookeeper/steps.hpp"

namespace holdfast::stores::zookeeper {

// Those who join may be told twice to do so; a claim that was sent before is looked for first.
void steps::do_second(attempt const& state, bool make_node) {
    auto const& joining = state->what.append_otherwise;
    if (joining.empty()) return look_and_tell(state);
    bool const doubtful = std::ranges::any_of(
        joining, [&](auto const& each) { return appended_.may_contain(each.id); });
    if (!doubtful) return join(state, make_node, {});
    common_.children(state->path, [this, state, make_node](answer const& from) {
        if (from.code != ZOK && from.code != ZNONODE)
            return with_.tell(state->which, with_.judged(from));
        join(state, make_node, from.names);
    });
}

void steps::join(attempt const& state, bool make_node, std::vector<std::string> const& nodes) {
    using kind = operation::kind;
    // By a session that has died it stands there for a dead one.
    std::set<std::pair<seam::claim_id, compare::session_id>> standing;
    for (auto const& node : nodes)
        if (auto const child = paths::parse_claim(node))
            standing.emplace(child->id, child->session);
    auto const* const own = sessions_.find(state->what.self);
    if (own == nullptr || own->current != state->what.of) return tell_fenced(state);
    std::vector<operation> all{
        {.what = kind::check, .path = with_.at.session(state->what.self), .version = own->version}};
    if (make_node) {
        auto const life = std::string{life_prefix} + base::hex(with_.chance.next());
        all.push_back({.what = kind::create, .path = state->path});
        all.push_back({.what = kind::create, .path = state->below(life)});
    }
    for (auto const& each : state->what.append_otherwise) {
        if (standing.contains({each.id, each.session})) continue;
        appended_.add(each.id);
        all.push_back({.what = kind::create,
                       .path = state->below(paths::claim(each)),
                       .data = each.body,
                       .mode = ZOO_EPHEMERAL_SEQUENTIAL});
    }
    common_.together(std::move(all), [this, state, make_node](answer const& from) {
        if (from.code == ZOK) return look_and_tell(state);
        if (step_attempt::lost_guard(from)) return tell_fenced(state);
        bool const other =
            from.failed != answer::nowhere && (from.code == ZNONODE || from.code == ZNODEEXISTS);
        if (!other || ++state->tries > 2 * step_attempt::most_tries)
            return with_.tell(state->which, with_.judged(from));
        do_second(state, !make_node);
    });
}

void steps::look_and_tell(attempt const& state) {
    looks_.look(
        state->what.otherwise,
        [this, state](auto& seen) {
            if (!seen.trouble)
                return with_.tell(state->which, compare::missed{std::move(seen.found)});
            if (!state->what.append_otherwise.empty()) seen.trouble.certain = false;  // they joined
            with_.tell(state->which, seen.trouble);
        },
        state->what.append_otherwise);
}

}  // namespace holdfast::stores::zookeeper
