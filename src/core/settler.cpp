// Settlement at the store, which nobody has to wait for.
#include "core/settler.hpp"

#include <algorithm>
#include <utility>

#include "core/engine_parts.hpp"
#include "core/refusals.hpp"

namespace holdfast::core {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// What is left of its minimum hold.
milliseconds time_to_keep(claim_state const& claim, base::instant now) {
    return std::max(milliseconds{0}, std::chrono::ceil<milliseconds>(claim.keep_until - now));
}

}  // namespace

// From here on the claim belongs to nobody; the engine alone sees to its end.
void settler::settle(claim_state& claim, base::instant now) {
    if (claim.queue != nullptr) {
        if (claim.at() == claim_phase::held) claim.queue->busy_at = claim.queue->let_go_at = now;
        claim.queue->current = nullptr;
        claim.queue->offered = false;
    }
    parts_.claims.finish_renew_calls(claim);
    parts_.claims.enter(claim, claim_phase::ending);
    claim.queue = nullptr;
    claim.failures = 0;
    claim.silent_since = base::never;
    // By then every lease that the store may have begun for it is over, also by a slow clock: a waiter
    // may be granted, and a hold renewed by a late request, until the lease that it has now ends.
    nanoseconds const span = 2 * nanoseconds{claim.longest_lease()} + time_to_keep(claim, now) +
                             shared_.settings.request_timeout;
    claim.surely_over =
        shared_.settings.abilities.per_claim_lease ? now + span + 2 * span / drift : base::never;
    send_settle(claim, now);
}

// Whether others must end before this settlement may begin. It is sent when its turn comes, or never:
// then the lease ends the claim.
bool settler::must_wait(claim_state& claim) {
    if (!claim.releasing.empty() || claim.settles_in_window || shared_.closed) return false;
    claim.lane = shared_.lane_of(claim.terms->spec->name);
    claim.settles_in_window = window_.enter(claim.lane);
    return !claim.settles_in_window;
}

void settler::settle_next(seam::lane_id lane) {
    while (auto const number = window_.next(lane)) {
        auto* const claim = parts_.claims.find(*number);
        if (claim == nullptr || !std::exchange(claim->settle_waits, false)) continue;
        send_settle(*claim, shared_.now);
        if (claim->lane == lane) return;  // else its name has moved, and the place is still free
    }
}

void settler::settle_before(std::size_t name_hash, base::instant now) {
    for (auto const number : window_.take(name_hash))
        if (auto* const claim = parts_.claims.find(number); claim != nullptr && claim->settle_waits)
            settle_now(*claim, now);
}

void settler::send_settle(claim_state& claim, base::instant now) {
    claim.try_at = base::never;
    if (!must_wait(claim)) return settle_now(claim, now);
    claim.asking = false;
    if (!std::exchange(claim.settle_waits, true))
        window_.keep_back(claim.lane, claim.subject.id.number, claim.terms->spec->hash);
    parts_.timing.reschedule(claim);
}

void settler::settle_now(claim_state& claim, base::instant now) {
    claim.settle_waits = false;
    claim.asking = true;
    claim.try_at = base::never;
    claim.answer_by = now + shared_.settings.request_timeout;
    ++claim.settles;
    auto const lane = shared_.lane_of(claim.terms->spec->name);
    seam::settle request{
        .subject = claim.subject, .keep_for = time_to_keep(claim, now), .consume = claim.consume};
    // No copy of the submit is sent to a server with another clock than it was made for.
    if (claim.unanswered > 0 && shared_.clocks.find(lane, claim.clock) != nullptr) {
        request.tombstone_until = claim.last_not_after;
        request.clock = claim.clock;
    }
    shared_.send({.purpose = request_purpose::settle,
                  .sent = now,
                  .subject = claim.subject.id.number,
                  .lane = lane},
                 std::move(request));
    parts_.timing.reschedule(claim);
}

void settler::on_reply(claim_state& claim, seam::reply const& answer, base::instant now) {
    if (claim.at() != claim_phase::ending) return;
    auto const* const ended = std::get_if<seam::settled>(&answer.body);
    if (ended == nullptr) return on_failure(claim, senseless_answer(), now);
    if (ended->how == seam::ending::released) {
        // After the lease, it may have been a copy of the submit that was ended, not the hold.
        bool const in_time =
            answer.clock == claim.clock ? answer.now < claim.held_until : now < claim.deadline;
        tell_release(claim, in_time ? release_outcome::released : release_outcome::unknown);
    } else if (claim.settles > 1) {
        // An earlier copy may have released it. In time, nothing else can have ended it.
        tell_release(claim,
                     now < claim.deadline ? release_outcome::released : release_outcome::unknown);
    } else {
        tell_release(claim, release_outcome::already_lost);
    }
    // A submit that is still under way finds a tombstone, or comes too late; its answer finds nobody.
    forget(claim);
}

void settler::on_failure(claim_state& claim, base::error const& error, base::instant now) {
    claim.asking = false;
    ++claim.failures;
    // A store that refuses (rather than is silent) will not change its mind: the lease ends it. Within a session that
    // lives with other claims nothing would, so it is asked for until it changes its mind.
    if (!error.is(errc::store_unavailable)) {
        tell_release(claim, release_outcome::unknown);
        if (shared_.settings.abilities.per_claim_lease) return forget(claim);
    }
    claim.try_at = now + shared_.back_off(claim.failures, engine_context::longest_back_off);
    parts_.timing.reschedule(claim);
}

void settler::tell_release(claim_state& claim, release_outcome outcome) {
    if (auto const held = std::exchange(claim.released, nullptr)) {
        if (!held->outcome) held->outcome = outcome;
        held->held_by = nullptr;
    }
    while (!claim.releasing.empty()) {
        auto& call = claim.releasing.front();
        claim.releasing.pop_front();
        call.outcome = outcome;
        shared_.completed(call.to);
    }
}

void settler::forget(claim_state& claim) {
    bool const had_place = claim.settles_in_window;
    auto const lane = claim.lane;
    parts_.claims.remove(claim);
    if (!had_place) return;
    window_.leave(lane);
    settle_next(lane);
}

void settler::withdraw(release_call& call) noexcept {
    if (call.is_linked()) call.unlink();
}

}  // namespace holdfast::core
