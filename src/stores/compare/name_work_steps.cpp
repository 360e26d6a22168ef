// The part of the work on names that writes: steps and what becomes of them.
#include <algorithm>
#include <utility>

#include "stores/compare/name_work.hpp"

namespace holdfast::stores::compare {

void name_work::commit(group all, verdict&& decided) {
    auto const& op = all.front();
    if (++op->tries > most_tries) return try_again(op);
    auto next = std::move(*decided.next);
    next.self = op->session.id;
    next.of = op->session.current;
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
    }
    if (op->moves)
        if (auto* const claim = client_.claims.find(subject_of(*op->what)->id)) {
            claim->moving_to = op->session.id;
            claim->stretch = 0;  // until it is known
        }
    op->looked_for = next.otherwise.claims;
    op->seen_as_of = ++order_;
    auto const kept = std::make_shared<verdict>(std::move(decided));
    auto const which = client_.calls.add([this, all, kept](outcome&& what, reading when) {
        on_outcome(all, *kept, std::move(what), when);
    });
    client_.to.commit(which, std::move(next));
}

void name_work::on_outcome(group const& all, verdict& decided, outcome&& what, reading when) {
    if (auto const* const done = std::get_if<committed>(&what)) {
        client_.time.note(when);
        noted_as_of_ = all.front()->seen_as_of;
        return on_committed(all, decided, *done);
    }
    auto const op = all.front();
    names_[op->key].known.reset();
    if (auto* const other = std::get_if<missed>(&what)) {
        client_.time.note(when);
        for (auto const& each : all) {
            auto const* const wanted =
                each->what ? std::get_if<seam::submit>(&*each->what) : nullptr;
            each->appended = wanted != nullptr && wanted->queue;
        }
        op->seen = std::move(other->found);
        observe(*op->seen);
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
        resolve(notice, what.written);
        pass_on(all, std::move(notice));
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
    if (moves_on) touch(op->key, told);
}

// A step of an older generation is judged again under the present one; otherwise the session is dead, and with it
// all that lived in it.
void name_work::on_fenced(group const& all, fenced what) {
    auto const op = all.front();
    if (what.too_late && all.size() > 1) {  // one of them
        for (auto const& each : all)
            each->alone = true;
        return decide(op);
    }
    if (what.too_late && op->appended) return give_up(op);
    if (what.too_late) return finish(op, seam::refused{.why = seam::refusal::too_late});
    auto const* const session = client_.sessions.find(op->session.id);
    if (session != nullptr && session->current == op->session.current)
        client_.sessions.bury(op->session.id);
    for (auto const& each : all) {
        each->seen.reset();
        each->appended = false;
    }
    if (++op->tries > most_tries) return try_again(op);
    start(op);
}

}  // namespace holdfast::stores::compare
