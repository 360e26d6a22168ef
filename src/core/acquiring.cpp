// The engine's part that gets a hold: the line of local waiters and the submit to the store.
#include <algorithm>
#include <utility>

#include "core/engine.hpp"
#include "core/refusals.hpp"

namespace holdfast::core {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// The poll behind the notices of a store that does not hand over.
constexpr milliseconds shortest_poll{10};
constexpr milliseconds longest_poll{2'000};

}  // namespace

// --- calls -------------------------------------------------------------------------------------

void engine::begin(acquire_call& call, base::instant now, base::instant deadline) {
    turn const at{*this, now};
    ++metrics_.acquires;
    call.began = now;
    if (closed_) return complete(call, verdict::failed, closed_client());
    auto& its = *call.in;
    if (its.now != nullptr && its.now->at() == claim_phase::parked &&
        unpark(*its.now) == lane_state::free) {
        its.now->pass = judge_->next_pass(its.now->pass);
        if (may_pass(*its.now, now)) return give(*its.now, call, now);
        settle(*its.now, now);
    }
    if (auto* const it = its.now; it != nullptr && its.on->sharable()) {
        if (its.offered && may_pass(*it, now)) {  // barging: a running thread is first
            its.offered = false;
            return give(*it, call, now);
        }
        bool const answered = it->at() == claim_phase::held ||
                              (it->at() == claim_phase::waiting && it->failures == 0);
        if (!call.wait && answered && !its.offered) return complete(call, verdict::busy);
    }
    if (auto const* const it = its.now; it != nullptr && it->at() == claim_phase::waiting)
        if (it->failures == 0) its.busy_at = now;  // the store has said so, and nothing else since
    its.calls.push_back(call);
    if (deadline != base::never) schedule(call, deadline);
    if (its.now == nullptr) {
        start(call.in, now);
    } else {
        reschedule(*its.now);
    }
}

void engine::withdraw(acquire_call& call, base::instant now) {
    turn const at{*this, now};
    if (call.outcome != verdict::pending) return;
    leave(call, now);
    complete(call, verdict::stopped);
}

void engine::on_deadline(acquire_call& call, base::instant now) {
    auto const* const it = call.in->now;
    bool const answered = call.in->busy_at >= call.began || it->at() == claim_phase::held ||
                          it->at() == claim_phase::confirming;
    auto const why = answered ? base::error{} : unreachable(*it);
    leave(call, now);
    complete(call, why ? verdict::failed : verdict::busy, why);
}

// Takes a call out of its line; what it leaves behind passes on or is settled.
void engine::leave(acquire_call& call, base::instant now) {
    auto& its = *call.in;
    bool const was_first = !its.calls.empty() && &its.calls.front() == &call;
    its.calls.erase(its.calls.iterator_to(call));
    auto* const it = its.now;
    if (it == nullptr) return;
    if (its.offered && was_first) {
        offer(*it, now);
    } else if (its.calls.empty() && it->at() != claim_phase::held) {
        abandon(*it, now);
    } else {
        reschedule(*it);
    }
}

void engine::take_offer(acquire_call& call, base::instant now) {
    turn const at{*this, now};
    auto& its = *call.in;
    if (call.outcome != verdict::pending || !its.offered || &its.calls.front() != &call) return;
    if (!may_pass(*its.now, now)) return offer(*its.now, now);
    its.offered = false;
    give_first(*its.now, now);
}

// --- submit ------------------------------------------------------------------------------------

void engine::start(std::shared_ptr<line> const& its, base::instant now) {
    // Threads that hand a hold on are nobody in particular.
    auto const actor = its->on->sharable() ? seam::actor_id{} : its->calls.front().actor;
    seam::claim subject{its->on->spec, {set_.self, ++last_claim_}, actor};
    auto* const it = new tenure{std::move(subject), its->on};
    tenures_.emplace(it->subject.id.number, it);
    it->of = its;
    its->now = it;
    if (its->lane != nullptr) it->generation = its->lane->leash().begin();
    submit(*it, now);
}

void engine::submit(tenure& it, base::instant now) {
    it.enter(claim_phase::submitting);
    it.in_store_line = false;
    it.attempting = false;
    it.try_at = it.renew_at = base::never;
    it.asking = true;
    if (it.silent_since == base::never) it.silent_since = now;
    it.answer_by = give_up_time(it, now);
    if (clock_.is_fresh(now, it.answer_by)) {
        send_submit(it, now);
    } else {
        await_clock(it, now);
    }
    reschedule(it);
}

void engine::await_clock(tenure& it, base::instant now) {
    if (clock_.await(it.subject.id.number, now, set_.request_timeout / 2))
        send(purpose::hello, seam::hello{}, 0, now);
}

void engine::on_clock(base::instant now) {
    for (auto const number : clock_.answered()) {
        auto* const it = find(number);
        if (it == nullptr || it->at() != claim_phase::submitting) continue;
        it->answer_by = give_up_time(*it, now);
        send_submit(*it, now);
        reschedule(*it);
    }
}

// When this attempt is given up: no later than the last caller's deadline, so that the store can be
// told not to carry it out after that.
base::instant engine::give_up_time(tenure const& it, base::instant now) const {
    auto latest = base::instant::min();
    for (auto const& call : it.of->calls)
        latest = std::max(latest, call.due);
    return std::min(now + set_.request_timeout, std::max(latest, now));
}

void engine::send_submit(tenure& it, base::instant now) {
    bool const wanted =
        std::ranges::any_of(it.of->calls, &acquire_call::wait) && !it.on->single_attempt;
    if (wanted && !set_.abilities.hand_over) {
        seam::cell_key key{it.on->spec->kind, it.on->spec->name, seam::holders_part};
        if (std::ranges::find(watched_, key) == watched_.end()) {
            watched_.push_back(key);
            send(purpose::watch, seam::watch{std::move(key)}, 0, now);
        }
    }
    settle_before(it.on->spec->hash, now);
    ++it.unanswered;
    auto const not_after = judge_->not_after(*clock_.latest(), it.answer_by);
    it.last_not_after = std::max(it.last_not_after, not_after);
    seam::submit request{{}, wanted && set_.abilities.hand_over, not_after};
    request.claims.push_back(it.subject);
    if (it.generation != 0) {
        request.tether = {it.of, &it.of->lane->leash()};
        request.generation = it.generation;
    }
    send(purpose::submit, std::move(request), it.subject.id.number, now);
}

void engine::on_submit_reply(tenure& it, pending_request const& was, seam::reply const& answer,
                             base::instant now) {
    --it.unanswered;
    auto const* const granted = std::get_if<seam::granted>(&answer.body);
    auto const* const queued = std::get_if<seam::queued>(&answer.body);
    if (it.at() == claim_phase::ending || it.at() == claim_phase::over) {
        // An answer to what was given up: the store may hold it for nobody.
        if (granted == nullptr && queued == nullptr) return;
        ++metrics_.orphans;
        if (it.at() == claim_phase::ending) send_settle(it, now);
        return;
    }
    it.silent_since = base::never;
    if (granted != nullptr) {
        if (it.at() != claim_phase::held && it.at() != claim_phase::parked)
            on_granted(it, granted->grants.front(), {was.sent, now, answer.now}, now);
    } else if (queued != nullptr) {
        it.seen_waiting = std::max(it.seen_waiting, answer.now);
        if (it.at() == claim_phase::submitting) on_queued(it, queued->blocked_for, now);
    } else if (auto const* const no = std::get_if<seam::refused>(&answer.body)) {
        if (it.at() == claim_phase::submitting) on_refused(it, *no, now);
    }
}

void engine::on_granted(tenure& it, seam::grant const& grant, clock_pair const& pair,
                        base::instant now) {
    it.asking = false;
    it.failures = 0;
    it.forget_error();
    it.silent_since = base::never;
    it.try_at = base::never;
    it.in_store_line = false;
    it.number = grant.number;
    it.contended = grant.contended;
    it.deadline = judge_->deadline(pair, grant.began, it.lease);
    it.held_until = grant.began + it.lease;
    auto const begun = it.deadline - it.lease;
    it.granted = std::exchange(it.was_held, true) ? std::min(it.granted, begun) : begun;
    it.renew_at = it.on->renew ? begun + it.on->renew_every : base::never;
    if (it.of->calls.empty()) return settle(it, now);
    // A grant that was long under way has little left: what is handed out should be worth having.
    if (it.lost_at() - now < nanoseconds{usable_time(it.lease, it.on->grace)} / 2 &&
        it.confirmations < 3) {
        if (it.confirmations++ == 0) ++metrics_.late_grants;
        it.enter(claim_phase::confirming);
        return renew_now(it, now);
    }
    if (now >= it.lost_at()) return lose(it, "the grant came too late", now);
    it.enter(claim_phase::held);
    auto const keep = it.of;
    give_first(it, now);
    end_attempts(*keep);
}

void engine::on_queued(tenure& it, milliseconds blocked_for, base::instant now) {
    it.enter(claim_phase::waiting);
    it.in_store_line = true;
    it.asking = false;
    it.failures = 0;
    for (auto& call : it.of->calls)
        if (!std::exchange(call.in_line, true)) call.to->queued();
    plan_wait(it, blocked_for, now);
    auto const keep = it.of;
    answer_busy(*keep, now);
    if (keep->now != &it) return;
    if (std::exchange(it.hinted, false)) renew_now(it, now);
    if (it.on->retry) ask_policy(it, {}, now);
}

// When to show the store that the waiter is alive, which also moves a line whose holder died.
void engine::plan_wait(tenure& it, milliseconds blocked_for, base::instant now) {
    nanoseconds wait = nanoseconds{it.lease} / 3;
    wait -= jitter(wait / 8);
    if (it.on->detect_deadlock) look_for_deadlock(it, now);
    if (blocked_for > milliseconds::zero())
        wait = std::min(wait, nanoseconds{blocked_for} + milliseconds{1} + jitter(milliseconds{4}));
    it.renew_at = now + wait;
    reschedule(it);
}

void engine::on_refused(tenure& it, seam::refused const& no, base::instant now) {
    it.asking = false;
    switch (no.why) {
    case seam::refusal::busy: break;
    case seam::refusal::kind_mismatch: return fail_line(it, {errc::kind_mismatch, no.text}, now);
    case seam::refusal::limit_mismatch: return fail_line(it, {errc::limit_mismatch, no.text}, now);
    case seam::refusal::would_deadlock: return fail_line(it, {errc::would_deadlock, no.text}, now);
    case seam::refusal::too_late:
    case seam::refusal::gone: return on_too_late(it, now);
    }
    it.failures = 0;
    it.enter(claim_phase::waiting);
    it.in_store_line = false;
    auto const keep = it.of;
    answer_busy(*keep, now);
    if (keep->now != &it) return;
    bool const hinted = std::exchange(it.hinted, false);
    if (it.on->retry && !hinted) return ask_policy(it, {}, now);
    if (set_.abilities.hand_over || hinted)
        return submit(it, now);  // others came meanwhile, who will wait
    auto const poll = std::clamp(no.blocked_for, shortest_poll, longest_poll);
    it.try_at = now + poll + jitter(poll / 4);
    reschedule(it);
}

// It was not carried out, and the answer brought a fresh reading of the clock: the same attempt once
// more. Where it is the caller's own deadline that leaves no time, no policy is asked about it.
void engine::on_too_late(tenure& it, base::instant now) {
    if (it.failures == 0) {
        ++it.failures;
        return submit(it, now);
    }
    base::error const late{errc::store_unavailable, "the request reached the store too late"};
    if (!it.on->retry || it.of->calls.front().due == base::never)
        return on_submit_failure(it, late, now);
    it.rare().error = late;
    it.try_at = now + back_off(++it.failures, longest_back_off);
    reschedule(it);
}

// Ends the calls that made one attempt; and the claim, when nobody is left.
void engine::answer_busy(line& its, base::instant now) {
    auto* const it = its.now;
    its.busy_at = now;
    end_attempts(its);
    if (its.calls.empty()) abandon(*it, now);
}

void engine::end_attempts(line& its) {
    for (auto call = its.calls.begin(); call != its.calls.end();) {
        auto& one = *call;
        bool const stays = one.wait && !its.on->single_attempt;
        call = stays ? std::next(call) : its.calls.erase(call);
        if (!stays) complete(one, verdict::busy);
    }
}

void engine::on_submit_failure(tenure& it, base::error const& error, base::instant now) {
    it.asking = false;
    it.rare().error = error;
    ++it.failures;
    if (!error.is(errc::store_unavailable)) return fail_line(it, error, now);
    if (it.on->single_attempt) return fail_line(it, error, now);
    if (it.on->retry) return ask_policy(it, error, now);
    it.try_at = now + back_off(it.failures, longest_back_off);
    reschedule(it);
}

// --- ends of waiting ---------------------------------------------------------------------------

void engine::ask_policy(tenure& it, base::error const& error, base::instant now) {
    auto& call = it.of->calls.front();
    it.try_at = base::never;
    if (call.ticket == 0) {
        call.ticket = ++last_ticket_;
        asked_.emplace(call.ticket, &call);
        auto const spent = std::chrono::duration_cast<milliseconds>(now - call.began);
        todo.questions.push_back({call.ticket, it.on, {++call.attempts, spent, error.code}});
    }
    if (error) {
        it.rare().error = error;
    } else {
        it.forget_error();
    }
    reschedule(it);
}

void engine::answer_retry(std::uint64_t ticket, std::optional<milliseconds> delay,
                          base::instant now) {
    turn const at{*this, now};
    auto const found = asked_.find(ticket);
    if (found == asked_.end()) return;
    auto& call = *found->second;
    asked_.erase(found);
    call.ticket = 0;
    auto* const it = call.in->now;
    if (!delay) {
        auto const why = it->last_error();
        leave(call, now);
        return complete(call, why ? verdict::failed : verdict::busy, why);
    }
    if (it->at() == claim_phase::submitting || it->at() == claim_phase::waiting) {
        it->try_at = base::after(now, *delay);
        reschedule(*it);
    }
}

void engine::fail_line(tenure& it, base::error const& error, base::instant now) {
    auto const its = it.of;
    while (!its->calls.empty()) {
        auto& call = its->calls.front();
        its->calls.pop_front();
        complete(call, verdict::failed, error);
    }
    abandon(it, now);
}

// The store has been silent for longer than those without a deadline wait.
void engine::fail_impatient(tenure& it, base::instant now) {
    auto const its = it.of;
    auto const why = unreachable(it);
    for (auto call = its->calls.begin(); call != its->calls.end();) {
        auto& one = *call;
        bool const patient = one.due != base::never;
        call = patient ? std::next(call) : its->calls.erase(call);
        if (!patient) complete(one, verdict::failed, why);
    }
    // Whoever holds it meanwhile keeps it: only those who wait have lost patience.
    if (its->calls.empty() && it.at() != claim_phase::held) return abandon(it, now);
    reschedule(it);
}

base::error engine::unreachable(tenure const& it) const {
    if (auto known = it.last_error()) return known;
    return silent_store();
}

// Nobody wants the claim any more: make sure that the store does not keep it.
void engine::abandon(tenure& it, base::instant now) {
    bool const may_be_there = it.unanswered > 0 || it.in_store_line || it.was_held;
    if (may_be_there) return settle(it, now);
    destroy(it);
}

// --- giving ------------------------------------------------------------------------------------

void engine::give_first(tenure& it, base::instant now) {
    auto& call = it.of->calls.front();
    it.of->calls.pop_front();
    give(it, call, now);
}

void engine::give(tenure& it, acquire_call& call, base::instant now) {
    auto const token = make_token(it.number, it.pass);
    if (it.on->sharable() && token <= it.of->last_token) ++metrics_.tokens_not_rising;
    it.of->last_token = token;
    it.of->busy_at = now;
    it.user = std::make_shared<grant>(it.on, token, now, it.lost_at());
    it.user->held_by = &it;
    call.held = it.user;
    ++metrics_.grants;
    if (it.pass > 0) ++metrics_.passes;
    reschedule(it);
    complete(call, verdict::granted);
}

bool engine::may_pass(tenure const& it, base::instant now) const {
    if (it.at() != claim_phase::held || it.in_doubt() || now >= it.lost_at()) return false;
    if (!it.contended) return static_cast<int>(it.pass) <= most_passes;
    return static_cast<int>(it.pass) <= it.on->local_passes && now < it.granted + it.lease / 10;
}

}  // namespace holdfast::core
