// The part of the work on names that is about one's own claims and their places in the line.
#include <algorithm>
#include <utility>

#include "stores/compare/name_work.hpp"

namespace holdfast::stores::compare {

namespace {

// The head of a view, or nothing where there is none or it cannot be read.
std::optional<head_state> head_of(view const& seen, moment when) {
    if (seen.written == stamp{}) return std::nullopt;
    try {
        return read_head(seen.key, seen.body, seen.written, when);
    } catch (std::system_error const&) {
        return std::nullopt;
    }
}

}  // namespace

// What an answer says about a claim of ours.
void name_work::note_answer(name_operation const& op, seam::reply_body& body) {
    if (op.what && std::holds_alternative<seam::renew>(*op.what)) return note_renewed(op, body);
    auto const* const subject = op.what ? subject_of(*op.what) : nullptr;
    if (subject == nullptr) return;
    auto const id = subject->id;
    auto* const claim = client_.claims.find(id);
    if (std::holds_alternative<seam::submit>(*op.what)) {
        if (claim == nullptr || std::holds_alternative<seam::failure>(body)) return;
        if (std::holds_alternative<seam::refused>(body)) {
            if (!claim->held && !claim->waiting) client_.claims.erase(id);
            return;
        }
        if (auto* const granted = std::get_if<seam::granted>(&body))
            return client_.note_held(id, granted->held, op.stretch);
        if (claim->held) {
            // A letter was faster than the answer, which is of before.
            seam::grant held{.number = claim->number, .contended = claim->contended};
            client_.fill_in(id, held);
            body = seam::granted{held};
            return;
        }
        claim->waiting = true;
        return wait_in_line(op);
    }
    if (auto const* const how = std::get_if<seam::settle>(&*op.what);
        how != nullptr && std::holds_alternative<seam::settled>(body))
        return client_.claims.erase(id);
    if (auto* const converted = std::get_if<seam::converted>(&body))
        return client_.note_held(id, converted->held, op.stretch);
}

void name_work::note_renewed(name_operation const& op, seam::reply_body& body) {
    auto* const renewed = std::get_if<seam::renewed>(&body);
    if (renewed == nullptr) return;
    auto const& items = std::get<seam::renew>(*op.what).items;
    bool waits = false;
    for (std::size_t i = 0; i < renewed->items.size(); ++i) {
        auto& item = renewed->items[i];
        auto const id = items[i].subject.id;
        auto* const claim = client_.claims.find(id);
        if (item.found == seam::renewal::status::gone) client_.claims.erase(id);
        if (claim == nullptr || item.found == seam::renewal::status::gone) continue;
        waits = waits || item.found != seam::renewal::status::alive;
        if (item.found != seam::renewal::status::alive) continue;
        if (op.moves) {
            claim->session = op.session.id;
            claim->moving_to = {};
        }
        client_.note_held(id, item.held, op.stretch);
    }
    if (waits) wait_in_line(op);
}

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
        note_renewed(*op, body);
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
    note_answer(*op, body);
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

// To this client itself, about what its own step has done.
void name_work::pass_on(group const& all, own_notice told) {
    auto& what = told.what;
    // Of a claim that is being submitted the answer tells; what ended is what a dead session had left of it.
    auto const submitted = [&](seam::claim_id id) {
        return std::ranges::any_of(all, [&](operation const& each) {
            auto const* const wanted =
                each->what ? std::get_if<seam::submit>(&*each->what) : nullptr;
            return wanted != nullptr && wanted->subject.id == id;
        });
    };
    auto const settled = [&](seam::claim_id id) {
        return std::ranges::any_of(all, [&](operation const& each) {
            auto const* const ended =
                each->what ? std::get_if<seam::settle>(&*each->what) : nullptr;
            return ended != nullptr && ended->subject.id == id;
        });
    };
    if (auto* const granted = std::get_if<seam::claim_granted>(&what)) {
        auto const* const claim = client_.claims.find(granted->id);
        // Let in and ended by the same step, or about to be ended: nobody wants to hear of it.
        if (claim == nullptr || claim->given_up || settled(granted->id)) return;
        if (!claim->lives_with(told.session)) return;
        client_.note_held(granted->id, granted->held, all.front()->stretch);
        if (submitted(granted->id)) return;
        granted->clock = client_.time.last().clock;
    }
    if (auto const* const gone = std::get_if<seam::claim_gone>(&what)) {
        if (submitted(gone->id)) return;
        // The claim may live with another session meanwhile; and of one that is not known here its end was told before.
        auto const* const claim = client_.claims.find(gone->id);
        if (claim == nullptr || !claim->lives_with(told.session)) return;
        client_.claims.erase(gone->id);
    }
    client_.tell(std::move(what));
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

void name_work::observe(view const& seen, std::uint64_t stretch) {
    auto const head = head_of(seen, client_.time.judging_time());
    if (!head) return;
    for (auto const& holder : head->holders) {
        auto const id = holder.subject.id;
        auto* const claim = client_.claims.find(id);
        if (claim == nullptr || !claim->waiting || claim->given_up || holder.kept) continue;
        // The same claim may have been in the head before, by a session that is dead: a look that is late still shows that.
        if (holder.secret != claim->secret || holder.session != claim->session) continue;
        seam::grant held{.number = holder.number, .contended = !seen.line.empty()};
        client_.note_held(id, held, stretch);
        client_.tell(seam::claim_granted{id, held, client_.time.last().clock});
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
