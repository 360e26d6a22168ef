// Steps: several operations that ZooKeeper carries out together, or not at all.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "stores/zookeeper/committing.hpp"
#include "stores/zookeeper/times.hpp"

namespace holdfast::stores::zookeeper {

namespace {

bool contains(std::vector<compare::line_item> const& all, seam::claim_id id) {
    return std::ranges::find(all, id, &compare::line_item::id) != all.end();
}

std::string data_of(compare::head_write const& head) {
    std::string out;
    for (auto const id : head.sessions)
        out += base::hex(static_cast<std::uint64_t>(id));
    return out + "\n" + head.body;
}

}  // namespace

void driver::commit(compare::ticket which, compare::step what) {
    base::lock_guard const guard{mutex_};
    auto const state = std::make_shared<committing>();
    state->which = which;
    state->path = paths_.name(what.key);
    state->what = std::move(what);
    state->what.otherwise.key = state->what.key;
    begin(state);
    settle();
}

// A name's node is compared by its version and by the node below it that tells it from one that was there before:
// versions begin anew with each node.
void driver::begin(std::shared_ptr<committing> const& state) {
    auto const& what = state->what;
    auto const own = own_.find(what.self);
    if (own == own_.end() || !own->second->open || own->second->current != what.of)
        return tell(state->which, compare::fenced{});
    auto const known = known_.find(what.key);
    bool const there = known != known_.end();
    if (there && known->second.written == what.expected) {
        state->node = known->second;
        state->by = committing::way::change;
        // A node that is to go has nobody below it: that need not be compared.
        bool const unseen = what.nobody_behind && !state->empties() &&
                            (!state->node.counted || state->node.last_place > *what.nobody_behind);
        if (unseen) return state->looked ? do_second(state, false) : look_again(state);
    } else if (what.expected == compare::stamp{} && what.present.empty() && what.leave.empty() &&
               !(there && state->looked)) {
        state->by = committing::way::make;
    } else if (!state->looked) {
        return look_again(state);
    } else {
        return do_second(state, false);
    }
    try_first(state);
}

// The guard is looked at as well: without it the step has no second branch.
void driver::look_again(std::shared_ptr<committing> const& state) {
    state->looked = true;
    auto const own = own_.find(state->what.self);
    if (own == own_.end()) return tell(state->which, compare::fenced{});
    together({{.what = operation::kind::check,
               .path = paths_.session(state->what.self),
               .version = own->second->version}},
             [this, state](answer const& from) {
                 if (from.failed != answer::nowhere) return tell(state->which, compare::fenced{});
                 if (from.code != ZOK) {
                     auto trouble = judge(from);
                     trouble.certain = true;  // nothing of the step was sent
                     return tell(state->which, trouble);
                 }
                 look({.key = state->what.key, .line = 0}, [this, state](looked& seen) {
                     seen.trouble.certain = true;
                     seen.trouble ? tell(state->which, seen.trouble) : begin(state);
                 });
             });
}

void driver::add_conditions(committing& state) {
    auto const& what = state.what;
    using kind = operation::kind;
    state.add({.what = kind::check,
               .path = paths_.session(what.self),
               .version = own_.at(what.self)->version});
    if (state.by == committing::way::make) {
        state.node = {.life = std::string{life_prefix} + base::hex(chance_.next())};
        state.add({.what = kind::create, .path = state.path});
        state.add({.what = kind::create, .path = state.below(state.node.life)});
    } else if (state.by == committing::way::change) {
        state.add({.what = kind::check, .path = state.below(state.node.life)});
    }
    // Who joins the line gets the number of nodes that were made before: if we get it, nobody has joined since.
    if (state.by == committing::way::change && what.nobody_behind) {
        state.add({.what = kind::create,
                   .path = state.below("count-"),
                   .mode = ZOO_PERSISTENT_SEQUENTIAL});
        auto const counted = state.below(paths::numbered("count-", state.node.created++));
        state.count = state.operations.size();
        state.add({.what = kind::check, .path = counted});
        state.add({.what = kind::remove, .path = counted});
    }
    for (auto const& each : what.present)
        if (!contains(what.leave, each.id))
            state.add({.what = kind::check, .path = state.below(paths::claim_at_its_place(each))});
    for (auto const& each : what.leave)
        state.add({.what = kind::remove, .path = state.below(paths::claim_at_its_place(each))});
}

// Some operation must be one that tells its number: a `set`, of the head or else of our own box.
void driver::add_writes(committing& state) {
    auto const& what = state.what;
    using kind = operation::kind;
    bool const makes = state.by == committing::way::make;
    bool const writes = what.head && (!what.head->erase || !makes);
    for (auto const& each : what.append) {
        state.add({.what = kind::create,
                   .path = state.below(paths::claim(each)),
                   .data = each.body,
                   .mode = ZOO_EPHEMERAL_SEQUENTIAL});
        appended_.insert(each.id);
    }
    std::string about;
    if (state.by == committing::way::remove) {
        state.add({.what = kind::remove, .path = state.below(state.node.life)});
        state.removal = state.operations.size();
        state.add({.what = kind::remove, .path = state.path, .version = state.node.version});
    } else if (writes) {
        state.add({.what = kind::set,
                   .path = state.path,
                   .data = what.head->erase ? "" : data_of(*what.head),
                   .version = state.node.version});
        about = std::to_string(state.node.version + 1) + " " + state.node.life + " " +
                (what.key.condition ? "c" : "n") + paths::escaped(what.key.name);
    } else if (!makes) {
        state.add({.what = kind::check, .path = state.path, .version = state.node.version});
    } else if (what.append.empty()) {  // it was made only to see that it was not there
        state.add({.what = kind::remove, .path = state.below(state.node.life)});
        state.add({.what = kind::remove, .path = state.path});
    }
    if (state.erases()) about.clear();
    state.letters_at = state.operations.size();
    for (auto const& each : what.letters)
        if (!state.deaf.contains(each.to))
            state.add({.what = kind::create,
                       .path = paths_.mail(each.to) + "/",
                       .data = about + "\n" + each.body,
                       .mode = ZOO_PERSISTENT_SEQUENTIAL});
    state.letters_end = state.operations.size();
    if (!writes || state.by == committing::way::remove)
        state.add({.what = kind::set, .path = paths_.mail(what.self)});
}

void driver::try_first(std::shared_ptr<committing> const& state) {
    ++state->tries;
    if (state->by == committing::way::change && state->empties())
        state->by = committing::way::remove;
    state->operations.clear();
    state->removal = state->count = answer::nowhere;
    add_conditions(*state);
    add_writes(*state);
    together(state->operations, [this, state](answer& from) { on_tried(state, from); });
}

void driver::on_tried(std::shared_ptr<committing> const& state, answer& from) {
    auto const& what = state->what;
    if (from.code == ZOK) return on_committed(state, from);
    if (from.failed == answer::nowhere) return tell(state->which, judge(from));
    bool const refused = from.code == ZNONODE || from.code == ZBADVERSION ||
                         from.code == ZNODEEXISTS || from.code == ZNOTEMPTY;
    if (!refused) return tell(state->which, judge(from));
    if (from.failed == 0) return tell(state->which, compare::fenced{});
    if (from.failed >= state->letters_at && from.failed < state->letters_end) {
        auto left = from.failed - state->letters_at;
        for (auto const& each : what.letters)
            if (!state->deaf.contains(each.to) && left-- == 0) {
                state->deaf.insert(each.to);
                break;
            }
        return begin(state);
    }
    if (from.failed + 1 == state->operations.size() && from.failed >= state->letters_end) {
        end(what.self);  // without its box it hears nothing
        return tell(state->which, compare::fenced{});
    }
    on_refused(state, from);
}

void driver::on_refused(std::shared_ptr<committing> const& state, answer const& from) {
    auto const& what = state->what;
    if (from.failed == state->removal && from.code == ZNOTEMPTY && what.nobody_behind != 0U) {
        state->keep_node = true;
        return begin(state);
    }
    // Of a head that is known exactly it is clear that it is another one now. Whether there is one at all may have to be
    // looked at, and then it is tried once more.
    bool const exact = what.expected != compare::stamp{} && from.failed != state->count;
    bool const hopeless = exact || from.code == ZNOTEMPTY ||
                          state->tries >= committing::most_tries ||
                          (state->by == committing::way::make && !what.append_otherwise.empty());
    if (hopeless) return do_second(state, false);
    state->looked = false;
    look_again(state);
}

void driver::on_committed(std::shared_ptr<committing> const& state, answer const& from) {
    auto const& what = state->what;
    note_clock(from.stat);
    compare::committed out{.written = stamp_of(from.stat.mzxid)};
    for (std::size_t each = 0; each < from.names.size(); ++each)
        if (auto const child = paths::parse_claim(
                std::string_view{from.names[each]}.substr(from.names[each].rfind('/') + 1)))
            out.places.push_back(child->place);
    bool const makes = state->by == committing::way::make;
    bool const writes = what.head && (!what.head->erase || !makes);
    auto& node = state->node;
    if (makes) {
        node.counted = true;
        node.created = 1;
    }
    node.created += what.append.size();
    for (auto const& each : what.leave)
        appended_.erase(each.id);
    if (!out.places.empty()) node.last_place = out.places.back();
    if (writes) {
        node.written = state->erases() ? compare::stamp{} : out.written;
        ++node.version;
    }
    if (state->by == committing::way::remove || (makes && !writes && what.append.empty()))
        known_.erase(what.key);
    else
        learn(what.key, node);
    tell(state->which, std::move(out));
}

}  // namespace holdfast::stores::zookeeper
