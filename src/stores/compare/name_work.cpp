#include "stores/compare/name_work.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::stores::compare {

namespace {

// So many names are remembered as they were last seen.
constexpr std::size_t most_names = 1024;

// What the rules have said "no" to may have to do with somebody who is dead.
bool turned_away(seam::reply_body const& body) {
    return std::holds_alternative<seam::refused>(body) ||
           std::holds_alternative<seam::conflict>(body);
}

// True when something was not asked for yet.
template <class Id>
bool ask_for(std::vector<Id>& asked, std::vector<Id> const& more) {
    auto const before = asked.size();
    for (auto const id : more)
        if (std::ranges::find(asked, id) == asked.end()) asked.push_back(id);
    return asked.size() > before;
}

}  // namespace

void name_work::begin(operation op) {
    op->asked.key = op->key;
    auto const* const subject = op->what ? subject_of(*op->what) : nullptr;
    if (subject != nullptr) {
        op->asked.claims.push_back(subject->id);
        // One whose first try had no answer may be in the line without having been judged.
        auto const* const claim = client_.claims.find(subject->id);
        op->appended = std::holds_alternative<seam::submit>(*op->what) && claim != nullptr &&
                       !claim->held && !claim->waiting;
    }
    auto& queue = names_[op->key].queue;
    queue.push_back(std::move(op));
    if (queue.size() == 1) start(queue.front());
}

void name_work::touch(name_key const& key) {
    auto const known = names_.find(key);
    // One that has not looked yet will see it all.
    if (known != names_.end() && known->second.queue.size() > 1 &&
        !known->second.queue.back()->what)
        return;
    auto op = std::make_shared<name_operation>();
    op->key = key;
    op->done = [](seam::reply_body) {};
    begin(std::move(op));
}

void name_work::learn(view seen) {
    auto const known = names_.find(seen.key);
    if (known != names_.end()) known->second.known = std::move(seen);
}

void name_work::forget_all() {
    for (auto& [key, name] : names_) {
        name.known.reset();
        // One of them may have died unheard: whoever is still in our way is watched anew, and told then.
        name.watched.clear();
    }
}

// A claim goes into the session of its lease, or stays in the one it has; what is no claim needs any session, to
// be fenced with.
void name_work::start(operation const& op) {
    auto const go_on = [this, op](own_session const* session, base::error const& why) {
        if (session == nullptr) return fail(op, why);
        op->session = *session;
        prepare_end(op);
    };
    auto const* const wanted = op->what ? std::get_if<seam::submit>(&*op->what) : nullptr;
    if (wanted != nullptr) return client_.sessions.with(wanted->subject.spec->lease, go_on);
    auto const* const renewed = op->what ? std::get_if<seam::renew>(&*op->what) : nullptr;
    op->moves = renewed != nullptr && client_.outgrows_session(renewed->items.front());
    if (op->moves) return client_.sessions.with(renewed->items.front().lease, go_on);
    client_.sessions.with_any(go_on);
}

void name_work::prepare_end(operation const& op) {
    auto const lasts = op->what ? lasting_of(*op->what) : std::nullopt;
    if (client_.traits.clock || !lasts || op->end != session_id{}) return decide(op);
    client_.sessions.with_end(lasts->span, lasts->shared,
                              [this, op](own_session const* end, base::error const& why) {
                                  if (end == nullptr) return fail(op, why);
                                  op->end = end->id;
                                  decide(op);
                              });
}

judging name_work::context_of(name_operation const& op) const {
    auto const* const adjusts = op.what ? std::get_if<seam::adjust>(&*op.what) : nullptr;
    return {.when = client_.time.judging_time(),
            .self = client_.around.self,
            .session = op.session,
            .secret = op.secret,
            .end = op.end,
            .tombstone = op.tombstone,
            .moves = op.moves ? std::optional{subject_of(*op.what)->id} : std::nullopt,
            .wakes = adjusts != nullptr && adjusts->wake > 0,
            .traits = client_.traits};
}

// A claim that was never sent before is tried as if the name were free: that costs one trip when it is.
bool name_work::may_assume(name_operation const& op) {
    auto const* const wanted = op.what ? std::get_if<seam::submit>(&*op.what) : nullptr;
    return wanted != nullptr && client_.claims.find(wanted->subject.id) == nullptr;
}

void name_work::decide(operation const& op) {
    auto const& known = names_[op->key].known;
    view const assumed{.key = op->key};
    bool const fresh = op->seen.has_value();
    if (!fresh && !known && !may_assume(*op)) return fetch(op);
    // A claim in the line that was not looked for may stand there all the same.
    std::vector<seam::claim_id> const none;
    auto const& seen = fresh ? *op->seen : known ? *known : assumed;
    auto const& asked = fresh ? op->asked.claims : none;
    try {
        auto const context = context_of(*op);
        auto judged = op->appended ? judge_joined(seen, *op->what, asked, context)
                                   : judge(seen, op->what ? &*op->what : nullptr, asked, context);
        if (auto const* const missing = std::get_if<miss>(&judged)) {
            if (missing->whole_line) op->asked.line = name_query::whole_line;
            ask_for(op->asked.claims, missing->claims);
            return fetch(op);
        }
        auto& decided = std::get<verdict>(judged);
        // Without a request it is about those who may have died.
        bool const relies = !op->what || turned_away(decided.body);
        if (relies && !decided.unverified.empty() &&
            ask_for(op->asked.sessions, decided.unverified))
            return fetch(op);
        if (decided.next) return commit(op, std::move(decided));
        if (!fresh) return fetch(op);
        if (auto const* const no = std::get_if<seam::refused>(&decided.body); op->appended && no)
            return no->why == seam::refusal::too_late ? give_up(op)
                                                      : withdraw(op, std::move(decided.body));
        finish(op, std::move(decided.body));
    } catch (std::system_error const& unreadable) {
        fail(op, {errc::store_unavailable, unreadable.what()});
    }
}

