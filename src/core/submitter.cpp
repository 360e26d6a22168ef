// The part of the engine that asks the store for a claim, and takes its answer.
#include "core/submitter.hpp"

#include <algorithm>
#include <utility>

#include "core/engine_parts.hpp"
#include "core/refusals.hpp"

namespace holdfast::core {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// The poll behind the notices of a store without a line.
constexpr milliseconds shortest_poll{10};
constexpr milliseconds longest_poll{500};

// A store that gives less than was asked for may leave nothing after the grace.
base::error too_little_for(milliseconds grace, milliseconds given) {
    return {errc::bad_option, "the store gives a lease of " + std::to_string(given.count()) +
                                  " ms, which a grace of " + std::to_string(grace.count()) +
                                  " ms uses up: ask for a shorter grace, or configure the store to "
                                  "give longer leases"};
}

}  // namespace

void submitter::submit(claim_state& claim, base::instant now) {
    parts_.claims.enter(claim, claim_phase::submitting);
    claim.lane = shared_.lane_of(claim.terms->spec->name);
    claim.in_store_line = false;
    claim.attempting = false;
    claim.try_at = claim.renew_at = base::never;
    claim.asking = true;
    if (claim.silent_since == base::never) claim.silent_since = now;
    claim.answer_by = give_up_time(claim, now);
    if (shared_.clocks.is_fresh(claim.lane, now, claim.answer_by)) {
        send_submit(claim, now);
    } else {
        await_clock(claim, now);
    }
    parts_.timing.reschedule(claim);
}

void submitter::await_clock(claim_state& claim, base::instant now) {
    auto const patience = shared_.settings.request_timeout / 2;
    if (shared_.clocks.wait_for_reading(claim.lane, claim.subject.id.number, now, patience))
        shared_.send({.purpose = request_purpose::hello, .sent = now, .lane = claim.lane},
                     seam::hello{claim.lane});
}

void submitter::on_clock(seam::lane_id lane, base::instant now) {
    for (auto const number : shared_.clocks.take_waiting(lane)) {
        auto* const claim = parts_.claims.find(number);
        if (claim == nullptr || claim->at() != claim_phase::submitting || !claim->asking) continue;
        // The name has moved meanwhile, or where it is was not known when the lane was asked.
        bool const moved = claim->lane != lane || shared_.lane_of(claim->terms->spec->name) != lane;
        if (moved || !shared_.clocks.latest(lane)) {
            submit(*claim, now);
            continue;
        }
        claim->answer_by = give_up_time(*claim, now);
        send_submit(*claim, now);
        parts_.timing.reschedule(*claim);
    }
}

void submitter::on_clock_failure(seam::lane_id lane, base::error const& error, base::instant now) {
    for (auto const number : shared_.clocks.take_waiting(lane))
        if (auto* const claim = parts_.claims.find(number);
            claim != nullptr && claim->at() == claim_phase::submitting)
            on_failure(*claim, error, now);
}

// When this attempt is given up: no later than the last caller's deadline, so that the store can be
// told not to carry it out after that.
base::instant submitter::give_up_time(claim_state const& claim, base::instant now) const {
    auto latest = base::instant::min();
    for (auto const& call : claim.queue->waiting)
        latest = std::max(latest, call.due);
    return std::min(now + shared_.settings.request_timeout, std::max(latest, now));
}

void submitter::send_submit(claim_state& claim, base::instant now) {
    bool const wanted = std::ranges::any_of(claim.queue->waiting, &acquire_call::wait) &&
                        !claim.terms->single_attempt;
    bool const listens = claim.watches_name || claim.terms->retry;  // else from when it is refused
    if (wanted && listens && !shared_.settings.abilities.line) parts_.claims.watch_name(claim, now);
    parts_.settlements.settle_before(claim.terms->spec->hash, now);
    ++claim.unanswered;
    auto const& reading = *shared_.clocks.latest(claim.lane);
    claim.use_clock(reading.clock);
    auto const not_after = shared_.judge->not_after(reading.pair, claim.answer_by);
    claim.last_not_after = std::max(claim.last_not_after, not_after);
    seam::submit request{.subject = claim.subject,
                         .queue = wanted && shared_.settings.abilities.line,
                         .not_after = not_after,
                         .clock = reading.clock};
    if (claim.generation != 0) {
        request.revocation = {claim.queue, &claim.queue->bias->revocation()};
        request.generation = claim.generation;
    }
    shared_.send({.purpose = request_purpose::submit,
                  .sent = now,
                  .subject = claim.subject.id.number,
                  .lane = claim.lane},
                 std::move(request));
}

