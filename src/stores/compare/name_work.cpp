#include "stores/compare/name_work.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::stores::compare {

namespace {

// What the rules have said "no" to may have to do with somebody who is dead. A swap that knew another version
// than there is would be told so anyway.
bool turned_away(seam::request const* what, seam::reply_body const& body) {
    if (std::holds_alternative<seam::refused>(body)) return true;
    // Who joins what its owner holds relies on those who hold.
    if (auto const* const wanted = what == nullptr ? nullptr : std::get_if<seam::submit>(what))
        return wanted->subject.spec->joins && std::holds_alternative<seam::granted>(body);
    auto const* const other = std::get_if<seam::conflict>(&body);
    auto const* const swap = what == nullptr ? nullptr : std::get_if<seam::swap>(what);
    return other != nullptr && (other->guard_failed || swap == nullptr || swap->expected == 0);
}

// Who leaves the line does not touch the head: nobody stands behind those who are only remembered.
bool stands_behind(view const& remembered, verdict const& decided) {
    return (!remembered.line.empty() || remembered.more) &&
           std::ranges::any_of(decided.bodies, [](auto const& each) {
               return std::holds_alternative<seam::queued>(each);
           });
}

// Whether it is in the line already, and nothing but letters is to be written.
bool only_tells(std::shared_ptr<name_operation> const& op, verdict const& decided) {
    auto const& next = *decided.next;
    return op->appended && decided.bodies.size() == 1 &&
           std::holds_alternative<seam::queued>(decided.bodies.front()) && !next.head &&
           next.leave.empty() && next.append.empty();
}

}  // namespace

void name_work::begin(operation op) {
    op->asked.key = op->key;
    auto const* const subject = op->what ? subject_of(*op->what) : nullptr;
    if (subject != nullptr) op->asked.claims.push_back(subject->id);
    if (auto* const wanted = op->what ? std::get_if<seam::submit>(&*op->what) : nullptr;
        wanted != nullptr && wanted->ballot != seam::sequence{}) {
        wanted->queue = false;
        op->alone = op->asked.ballot = true;
    }
    op->begun = ++order_;
    auto const key = op->key;
    names_[key].queue.push_back(std::move(op));
    advance(key);
}

// Those that need no trip follow each other here, however many they are.
void name_work::advance(name_key const& key) {
    auto& name = names_[key];
    if (std::exchange(name.advancing, true)) return;
    while (!name.queue.empty() && !std::exchange(name.queue.front()->started, true)) {
        auto const op = name.queue.front();
        if (!answer_without_store(op)) start(op);
    }
    name.advancing = false;
    if (names_.size() > forget_above_) forget_idle();
}

void name_work::touch(name_key const& key, bool tells_first, bool tells_holder) {
    auto const known = names_.find(key);
    // One that has not looked yet will see it all.
    if (!tells_first && !tells_holder && known != names_.end() && known->second.queue.size() > 1 &&
        !known->second.queue.back()->what)
        return;
    auto op = std::make_shared<name_operation>();
    op->key = key;
    op->tells_first = tells_first;
    op->tells_holder = tells_holder;
    op->done = [](seam::reply_body) {};
    begin(std::move(op));
}

void name_work::learn(view seen) {
    auto const known = names_.find(seen.key);
    if (known == names_.end()) return;
    auto& name = known->second;
    // Letters may come late.
    if (name.known && name.known->written > seen.written) return;
    name.known = std::move(seen);
    name.known_as_of = name.looked_as_of = 0;
}

void name_work::forget_all() {
    for (auto& [key, name] : names_) {
        name.known.reset();
        // One of them may have died unheard: whoever is still in our way is watched anew, and told then.
        for (auto const id : std::exchange(name.watched, {}))
            client_.to.unwatch_session(id);
    }
}