void name_work::fetch(operation const& op) {
    if (++op->tries > most_tries) return try_again(op);
    auto const which = client_.calls.add([this, op](outcome&& what, reading when) {
        auto* const found = std::get_if<views>(&what);
        if (found == nullptr || found->found.size() != 1) return fail(op, error_of(what));
        client_.time.note(when);
        op->seen = std::move(found->found.front());
        observe(*op->seen);
        decide(op);
    });
    client_.to.fetch(which, {.names = {op->asked}});
}

void name_work::commit(operation const& op, verdict&& decided) {
    if (++op->tries > most_tries) return try_again(op);
    auto next = std::move(*decided.next);
    next.self = op->session.id;
    next.of = op->session.current;
    next.otherwise = op->asked;
    auto const* const wanted = op->what ? std::get_if<seam::submit>(&*op->what) : nullptr;
    if (wanted != nullptr) {
        next.not_after = wanted->not_after;
        // From here on it may be in the store, whatever becomes of the answer.
        client_.claims.add(wanted->subject.id,
                           {.key = op->key, .session = op->session.id, .secret = op->secret});
        if (wanted->queue && !op->appended)
            next.append_otherwise = {waiter_of(*wanted, context_of(*op))};
    }
    if (op->moves)
        if (auto* const claim = client_.claims.find(subject_of(*op->what)->id)) {
            claim->moving_to = op->session.id;
            claim->stretch = 0;  // until it is known
        }
    auto const kept = std::make_shared<verdict>(std::move(decided));
    auto const which = client_.calls.add([this, op, kept](outcome&& what, reading when) {
        on_outcome(op, *kept, std::move(what), when);
    });
    client_.to.commit(which, std::move(next));
}

void name_work::on_outcome(operation const& op, verdict& decided, outcome&& what, reading when) {
    if (auto const* const done = std::get_if<committed>(&what)) {
        client_.time.note(when);
        return on_committed(op, decided, *done);
    }
    names_[op->key].known.reset();
    if (auto* const other = std::get_if<missed>(&what)) {
        client_.time.note(when);
        op->seen = std::move(other->found);
        auto const* const wanted = op->what ? std::get_if<seam::submit>(&*op->what) : nullptr;
        op->appended = wanted != nullptr && wanted->queue;
        observe(*op->seen);
        return decide(op);
    }
    if (auto const* const no = std::get_if<fenced>(&what)) return on_fenced(op, *no);
    if (std::holds_alternative<unknown>(what))
        client_.sessions.suspect(op->session.id, op->session.current);
    fail(op, error_of(what));
}

void name_work::on_committed(operation const& op, verdict& decided, committed const& what) {
    auto after = std::move(decided.after);
    if (decided.head_written && !after.body.empty()) after.written = what.written;
    resolve(decided.body, what.written);
    for (auto& notice : decided.own) {
        resolve(notice, what.written);
        pass_on(*op, std::move(notice));
    }
    auto& name = names_[op->key];
    bool const moves_on = decided.full || what.behind.has_value();
    name.known = what.behind ? *what.behind : std::move(after);
    op->seen.reset();
    finish(op, std::move(decided.body));
    if (moves_on) touch(op->key);
}

// A step of an older generation is judged again under the present one; otherwise the session is dead, and with it
// all that lived in it.
void name_work::on_fenced(operation const& op, fenced what) {
    if (what.too_late && op->appended) return give_up(op);
    if (what.too_late) return finish(op, seam::refused{.why = seam::refusal::too_late});
    auto const* const session = client_.sessions.find(op->session.id);
    if (session != nullptr && session->current == op->session.current)
        client_.sessions.bury(op->session.id);
    op->seen.reset();
    op->appended = false;
    if (++op->tries > most_tries) return try_again(op);
    start(op);
}

void name_work::try_again(operation const& op) {
    fail(op, {errc::store_unavailable,
              "too many others changed the name at the same time: it is tried again"});
}

void name_work::fail(operation const& op, base::error why) {
    names_[op->key].known.reset();
    op->seen.reset();
    finish(op, seam::failure{std::move(why)});
}

void name_work::finish(operation const& op, seam::reply_body body) {
    note_answer(*op, body);
    if (op->refusal && !std::holds_alternative<seam::failure>(body)) body = *op->refusal;
    op->done(std::move(body));
    auto& name = names_[op->key];
    if (op->seen) name.known = std::move(op->seen);
    if (!name.watched.empty()) stop_watching(op->key, name);
    name.queue.pop_front();
    if (!name.queue.empty()) return start(name.queue.front());
    if (names_.size() > most_names) forget_idle();
}

// All at once: rare, and what it costs was paid for by as many names.
void name_work::forget_idle() {
    std::erase_if(names_, [](auto const& each) {
        return each.second.queue.empty() && each.second.watched.empty();
    });
}

}  // namespace holdfast::stores::compare
