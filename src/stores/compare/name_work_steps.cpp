// The part of the work on names that writes: steps and what becomes of them.
#include <algorithm>
#include <utility>

#include "stores/compare/name_work.hpp"

namespace holdfast::stores::compare {

void name_work::commit(group all, verdict&& decided) {
    auto const& op = all.front();
    if (++op->tries > most_tries) return fail(op, too_many_others());
    auto next = std::move(*decided.next);
    next.self = op->session.id;
    next.of = op->session.current;
    // So many more would not fit into every store's step: they are asked for when it failed.
    if (op->asked.sessions.size() > most_sessions) op->asked.sessions.clear();
    next.otherwise = op->asked;
    for (auto const& each : all) {
        ask_for(next.otherwise.claims, each->asked.claims);
        auto const* const wanted = each->what ? std::get_if<seam::submit>(&*each->what) : nullptr;
        if (wanted == nullptr) continue;
        next.not_after = std::min(next.not_after.value_or(wanted->not_after), wanted->not_after);
        bool const joins = wanted->queue && !each->appended && is_absent(*each);
        // From here on it may be in the store, whatever becomes of the answer. What a letter has told of it counts.
        auto const id = wanted->subject.id;
        auto const* const before = client_.claims.find(id);
        if (before == nullptr || before->session != op->session.id)
            client_.claims.add(id,
                               {.key = op->key, .session = op->session.id, .secret = each->secret});
        if (joins) next.append_otherwise.push_back(waiter_of(*wanted, context_of(*each)));
        // Who wants permits may pass those who wait, whom it has to see.
        if (joins && wanted->subject.spec->mode != claim_mode::permits &&
            next.otherwise.line != name_query::whole_line)
            next.otherwise.line = std::min(next.otherwise.line, client_.traits.seen_by_joiners);
    }
    if (op->moves)
        if (auto* const claim = client_.claims.find(subject_of(*op->what)->id)) {
            claim->moving_to = op->session.id;
            claim->stretch = 0;  // until it is known
        }
    op->looked_for = next.otherwise.claims;
    op->seen_as_of = ++order_;
    for (auto const& each : all)
        each->stretch = client_.stretch;
    auto const kept = std::make_shared<verdict>(std::move(decided));
    auto const which = client_.calls.add(
        [this, all, kept](outcome&& what) { on_outcome(all, *kept, std::move(what)); });
    client_.to.commit(which, std::move(next));
}

void name_work::on_outcome(group const& all, verdict& decided, outcome&& what) {
    if (auto const* const done = std::get_if<committed>(&what)) {
        noted_as_of_ = all.front()->seen_as_of;
        return on_committed(all, decided, *done);
    }
    auto const op = all.front();
    names_[op->key].known.reset();
    if (auto* const other = std::get_if<missed>(&what)) {
        for (auto const& each : all) {
            auto const* const wanted =
                each->what ? std::get_if<seam::submit>(&*each->what) : nullptr;
            each->appended = wanted != nullptr && wanted->queue;
        }
        op->seen = std::move(other->found);
        observe(*op->seen, op->stretch);
        return decide(op);
    }
    if (auto const* const no = std::get_if<fenced>(&what)) return on_fenced(all, *no);
    if (std::holds_alternative<unknown>(what))
        client_.sessions.suspect(op->session.id, op->session.current);
    for (auto const& each : all)
        each->started = true;
    for (auto const& each : all)
        fail(each, error_of(what));
}

void name_work::on_committed(group const& all, verdict& decided, committed const& what) {
    auto const op = all.front();
    auto after = std::move(decided.after);
    if (decided.head_written && !after.body.empty()) after.written = what.written;
    for (auto& notice : decided.own) {
        resolve(notice.what, what.written);
        news_.on_committed(all, std::move(notice));
    }
    auto& name = names_[op->key];
    bool const moves_on = decided.full || what.behind.has_value();
    name.known = what.behind ? *what.behind : std::move(after);
    name.known_as_of = op->seen_as_of;
    bool told = false;
    for (auto const& each : all) {
        told = told || context_of(*each).tells_first;
        each->started = true;
        each->seen.reset();
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        resolve(decided.bodies[i], what.written);
        finish(all[i], std::move(decided.bodies[i]));
    }
    if (moves_on) touch(op->key, told, what.behind.has_value());
}

// The session is dead, or has another generation: one of our own that was raised meanwhile, or so late that its answer
// was given up. Only raising it tells which; then it is judged again.
void name_work::on_fenced(group const& all, fenced what) {
    auto const op = all.front();
    if (what.too_late && all.size() > 1) {  // one of them
        for (auto const& each : all)
            each->alone = true;
        return decide(op);
    }
    if (what.too_late && op->appended) return give_up(op);
    if (what.too_late) return finish(op, seam::refused{.why = seam::refusal::too_late});
    client_.sessions.suspect(op->session.id, op->session.current);
    for (auto const& each : all)
        each->seen.reset();
    if (++op->tries > most_tries) return fail(op, too_many_others());
    start(op);
}

}  // namespace holdfast::stores::compare
