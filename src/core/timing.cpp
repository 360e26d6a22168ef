// The engine's part that knows what comes due, and does it.
#include <algorithm>
#include <utility>

#include "core/engine.hpp"
#include "core/refusals.hpp"

namespace holdfast::core {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// How much earlier than due a renewal may be sent, so that many go in one batch: a sixteenth of the
// interval costs little and makes a hundred thousand leases a few batches per second.
constexpr int batch_window = 16;

constexpr milliseconds first_back_off{10};

// What one turn of the timer does at most: the lock is given up between two of them.
constexpr int most_timers = 4096;

}  // namespace

base::instant engine::next_due() const noexcept {
    return timers_.empty() ? base::never : timers_.top()->due;
}

void engine::schedule(timed& entry, base::instant due) {
    entry.due = due;
    if (due == base::never) {
        timers_.remove(entry);
    } else {
        timers_.place(entry);
    }
}

void engine::reschedule(claim_state& claim) { schedule(claim, due_of(claim)); }

base::instant engine::due_of(claim_state const& claim) const {
    using phase = claim_phase;
    switch (claim.at()) {
    case phase::submitting:
        return std::min(claim.asking ? claim.answer_by : claim.try_at, patience_end(claim));
    case phase::waiting:
        return std::min({claim.asking ? claim.answer_by : std::min(claim.renew_at, claim.try_at),
                         patience_end(claim)});
    case phase::confirming:
        return std::min(claim.asking ? claim.answer_by : claim.renew_at, patience_end(claim));
    case phase::held: {
        auto due = std::min(claim.lost_at(), claim.asking ? claim.answer_by : claim.renew_at);
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

// When a silent store is given up for the calls that have no deadline of their own.
base::instant engine::patience_end(claim_state const& claim) const {
    if (claim.silent_since == base::never || claim.queue == nullptr) return base::never;
    bool const any = std::ranges::any_of(
        claim.queue->waiting, [](acquire_call const& call) { return call.due == base::never; });
    return any ? base::after(claim.silent_since, set_.patience) : base::never;
}

void engine::on_time(base::instant now) {
    turn const at{*this, now};
    for (int i = 0; i < most_timers && !timers_.empty() && timers_.top()->due <= now; ++i) {
        auto& top = *timers_.top();
        switch (top.what) {
        case timed::kind::acquire: on_deadline(static_cast<acquire_call&>(top), now); break;
        case timed::kind::operation:
            attempt_operation(static_cast<operation_call&>(top), now);
            break;
        case timed::kind::task: tasks_.on_timer(static_cast<task_call&>(top)); break;
        case timed::kind::renewals: send_renewals(now); break;
        case timed::kind::claim: on_due(static_cast<claim_state&>(top), now); break;
        }
    }
    if (renewals_.next_place() > now) return;
    // Those that are nearly due go along. The queue is ordered, so they stand at its front.
    while (!timers_.empty() && timers_.top()->what == timed::kind::claim) {
        auto& claim = static_cast<claim_state&>(*timers_.top());
        bool const keeping = claim.at() == claim_phase::held || claim.at() == claim_phase::waiting;
        if (!keeping || claim.asking || claim.due != claim.renew_at ||
            claim.renew_at - claim.terms->renew_every / batch_window > now)
            break;
        want_renewal(claim, now);
    }
    send_renewals(now);
}

void engine::on_due(claim_state& claim, base::instant now) {
    using phase = claim_phase;
    if (claim.at() == phase::parked) {
        auto const what = unpark(claim);
        if (what == parked_state::gone) return;
        if (what == parked_state::free) return settle(claim, now);
    }
    if (claim.at() == phase::held && now >= claim.lost_at())
        return lose(claim, "no renewal was confirmed before the deadline", now);
    if (claim.at() == phase::held && claim.hold != nullptr && claim.terms->max_hold &&
        now >= base::after(claim.hold->granted(), *claim.terms->max_hold))
        return lose(claim, "it was held for the longest time allowed (max_hold)", now);
    if ((claim.at() == phase::over || claim.at() == phase::ending) && now >= claim.surely_over) {
        // A claim of a session goes on as long as the session does: somebody must end it.
        if (!set_.abilities.per_claim_lease) return settle(claim, now);
        tell_release(claim, release_outcome::unknown);
        return destroy(claim);
    }
    if (now >= patience_end(claim)) return fail_impatient(claim, now);
    if (claim.asking && now >= claim.answer_by) {
        claim.asking = false;
        ++metrics_.requests_failed;
        auto silence = claim.last_error();  // what is known to be wrong says more
        if (!silence) silence = silent_store();
        if (claim.at() == phase::submitting) return on_submit_failure(claim, silence, now);
        if (claim.at() == phase::ending) return on_settle_failure(claim, silence, now);
        return on_renewal_failure(claim, silence, now);
    }
    if (claim.at() == phase::ending) return send_settle(claim, now);
    bool const by_store =
        claim.at() != phase::submitting && (claim.at() != phase::waiting || claim.in_store_line);
    if (!by_store) return submit(claim, now);
    claim.attempting = claim.at() == phase::waiting && now >= claim.try_at;
    claim.try_at = base::never;
    want_renewal(claim, now);
}

std::chrono::nanoseconds engine::back_off(int failures, nanoseconds cap) {
    if (failures <= 1) return nanoseconds::zero();  // the first failure is tried again at once
    auto const doublings = std::min(failures - 2, 20);
    auto const span = std::min<nanoseconds>(cap, first_back_off * (1LL << doublings));
    return span / 2 + jitter(span / 2);
}

std::chrono::nanoseconds engine::jitter(nanoseconds span) {
    if (span <= nanoseconds::zero()) return nanoseconds::zero();
    return nanoseconds{random_.below(static_cast<std::uint64_t>(span.count()))};
}

}  // namespace holdfast::core
