#include "stores/zookeeper/steps.hpp"

#include <utility>

#include "base/text.hpp"

namespace holdfast::stores::zookeeper {

void steps::commit(compare::ticket which, compare::step what) {
    auto const state = std::make_shared<step_attempt>();
    state->which = which;
    state->path = with_.at.name(what.key);
    state->what = std::move(what);
    state->what.otherwise.key = state->what.key;
    begin(state);
}

void steps::begin(attempt const& state) {
    auto const& what = state->what;
    auto const* const own = sessions_.find(what.self);
    if (own == nullptr || own->current != what.of) return tell_fenced(state);
    auto const* const known = known_.find(what.key);
    // Somebody had it a moment ago: that it is free is only hoped, and would be one more write.
    bool const hopes = what.expected == compare::stamp{} && !what.append_otherwise.empty();
    if (hopes && !state->looked && known_.was_taken_lately(what.key))
        return do_second(state, false);
    if (known != nullptr && known->written == what.expected) {
        state->node = *known;
        state->by = step_attempt::way::change;
        // A node that is to go has nobody below it: that need not be compared.
        bool const unseen = what.nobody_behind && !state->empties() &&
                            (!state->node.counted || state->node.last_place > *what.nobody_behind);
        if (unseen) return state->looked ? do_second(state, false) : look_again(state);
    } else if (what.expected == compare::stamp{} && what.present.empty() && what.leave.empty() &&
               !(known != nullptr && state->looked)) {
        state->by = step_attempt::way::make;
    } else {
        return state->looked ? do_second(state, false) : look_again(state);
    }
    try_first(state);
}

// The guard is looked at as well: without it the step has no second branch.
void steps::look_again(attempt const& state) {
    state->looked = true;
    auto const* const own = sessions_.find(state->what.self);
    if (own == nullptr) return tell_fenced(state);
    common_.together({{.what = operation::kind::check,
                       .path = with_.at.session(state->what.self),
                       .version = own->version}},
                     [this, state](answer const& from) {
                         if (step_attempt::lost_guard(from)) return tell_fenced(state);
                         if (from.code != ZOK) {
                             auto trouble = with_.judged(from);
                             trouble.certain = true;  // nothing of the step was sent
                             return with_.tell(state->which, trouble);
                         }
                         looks_.look({.key = state->what.key, .line = 0},
                                     [this, state](auto& seen) {
                                         if (!seen.trouble) return begin(state);
                                         seen.trouble.certain = true;
                                         with_.tell(state->which, seen.trouble);
                                     });
                     });
}

void steps::try_first(attempt const& state) {
    ++state->tries;
    state->compose(with_.at, sessions_.find(state->what.self)->version,
                   std::string{life_prefix} + base::hex(with_.chance.next()));
    for (auto const& each : state->what.append)
        appended_.add(each.id);
    common_.together(state->operations,
                     [this, state](answer const& from) { on_tried(state, from); });
}

void steps::on_tried(attempt const& state, answer const& from) {
    if (from.code == ZOK) return on_committed(*state, from);
    bool const refused = from.code == ZNONODE || from.code == ZBADVERSION ||
                         from.code == ZNODEEXISTS || from.code == ZNOTEMPTY;
    if (from.failed == answer::nowhere || !refused)
        return with_.tell(state->which, with_.judged(from));
    if (step_attempt::lost_guard(from)) return tell_fenced(state);
    if (from.failed >= state->letters_at && from.failed < state->letters_end) {
        auto left = from.failed - state->letters_at;
        for (auto const& each : state->what.letters)
            if (!state->deaf.contains(each.to) && left-- == 0) {
                state->deaf.insert(each.to);
                break;
            }
        return begin(state);
    }
    if (from.failed + 1 == state->operations.size() && from.failed >= state->letters_end) {
        sessions_.end(state->what.self);  // without its box it hears nothing
        return tell_fenced(state);
    }
    on_refused(state, from);
}

void steps::on_refused(attempt const& state, answer const& from) {
    auto const& what = state->what;
    if (from.failed == state->removal && from.code == ZNOTEMPTY && what.nobody_behind != 0U) {
        state->keep_node = true;
        return begin(state);
    }
    // Of a head that is known exactly it is clear that it is another one now. Whether there is one at all may have to be
    // looked at, and then it is tried once more.
    bool const exact = what.expected != compare::stamp{} && from.failed != state->count;
    bool const hopeless = exact || from.code == ZNOTEMPTY ||
                          state->tries >= step_attempt::most_tries ||
                          (state->by == step_attempt::way::make && !what.append_otherwise.empty());
    if (hopeless) return do_second(state, false);
    state->looked = false;
    look_again(state);
}

void steps::on_committed(step_attempt& state, answer const& from) {
    auto const& what = state.what;
    with_.clock.note(from.stat);
    compare::committed out{.written = stamp_of(from.stat.mzxid)};
    for (auto const& each : from.names)
        if (auto const child =
                paths::parse_claim(std::string_view{each}.substr(each.rfind('/') + 1)))
            out.places.push_back(child->place);
    bool const makes = state.by == step_attempt::way::make;
    auto& node = state.node;
    if (makes) {
        node.counted = true;
        node.created = 1;
    }
    node.created += what.append.size();
    for (auto const& each : what.leave)
        appended_.erase(each.id);
    if (!out.places.empty()) node.last_place = out.places.back();
    if (state.writes()) {
        node.written = state.erases() ? compare::stamp{} : out.written;
        ++node.version;
    }
    if (state.by == step_attempt::way::remove || (makes && !state.writes() && what.append.empty()))
        known_.forget(what.key);
    else
        known_.learn(what.key, node);
    with_.tell(state.which, std::move(out));
}

}  // namespace holdfast::stores::zookeeper
