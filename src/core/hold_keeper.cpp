// The part of the engine that keeps holds: what a renewal brings, doubt, and loss before the deadline.
#include "core/hold_keeper.hpp"

#include <algorithm>
#include <utility>

#include "core/engine_parts.hpp"
#include "core/refusals.hpp"

namespace holdfast::core {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

}  // namespace

void hold_keeper::on_reply(pending_request const& was, seam::reply const& answer,
                           base::instant now) {
    auto const* const results = std::get_if<seam::renewed>(&answer.body);
    if (results == nullptr || results->items.size() != was.batch.size())
        return on_failure(was, senseless_answer(), now);
    clock_readings::reading const by{answer.clock, {was.sent, now, answer.now}};
    for (std::size_t i = 0; i < was.batch.size(); ++i)
        if (auto* const claim = parts_.claims.find(was.batch[i].number))
            on_renewal(*claim, results->items[i], was.batch[i].lease, by, now);
}

void hold_keeper::on_failure(pending_request const& was, base::error const& error,
                             base::instant now) {
    for (auto const& [number, lease] : was.batch)
        if (auto* const claim = parts_.claims.find(number); claim != nullptr && claim->asking)
            on_renewal_failure(*claim, error, now);
}

void hold_keeper::on_renewal(claim_state& claim, seam::renewal const& result, milliseconds lease,
                             clock_readings::reading const& by, base::instant now) {
    using phase = claim_phase;
    using status = seam::renewal::status;
    if (claim.at() == phase::over || claim.at() == phase::ending || claim.at() == phase::submitting)
        return;
    if (claim.at() == phase::parked)
        return;  // a thread may be using it, and the store can take it back
    if (result.found == status::waiting && claim.at() != phase::waiting)
        return;  // from before the grant
    if (result.found == status::unknown) {
        if (!claim.asking) return;
        return on_renewal_failure(
            claim, {errc::store_unavailable, "the store did not answer for this claim"}, now);
    }
    claim.asking = false;
    claim.silent_since = base::never;
    claim.forget_error();
    claim.failures = 0;
    switch (result.found) {
    case status::alive: return confirm(claim, result.held, lease, by, now);
    case status::waiting: {
        claim.use_clock(by.clock);
        claim.seen_waiting = std::max(claim.seen_waiting, by.pair.store);
        auto const queue = claim.queue;
        parts_.acquires.answer_busy(*queue, now);
        if (queue->waiting.empty()) return;
        parts_.submits.plan_wait(claim, result.blocked_for, now);
        if (std::exchange(claim.attempting, false) && claim.terms->retry)
            parts_.acquires.ask_policy(claim, {}, now);
        return;
    }
    case status::unknown:
    case status::gone: break;
    }
    if (claim.at() == phase::held) {
        auto const hint = claim.gone_hint();
        auto const why = hint.empty() ? hold_gone : hint;
        return lose(claim, why, now);
    }
    begin_anew(claim, now);
}

// The store has forgotten a waiter, or gave it what it has lost since. One who waits for a notice may have
// missed it, and looks for himself.
void hold_keeper::begin_anew(claim_state& claim, base::instant now) {
    auto const queue = claim.queue;
    if (claim.terms->spec->kind == lock_kind::condition) {
        parts_.acquires.end_all(*queue, verdict::busy);
    }
    claim.was_held = claim.in_store_line = false;
    auto const silent_since = claim.silent_since;  // when it ended with its session
    parts_.acquires.abandon(claim, now);
    queue->current = nullptr;
    if (!queue->waiting.empty()) parts_.acquires.start(queue, now, silent_since);
}

nanoseconds hold_keeper::renew_every(claim_state const& claim, milliseconds lease) {
    nanoseconds const every = claim.terms->renew_every;
    if (lease >= claim.terms->spec->lease) return every;
    return std::min<nanoseconds>(every, renewal_interval(lease, claim.terms->grace));
}

void hold_keeper::confirm(claim_state& claim, seam::grant const& grant, milliseconds asked,
                          clock_readings::reading const& by, base::instant now) {
    using phase = claim_phase;
    ++shared_.counters.renewals;
    if (claim.at() != phase::held) {
        // The grant itself was not heard of. It may be older than any bound on passes allows.
        if (!std::exchange(claim.was_held, true)) claim.granted = base::instant::min();
        return parts_.submits.on_granted(claim, grant, by, now);
    }
    // A copy of its submit was carried out after the hold had ended: others may have been between.
    if (grant.number != claim.number) return lose(claim, "it had ended and was granted anew", now);
    // Whoever has looked at the clock meanwhile was told that it is lost.
    if (now >= claim.lost_at()) return lose(claim, "its renewal was confirmed too late", now);
    claim.contended = grant.contended;
    claim.lease_given = grant.lease;
    claim.use_clock(by.clock);
    auto const ends = shared_.judge->deadline(by.pair, grant.began,
                                              shared_.judge->sure_lease(asked, grant.lease));
    claim.held_until = std::max(claim.held_until, grant.began + claim.store_lease(asked));
    bool const shorter = by.pair.sent >= claim.shorter_since;
    claim.deadline = shorter ? ends : std::max(claim.deadline, ends);
    if (shorter) claim.shorter_since = base::never;
    claim.forget_gone_hint();
    if (claim.terms->renew) {
        auto const every = renew_every(claim, shared_.judge->sure_lease(claim.lease, grant.lease));
        claim.renew_at = std::max(now, by.pair.sent + every - shared_.jitter(every / 8));
    } else {
        claim.renew_at = base::never;  // what was asked for is done
    }
    if (claim.hold != nullptr) claim.hold->extend(claim.lost_at(), false);
    parts_.claims.finish_renew_calls(claim, by.pair.sent);
    parts_.timing.reschedule(claim);
}