void submitter::on_reply(claim_state& claim, pending_request const& was, seam::reply const& answer,
                         base::instant now) {
    --claim.unanswered;
    auto const* const granted = std::get_if<seam::granted>(&answer.body);
    auto const* const queued = std::get_if<seam::queued>(&answer.body);
    if (claim.at() == claim_phase::ending || claim.at() == claim_phase::over) {
        // An answer to what was given up: the store may hold it for nobody.
        if (granted == nullptr && queued == nullptr) return;
        ++shared_.counters.orphans;
        if (claim.at() == claim_phase::ending) parts_.settlements.send_settle(claim, now);
        return;
    }
    claim.silent_since = base::never;
    if (granted != nullptr) {
        if (claim.at() != claim_phase::held && claim.at() != claim_phase::parked)
            on_granted(claim, granted->held, {answer.clock, {was.sent, now, answer.now}}, now);
    } else if (queued != nullptr) {
        claim.use_clock(answer.clock);
        claim.seen_waiting = std::max(claim.seen_waiting, answer.now);
        if (claim.at() == claim_phase::submitting) on_queued(claim, queued->blocked_for, now);
    } else if (auto const* const no = std::get_if<seam::refused>(&answer.body)) {
        if (claim.at() == claim_phase::submitting) on_refused(claim, *no, now);
    } else if (claim.at() == claim_phase::submitting) {
        on_failure(claim, senseless_answer(), now);
    }
}

void submitter::on_granted(claim_state& claim, seam::grant const& grant,
                           clock_readings::reading const& by, base::instant now) {
    claim.asking = false;
    claim.failures = 0;
    claim.forget_error();
    claim.silent_since = base::never;
    claim.try_at = base::never;
    claim.in_store_line = false;
    claim.number = grant.number;
    claim.contended = grant.contended;
    claim.polls = 0;
    claim.lease_given = grant.lease;
    auto const lease = shared_.judge->sure_lease(claim.lease, grant.lease);
    claim.use_clock(by.clock);
    claim.deadline = shared_.judge->deadline(by.pair, grant.began, lease);
    claim.held_until = grant.began + claim.store_lease(claim.lease);
    auto const begun = claim.deadline - lease;
    claim.granted = std::exchange(claim.was_held, true) ? std::min(claim.granted, begun) : begun;
    // In a session an earlier copy of the submit may have been granted before this lease began.
    if (claim.unanswered > 0 && !shared_.settings.abilities.per_claim_lease)
        claim.granted = base::instant::min();
    claim.renew_at =
        claim.terms->renew ? begun + hold_keeper::renew_every(claim, lease) : base::never;
    if (claim.queue->waiting.empty()) return parts_.settlements.settle(claim, now);
    auto const grace = claim.terms->grace;
    if (lease < claim.lease && usable_time(lease, grace) <= milliseconds::zero())
        return parts_.acquires.fail_queue(claim, too_little_for(grace, lease), now);
    // A grant that was long under way has little left: what is handed out should be worth having.
    // In a session it began with the last sign of life. Without renewals that is all there will be, so it
    // begins anew.
    nanoseconds const usable = usable_time(lease, claim.terms->grace);
    bool const unrenewed = !claim.terms->renew && !shared_.settings.abilities.per_claim_lease;
    auto const least = unrenewed ? usable - usable / 32 : usable / 2;
    if (claim.lost_at() - now < least && claim.confirmations < (unrenewed ? 1 : 3)) {
        if (claim.confirmations++ == 0) ++shared_.counters.late_grants;
        parts_.claims.enter(claim, claim_phase::confirming);
        return parts_.renewals.renew_now(claim, now);
    }
    if (now >= claim.lost_at()) return parts_.holds.lose(claim, "the grant came too late", now);
    parts_.claims.enter(claim, claim_phase::held);
    auto const keep = claim.queue;
    parts_.acquires.give_first(claim, now);
    parts_.acquires.end_attempts(*keep);
}

void submitter::on_queued(claim_state& claim, milliseconds blocked_for, base::instant now) {
    parts_.claims.enter(claim, claim_phase::waiting);
    claim.in_store_line = true;
    claim.asking = false;
    claim.failures = 0;
    for (auto& call : claim.queue->waiting)
        if (!std::exchange(call.in_line, true)) shared_.queued(call.to);
    plan_wait(claim, blocked_for, now);
    auto const keep = claim.queue;
    parts_.acquires.answer_busy(*keep, now);
    if (keep->current != &claim) return;
    if (std::exchange(claim.hinted, false)) parts_.renewals.renew_now(claim, now);
    if (claim.terms->retry) parts_.acquires.ask_policy(claim, {}, now);
}

