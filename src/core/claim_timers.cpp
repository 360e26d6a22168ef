// The part of the engine that knows what comes due, and does it.
#include "core/claim_timers.hpp"

#include <algorithm>
#include <utility>

#include "core/engine_parts.hpp"
#include "core/refusals.hpp"

namespace holdfast::core {

namespace {

// How much earlier than due a renewal may be sent, so that many go in one batch: a sixteenth of the
// interval costs little and makes a hundred thousand leases a few batches per second.
constexpr int batch_window = 16;

// What one turn of the timer does at most: the lock is given up between two of them.
constexpr int most_timers = 4096;

}  // namespace

void claim_timers::reschedule(claim_state& claim) { shared_.schedule(claim, due_of(claim)); }

base::instant claim_timers::due_of(claim_state const& claim) const {
    using phase = claim_phase;
    switch (claim.at()) {
    case phase::submitting:
        return std::min(claim.asking ? claim.answer_by : claim.try_at,
                        parts_.acquires.patience_end(claim));
    case phase::waiting:
        return std::min({claim.asking ? claim.answer_by : std::min(claim.renew_at, claim.try_at),
                         parts_.acquires.patience_end(claim)});
    case phase::confirming:
        return std::min(claim.asking ? claim.answer_by : claim.renew_at,
                        parts_.acquires.patience_end(claim));
    case phase::held: {
        auto due = std::min({claim.lost_at(), claim.asking ? claim.answer_by : claim.renew_at,
                             parts_.acquires.patience_end(claim)});
        if (claim.hold != nullptr && claim.terms->max_hold)
            due = std::min(due, base::after(claim.hold->granted(), *claim.terms->max_hold));
        return due;
    }
    case phase::parked: return std::min(claim.renew_at, claim.lost_at());
    case phase::over: return claim.surely_over;
    case phase::ending:
        return std::min(claim.asking ? claim.answer_by : claim.try_at, claim.surely_over);
    }
    return base::never;
}

void claim_timers::on_time(base::instant now) {
    for (int i = 0; i < most_timers && !shared_.timers.empty() && shared_.timers.top()->due <= now;
         ++i) {
        auto& top = *shared_.timers.top();
        switch (top.what) {
        case timed::kind::acquire:
            parts_.acquires.on_deadline(static_cast<acquire_call&>(top), now);
            break;
        case timed::kind::operation:
            parts_.operations.attempt(static_cast<operation_call&>(top), now);
            break;
        case timed::kind::task: parts_.tasks.on_timer(static_cast<task_call&>(top)); break;
        case timed::kind::renewals: parts_.renewals.send_due(now); break;
        case timed::kind::claim: on_due(static_cast<claim_state&>(top), now); break;
        }
    }
    if (parts_.renewals.can_send(now)) hurry_renewals(now);
    parts_.renewals.send_due(now);
}

// Those that are nearly due go along. The queue is ordered, so they stand at its front.
void claim_timers::hurry_renewals(base::instant now) {
    while (!shared_.timers.empty() && shared_.timers.top()->what == timed::kind::claim) {
        auto& claim = static_cast<claim_state&>(*shared_.timers.top());
        bool const keeping = claim.at() == claim_phase::held || claim.at() == claim_phase::waiting;
        if (!keeping || claim.asking || claim.due != claim.renew_at ||
            claim.renew_at - claim.terms->renew_every / batch_window > now)
            break;
        parts_.renewals.want(claim, now);
    }
}

void claim_timers::on_due(claim_state& claim, base::instant now) {
    using phase = claim_phase;
    if (claim.at() == phase::parked) {
        auto const what = parts_.parked.unpark(claim);
        if (what == parked_holds::state::gone) return;
        if (what == parked_holds::state::free) return parts_.settlements.settle(claim, now);
    }
    if (end_in_time(claim, now)) return;
    if (now >= parts_.acquires.patience_end(claim))
        return parts_.acquires.fail_impatient(claim, now);
    if (claim.asking && now >= claim.answer_by) return on_silence(claim, now);
    if (claim.at() == phase::ending) return parts_.settlements.send_settle(claim, now);
    bool const by_store =
        claim.at() != phase::submitting && (claim.at() != phase::waiting || claim.in_store_line);
    if (!by_store) return parts_.submits.submit(claim, now);
    claim.attempting = claim.at() == phase::waiting && now >= claim.try_at;
    claim.try_at = base::never;
    parts_.renewals.want(claim, now);
}

// What only time decides: a hold that is lost, a claim that is surely over. False when it is neither.
bool claim_timers::end_in_time(claim_state& claim, base::instant now) {
    using phase = claim_phase;
    if (claim.at() == phase::held && now >= claim.lost_at()) {
        parts_.holds.lose(claim, "no renewal was confirmed before the deadline", now);
        return true;
    }
    if (claim.at() == phase::held && claim.hold != nullptr && claim.terms->max_hold &&
        now >= base::after(claim.hold->granted(), *claim.terms->max_hold)) {
        parts_.holds.lose(claim, "it was held for the longest time allowed (max_hold)", now);
        return true;
    }
    if ((claim.at() != phase::over && claim.at() != phase::ending) || now < claim.surely_over)
        return false;
    // A claim of a session goes on as long as the session does: somebody must end it.
    if (!shared_.settings.abilities.per_claim_lease) {
        parts_.settlements.settle(claim, now);
    } else {
        parts_.settlements.tell_release(claim, release_outcome::unknown);
        parts_.settlements.forget(claim);
    }
    return true;
}

// What was asked for the claim is given up.
void claim_timers::on_silence(claim_state& claim, base::instant now) {
    claim.asking = false;
    ++shared_.counters.requests_failed;
    auto silence = claim.last_error();  // what is known to be wrong says more
    if (!silence) silence = silent_store(shared_.settings.store);
    if (claim.at() == claim_phase::submitting)
        return parts_.submits.on_failure(claim, silence, now);
    if (claim.at() == claim_phase::ending)
        return parts_.settlements.on_failure(claim, silence, now);
    parts_.holds.on_renewal_failure(claim, silence, now);
}

}  // namespace holdfast::core