void hold_keeper::on_renewal_failure(claim_state& claim, base::error const& error,
                                     base::instant now) {
    using phase = claim_phase;
    claim.asking = false;
    claim.cold().error = error;
    ++claim.failures;
    if (claim.at() == phase::over || claim.at() == phase::ending) return;
    if (claim.at() == phase::held) {
        if (claim.failures == 1) ++shared_.counters.doubts;
        if (claim.hold != nullptr) claim.hold->extend(claim.lost_at(), true);
        parts_.claims.finish_renew_calls(claim);
    } else if (claim.at() == phase::waiting && std::exchange(claim.attempting, false) &&
               claim.terms->retry) {
        parts_.acquires.ask_policy(claim, error, now);
    }
    auto const lease = shared_.judge->sure_lease(claim.lease, claim.lease_given);
    claim.renew_at =
        shared_.judge->error_ends_renewal() && claim.at() == phase::held
            ? base::never
            : now + shared_.back_off(claim.failures, nanoseconds{lease - claim.terms->grace} / 10);
    parts_.timing.reschedule(claim);
}

// Nothing is proven either way until the next answer. The deadline stands.
void hold_keeper::doubt(claim_state& claim, base::instant now) {
    bool const at_store = claim.at() == claim_phase::held ||
                          claim.at() == claim_phase::confirming ||
                          (claim.at() == claim_phase::waiting && claim.in_store_line);
    if (!at_store || claim.failures > 0) return;
    claim.failures = 1;
    if (claim.at() != claim_phase::held) {
        if (claim.silent_since == base::never) claim.silent_since = now;
        return parts_.timing.reschedule(claim);
    }
    ++shared_.counters.doubts;
    if (claim.hold != nullptr) claim.hold->extend(claim.lost_at(), true);
}

bool hold_keeper::end_hold(std::shared_ptr<hold_state> const& held, std::string const& why) {
    if (!held->lose(why)) return false;
    ++shared_.counters.losses;
    shared_.todo.losses.push_back(held);
    return true;
}

// Tells the holder, before the store can give the name to another. The claim itself stays until the
// holder lets go or its lease is over at the store: within its grace the holder is still at work.
void hold_keeper::lose(claim_state& claim, std::string const& why, base::instant now) {
    auto const queue = claim.queue;
    auto const silent_since = claim.silent_since;
    if (claim.hold != nullptr && end_hold(claim.hold, why)) {
        shared_.todo.warnings.push_back("lost '" + claim.terms->spec->name + "': " + why);
    }
    parts_.claims.finish_renew_calls(claim);
    queue->current = nullptr;
    queue->offered = false;
    claim.queue = nullptr;
    bool const used_up = claim.terms->max_hold && claim.hold != nullptr &&
                         now >= base::after(claim.hold->granted(), *claim.terms->max_hold) &&
                         now < claim.lost_at();
    if (used_up || claim.hold == nullptr) {
        parts_.settlements.settle(claim, now);
    } else {
        parts_.claims.enter(claim, claim_phase::over);
        // A lease ends by itself at the store; in a session that lives on, only we can end it, once it is over.
        auto const longest = claim.longest_lease();
        auto const lease = shared_.judge->sure_lease(claim.lease, claim.lease_given);
        claim.surely_over = shared_.settings.abilities.per_claim_lease
                                ? claim.deadline + longest + 4 * judgement::margin(longest)
                                : claim.deadline + judgement::margin(lease);
        parts_.timing.reschedule(claim);
    }
    if (!queue->waiting.empty() && queue->current == nullptr)
        parts_.acquires.start(queue, now, silent_since);
}

// --- renewal on demand -------------------------------------------------------------------------

void hold_keeper::renew(hold_state& held, std::optional<milliseconds> lease, renew_call& call,
                        base::instant now) {
    auto* const claim = held.held_by;
    if (claim == nullptr || claim->at() != claim_phase::held || claim->hold.get() != &held ||
        now >= claim->lost_at()) {
        call.done = true;
        return shared_.completed(call.to);
    }
    if (lease) {
        if (*lease < claim->lease) claim->shorter_since = now;
        claim->lease = *lease;
    }
    call.asked = now;
    claim->renew_calls.push_back(call);
    parts_.renewals.send_alone(*claim, now);
}

}  // namespace holdfast::core