// A claim goes into the session of its lease, or stays in the one it has; what is no claim needs any session, to
// be fenced with.
void name_work::start(operation const& op) {
    auto const go_on = [this, op](own_session const* session, base::error const& why) {
        if (session == nullptr) return fail(op, why);
        op->enter(*session);
        prepare_end(op);
    };
    auto const* const wanted = op->what ? std::get_if<seam::submit>(&*op->what) : nullptr;
    take_up(*op);
    if (wanted != nullptr) return client_.sessions.with(wanted->subject.spec->lease, go_on);
    auto const* const renewed = op->what ? std::get_if<seam::renew>(&*op->what) : nullptr;
    op->moves = renewed != nullptr && client_.outgrows_session(renewed->items.front());
    if (op->moves) return client_.sessions.with(renewed->items.front().lease, go_on);
    // What a claim guards is written only while its session lives.
    auto const* const swap = op->what ? std::get_if<seam::swap>(&*op->what) : nullptr;
    if (swap != nullptr && swap->guard)
        return client_.sessions.with(swap->guard->spec->lease, go_on);
    // What was sent for a claim before, and had no answer, is fenced off by the session that it was sent in.
    auto const* const subject = op->what ? subject_of(*op->what) : nullptr;
    auto const* const claim = subject == nullptr ? nullptr : client_.claims.find(subject->id);
    client_.sessions.with_one(claim == nullptr ? session_id{} : claim->session, go_on);
}

// One whose first try had no answer may be in the line without having been judged; and it is wanted again, whatever
// became of that.
void name_work::take_up(name_operation& op) {
    auto const* const wanted = op.what ? std::get_if<seam::submit>(&*op.what) : nullptr;
    auto* const claim = wanted == nullptr ? nullptr : client_.claims.find(wanted->subject.id);
    if (claim == nullptr) return;
    op.appended = op.appended || (!claim->held && !claim->waiting);
    claim->given_up = false;
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
    auto const* const settles = op.what ? std::get_if<seam::settle>(&*op.what) : nullptr;
    bool const keeps = settles != nullptr && settles->keep_for > std::chrono::milliseconds::zero();
    return {.when = client_.time.judging_time(),
            .lag = client_.time.lag(),
            .self = client_.around.self,
            .session = op.session,
            .secret = op.secret,
            .end = op.end,
            .tombstone = op.tombstone,
            .moves = op.moves ? std::optional{subject_of(*op.what)->id} : std::nullopt,
            .wakes = adjusts != nullptr && adjusts->wake > 0,
            .tells_first = keeps || op.tells_first,
            .tells_holder = op.tells_holder,
            .dead = &client_.sessions.dead(),
            .traits = client_.traits};
}

// A claim that was never sent before is tried as if the name were free: that costs one trip when it is.
bool name_work::may_assume(name_operation const& op) {
    auto const* const wanted = op.what ? std::get_if<seam::submit>(&*op.what) : nullptr;
    return wanted != nullptr && client_.claims.find(wanted->subject.id) == nullptr;
}