// When to show the store that the waiter is alive, which also moves a line whose holder died.
void submitter::plan_wait(claim_state& claim, milliseconds blocked_for, base::instant now) {
    nanoseconds wait = nanoseconds{claim.lease} / 3;
    wait -= shared_.jitter(wait / 8);
    if (claim.terms->detect_deadlock) parts_.deadlocks.look(claim, now);
    if (blocked_for > milliseconds::zero())
        wait = std::min(
            wait, nanoseconds{blocked_for} + milliseconds{1} + shared_.jitter(milliseconds{4}));
    claim.renew_at = now + wait;
    parts_.timing.reschedule(claim);
}

void submitter::on_refused(claim_state& claim, seam::refused const& no, base::instant now) {
    claim.asking = false;
    switch (no.why) {
    case seam::refusal::busy:
    case seam::refusal::outvoted: break;
    case seam::refusal::kind_mismatch:
        return parts_.acquires.fail_queue(claim, {errc::kind_mismatch, no.text}, now);
    case seam::refusal::limit_mismatch:
        return parts_.acquires.fail_queue(claim, {errc::limit_mismatch, no.text}, now);
    case seam::refusal::would_deadlock:
        return parts_.acquires.fail_queue(claim, {errc::would_deadlock, no.text}, now);
    case seam::refusal::too_late:
    case seam::refusal::gone: return on_too_late(claim, now);
    }
    claim.failures = 0;
    parts_.claims.enter(claim, claim_phase::waiting);
    claim.in_store_line = false;
    auto const keep = claim.queue;
    parts_.acquires.answer_busy(*keep, now);
    if (keep->current != &claim) return;
    bool const hinted = std::exchange(claim.hinted, false);
    if (claim.terms->retry && !hinted) return parts_.acquires.ask_policy(claim, {}, now);
    if (shared_.settings.abilities.line || hinted)
        return submit(claim, now);  // others came meanwhile, who will wait
    if (!claim.watches_name) {
        parts_.claims.watch_name(claim, now);
        return submit(claim, now);  // it may have become free before the watch began
    }
    claim.try_at = now + poll_interval(claim, no.blocked_for);
    parts_.timing.reschedule(claim);
}

// When to ask again at a store without a line: soon at first, less and less often, and at the end of what
// stands in the way when that is known to come earlier.
nanoseconds submitter::poll_interval(claim_state& claim, milliseconds blocked_for) {
    auto const doublings = std::min(claim.polls++, 10);
    auto const span = std::min<nanoseconds>(longest_poll, shortest_poll * (1LL << doublings));
    auto const backed_off = span / 2 + shared_.jitter(span / 2);
    if (blocked_for <= milliseconds::zero()) return backed_off;
    return std::min(backed_off,
                    nanoseconds{blocked_for} + milliseconds{1} + shared_.jitter(milliseconds{4}));
}

// It was not carried out, and the answer brought a fresh reading of the clock: the same attempt once
// more. Where it is the caller's own deadline that leaves no time, no policy is asked about it.
void submitter::on_too_late(claim_state& claim, base::instant now) {
    if (claim.failures == 0) {
        ++claim.failures;
        return submit(claim, now);
    }
    base::error const late{errc::store_unavailable, "the request reached the store too late"};
    if (!claim.terms->retry || claim.queue->waiting.front().due == base::never)
        return on_failure(claim, late, now);
    claim.cold().error = late;
    claim.try_at = now + shared_.back_off(++claim.failures, engine_context::longest_back_off);
    parts_.timing.reschedule(claim);
}

void submitter::on_failure(claim_state& claim, base::error const& error, base::instant now) {
    claim.asking = false;
    claim.cold().error = error;
    ++claim.failures;
    if (!error.is(errc::store_unavailable)) return parts_.acquires.fail_queue(claim, error, now);
    if (claim.terms->single_attempt) return parts_.acquires.fail_queue(claim, error, now);
    if (claim.terms->retry) return parts_.acquires.ask_policy(claim, error, now);
    claim.try_at = now + shared_.back_off(claim.failures, engine_context::longest_back_off);
    parts_.timing.reschedule(claim);
}

}  // namespace holdfast::core
