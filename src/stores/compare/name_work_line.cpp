// The part of the work on names that is about one's own claims and their places in the line.
#include <algorithm>
#include <utility>

#include "stores/compare/name_work.hpp"

namespace holdfast::stores::compare {

void name_work::renew(operation op) {
    auto const known = names_.find(op->key);
    auto const& first = std::get<seam::renew>(*op->what).items.front();
    auto const* const claim = client_.claims.find(first.subject.id);
    auto const* const session = claim == nullptr ? nullptr : client_.sessions.find(claim->session);
    bool const busy = known != names_.end() && !known->second.queue.empty();
    if (!busy || session == nullptr || client_.outgrows_session(first)) return begin(std::move(op));
    seam::reply_body body = seam::failure{};
    try {
        op->session = *session;
        auto const judged = judge(*op->seen, &*op->what, op->looked_for, context_of(*op));
        auto const* const decided = std::get_if<verdict>(&judged);
        if (decided != nullptr) body = decided->bodies.front();
        if (decided != nullptr && decided->next) touch(op->key);
    } catch (std::system_error const&) {
        // As if it had not been looked at.
    }
    if (auto* const renewed = std::get_if<seam::renewed>(&body)) {
        using enum seam::renewal::status;
        for (auto& item : renewed->items) {
            if (item.found == gone) item.found = unknown;
            // It can be let in, which nobody has written yet.
            if (item.found == alive && is_symbolic(item.held.number)) item.found = waiting;
        }
        if (news_.on_renewed(*op, body)) wait_in_line(*op);
    }
    op->done(std::move(body));
}

// Whether the claim of a submit is certainly not in the store: only then may it join the line unseen. One that holds
// there already would stand in the line beside that, and be let in once more after its end.
bool name_work::is_absent(name_operation const& op) {
    auto const id = subject_of(*op.what)->id;
    if (client_.claims.find(id) == nullptr) return true;
    if (!op.seen) return false;
    auto const head = head_of(*op.seen, client_.time.judging_time());
    bool const held = head && std::ranges::any_of(head->holders, [&](claim_record const& each) {
                          return each.subject.id == id;
                      });
    auto const stands = [&](std::vector<line_item> const& part) {
        return std::ranges::find(part, id, &line_item::id) != part.end();
    };
    return !held && !stands(op.seen->line) && !stands(op.seen->others);
}

// Who is first in the line sees to it that the line moves when somebody before it dies.
void name_work::wait_in_line(name_operation const& op) {
    auto& name = names_[op.key];
    auto const& seen = op.seen ? op.seen : name.known;
    if (!seen) return;
    if (!seen->line.empty() && client_.claims.find(seen->line.front().id) == nullptr) return;
    auto const head = head_of(*seen, client_.time.judging_time());
    if (!head) return;
    for (auto const id : sessions_of(*head))
        if (client_.sessions.find(id) == nullptr && name.watched.insert(id).second)
            client_.to.watch_session(id);
}

// It stands in the line, and whoever waits need not wait for the letters to others. What is left is no request's any
// more: judged again, it is what time has brought.
void name_work::answer_early(operation const& op, seam::reply_body body) {
    if (news_.on_answer(*op, body)) wait_in_line(*op);
    std::exchange(op->done, [](seam::reply_body) {})(std::move(body));
    op->what.reset();
    op->appended = false;
}

// A claim that joined the line in time, and then came too late, may have been let in by somebody else meanwhile.
void name_work::give_up(operation const& op) {
    if (auto* const claim = client_.claims.find(subject_of(*op->what)->id)) {
        // A letter has told that it holds, and the engine knows.
        if (claim->held) return finish(op, seam::queued{});
        // An earlier copy of the submit is in the line, and was answered: only this one is too late.
        if (claim->waiting) return finish(op, seam::refused{.why = seam::refusal::too_late});
        claim->given_up = true;
    }
    op->refusal = seam::refused{.why = seam::refusal::too_late};
    op->what = seam::settle{.subject = *subject_of(*op->what)};
    op->appended = false;
    op->seen.reset();
    names_[op->key].known.reset();
    start(op);
}

// A claim that joined the line unseen, and then was refused, leaves it again. One that came too late may have been let
// in meanwhile: then it is not in the line any more, and ends as one that holds.
void name_work::withdraw(operation const& op, seam::reply_body refusal) {
    auto const id = subject_of(*op->what)->id;
    auto const* const claim = client_.claims.find(id);
    bool const late = std::get<seam::refused>(refusal).why == seam::refusal::too_late;
    if (late && claim != nullptr && claim->held) return give_up(op);
    auto const* mine = static_cast<line_item const*>(nullptr);
    for (auto const* const part : {&op->seen->line, &op->seen->others})
        for (auto const& item : *part)
            if (item.id == id) mine = &item;
    if (mine == nullptr) return late ? give_up(op) : finish(op, std::move(refusal));
    step leaving{.key = op->key, .self = op->session.id, .of = op->session.current};
    leaving.expected = op->seen->written;
    leaving.present = leaving.leave = {*mine};
    leaving.otherwise = op->asked;
    auto const which = client_.calls.add([this, op, refusal](outcome&& what) {
        if (std::holds_alternative<committed>(what)) {
            op->seen.reset();
            return finish(op, refusal);
        }
        if (auto* const other = std::get_if<missed>(&what)) {
            if (++op->tries > most_tries) return fail(op, too_many_others());
            op->seen = std::move(other->found);
            return withdraw(op, refusal);
        }
        bool const no = std::holds_alternative<fenced>(what);
        if (no || std::holds_alternative<unknown>(what))
            client_.sessions.suspect(op->session.id, op->session.current);
        if (!no) return fail(op, error_of(what));
        if (++op->tries > most_tries) return fail(op, too_many_others());
        op->seen.reset();
        start(op);
    });
    client_.to.commit(which, std::move(leaving));
}

// Whoever does not wait any more need not know who dies.
void name_work::stop_watching(name_key const& key, name_state& name) {
    bool const waits = std::ranges::any_of(client_.claims.all(), [&](auto const& each) {
        return each.second.waiting && each.second.key == key;
    });
    if (waits) return;
    for (auto const id : std::exchange(name.watched, {})) {
        bool const elsewhere = std::ranges::any_of(
            names_, [&](auto const& each) { return each.second.watched.contains(id); });
        if (!elsewhere) client_.to.unwatch_session(id);
    }
}

void name_work::on_session_end(session_id which) {
    std::vector<name_key> moved;
    for (auto& [key, name] : names_)
        if (name.watched.erase(which) > 0) moved.push_back(key);
    for (auto const& key : moved) {
        names_[key].known.reset();
        touch(key);
    }
}

std::set<name_key> name_work::waited_for() const {
    std::set<name_key> out;
    for (auto const& [id, claim] : client_.claims.all())
        if (claim.waiting) out.insert(claim.key);
    return out;
}

}  // namespace holdfast::stores::compare