void name_work::decide(operation const& op) {
    auto const& name = names_[op->key];
    bool const fresh = op->seen.has_value();
    if (!fresh && !name.known && !may_assume(*op)) return fetch(op);
    view remembered{.key = op->key};
    if (!fresh && name.known) remembered = *name.known;
    // Who lived then may be dead now; who was dead is.
    if (name.looked_as_of <= op->begun)
        std::erase_if(remembered.sessions, [](auto const& each) { return each.alive; });
    auto const& seen = fresh ? *op->seen : remembered;
    auto all = together_with(op);
    // A claim in the line that was not looked for may stand there all the same, unless nobody knows it yet.
    auto asked = fresh ? op->looked_for : std::vector<seam::claim_id>{};
    std::vector<asking> requests;
    for (auto const& each : all) {
        requests.push_back({each->what ? &*each->what : nullptr, context_of(*each)});
        if (may_assume(*each)) asked.push_back(subject_of(*each->what)->id);
    }
    try {
        auto judged = op->appended && all.size() == 1
                          ? judge_joined(seen, *op->what, asked, requests.front().context)
                          : judge(seen, requests, asked);
        if (auto const* const missing = std::get_if<miss>(&judged)) {
            if (!fresh && name.known && all.size() == 1 && may_assume(*op)) {
                // Too little is known to judge by: whoever finds the name taken joins the line and looks in one trip.
                names_[op->key].known.reset();
                return decide(op);
            }
            if (missing->whole_line || (missing->more_of_line && fresh))
                op->asked.line = name_query::whole_line;
            ask_for(op->asked.claims, missing->claims);
            return fetch(op);
        }
        auto& decided = std::get<verdict>(judged);
        all.resize(decided.bodies.size());
        if (!fresh && stands_behind(remembered, decided)) {
            names_[op->key].known.reset();
            return decide(op);
        }
        bool relies = !op->what;  // without a request it is about those who may have died
        for (std::size_t i = 0; i < all.size(); ++i) {
            bool const away = turned_away(requests[i].what, decided.bodies[i]);
            relies = relies || away;
            // What it joined the line for was refused: it must leave, by itself.
            bool const refused = std::holds_alternative<seam::refused>(decided.bodies[i]);
            if (refused && all.size() > 1 && all[i]->appended) {
                for (auto const& each : all)
                    each->alone = true;
                return decide(op);
            }
        }
        if (relies && !decided.unverified.empty() &&
            ask_for(op->asked.sessions, decided.unverified))
            return fetch(op);
        if (decided.next) {
            if (fresh && only_tells(op, decided)) answer_early(op, decided.bodies.front());
            return commit(std::move(all), std::move(decided));
        }
        auto& body = decided.bodies.front();
        if (!may_answer(*op, body)) return fetch(op);
        if (op->appended && std::holds_alternative<seam::refused>(body))
            return withdraw(op, std::move(body));
        finish(op, std::move(body));
    } catch (std::system_error const& unreadable) {
        fail(op, {errc::store_unavailable, unreadable.what()});
    }
}

// What was found after the request had begun was found for it, too.
bool name_work::may_answer(name_operation const& op, seam::reply_body const& body) {
    if (op.seen) return true;
    if (op.appended) return false;
    auto const& name = names_[op.key];
    bool const sessions = turned_away(op.what ? &*op.what : nullptr, body);
    return name.known && (sessions ? name.looked_as_of : name.known_as_of) > op.begun;
}

void name_work::fetch(operation const& op) {
    if (++op->tries > most_tries) return fail(op, too_many_others());
    auto query = op->asked;
    for (auto const& each : together_with(op))
        ask_for(query.claims, each->asked.claims);
    op->looked_for = query.claims;
    auto const sent = ++order_;
    op->stretch = client_.stretch;
    auto const which = client_.calls.add([this, op, sent](outcome&& what) {
        auto* const found = std::get_if<views>(&what);
        if (found == nullptr || found->found.size() != 1) return fail(op, error_of(what));
        op->seen = std::move(found->found.front());
        op->seen_as_of = noted_as_of_ = sent;
        observe(*op->seen, op->stretch);
        decide(op);
    });
    client_.to.fetch(which, {.names = {std::move(query)}});
}

void name_work::fail(operation const& op, base::error why) {
    names_[op->key].known.reset();
    op->seen.reset();
    finish(op, seam::failure{std::move(why)});
}

void name_work::finish(operation const& op, seam::reply_body body) {
    if (news_.on_answer(*op, body)) wait_in_line(*op);
    if (op->refusal && !std::holds_alternative<seam::failure>(body)) body = *op->refusal;
    op->done(std::move(body));
    auto& name = names_[op->key];
    if (op->seen) {
        name.known = std::move(op->seen);
        op->seen.reset();
        name.known_as_of = name.looked_as_of = op->seen_as_of;
    }
    if (!name.watched.empty()) stop_watching(op->key, name);
    name.queue.pop_front();
    advance(op->key);
}

// All at once: rare, and what it costs was paid for by as many names.
void name_work::forget_idle() {
    std::erase_if(names_, [](auto const& each) {
        auto const& name = each.second;
        return name.queue.empty() && name.watched.empty() && !name.advancing;
    });
    // Not again before there is something to gain.
    forget_above_ = std::max(most_names, 2 * names_.size());
}

}  // namespace holdfast::stores::compare
