// Release, and hand-over to the next local waiter.
#include "core/releaser.hpp"

#include <algorithm>
#include <utility>

#include "core/engine_parts.hpp"

namespace holdfast::core {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// A waiting thread that was passed over by running ones for this long gets the hold directly.
constexpr milliseconds longest_barging{1};

}  // namespace

void releaser::release(std::shared_ptr<hold_state> const& held, base::instant now,
                       release_call* call) {
    end(held, now, true, call);
}

void releaser::give_back(std::shared_ptr<hold_state> const& held, base::instant now) {
    end(held, now, false, nullptr);
}

void releaser::end(std::shared_ptr<hold_state> const& held, base::instant now, bool used,
                   release_call* call) {
    if (held->is_released()) return repeat(*held, now, call);
    auto const answer = [&](release_outcome outcome) {
        held->outcome = outcome;
        held->held_by = nullptr;
        if (call == nullptr) return;
        call->outcome = outcome;
        shared_.completed(call->to);
    };
    auto* const claim = held->held_by;
    bool const in_time = held->release(now);
    if (claim == nullptr || claim->hold != held) return answer(release_outcome::already_lost);
    claim->hold = nullptr;
    if (!in_time || claim->at() != claim_phase::held) {
        answer(release_outcome::already_lost);
        if (claim->at() == claim_phase::held) return parts_.holds.lose(*claim, {}, now);
        return claim->at() == claim_phase::ending ? void() : parts_.settlements.settle(*claim, now);
    }
    ++shared_.counters.releases;
    auto const min_left = held->granted() + claim->terms->min_hold - now;
    if (used && min_left > nanoseconds::zero()) {
        claim->keep_until = now + min_left;
    } else if (claim->terms->sharable() && !claim->queue->waiting.empty()) {
        pass_on(*claim, now);
        return answer(release_outcome::released);
    }
    if (parts_.parked.park(*claim, now)) return answer(release_outcome::released);
    auto const queue = claim->queue;
    auto const silent_since = claim->silent_since;
    claim->released = held;
    if (call != nullptr) claim->releasing.push_back(*call);
    parts_.settlements.settle(*claim, now);
    if (!queue->waiting.empty()) parts_.acquires.start(queue, now, silent_since);
}

// Whoever comes again hears what the first was told, or is told with it when the store has not answered yet.
void releaser::repeat(hold_state& held, base::instant now, release_call* call) {
    if (call == nullptr) return;
    auto* const claim = held.outcome ? nullptr : held.held_by;
    if (claim == nullptr) {
        call->outcome = held.outcome.value_or(release_outcome::unknown);
        return shared_.completed(call->to);
    }
    claim->releasing.push_back(*call);
    if (claim->settle_waits) parts_.settlements.settle_now(*claim, now);
}

void releaser::consume(std::shared_ptr<hold_state> const& held, base::instant now) {
    if (held->held_by != nullptr && !held->is_released()) held->held_by->consume = true;
    release(held, now);
}

void releaser::release(wait_queue& queue, std::uint64_t generation, base::instant now) {
    if (queue.current != nullptr && queue.current->at() == claim_phase::parked &&
        queue.current->generation == generation)
        (void)parts_.parked.unpark(*queue.current);
    auto* const slot = queue.bias->find(generation);
    if (slot == nullptr || slot->held == nullptr) return;
    auto const held = slot->held;
    queue.bias->drop(generation);
    release(held, now);
}

std::optional<seam::convert> releaser::weaken(hold_state& held, terms_ptr to, base::instant now) {
    auto* const claim = held.held_by;
    if (claim == nullptr || claim->hold.get() != &held || claim->at() != claim_phase::held)
        return std::nullopt;
    seam::convert request{claim->subject, to->spec->mode, to->spec->permits};
    if (claim->terms == to) return request;  // once more
    auto const left = claim->queue;
    claim->terms = to;
    claim->queue = std::make_shared<wait_queue>(std::move(to));
    claim->queue->current = claim;
    claim->generation = 0;  // the revocation word stays with the queue that it left
    left->current = nullptr;
    left->offered = false;
    if (!left->waiting.empty()) parts_.acquires.start(left, now);
    return request;
}

// --- hand-over inside the client ---------------------------------------------------------------

void releaser::pass_on(claim_state& claim, base::instant now) {
    claim.pass = shared_.judge->next_pass(claim.pass);
    if (claim.lease != claim.terms->spec->lease) {  // was the wish of the user before
        claim.lease = claim.terms->spec->lease;
        claim.shorter_since = base::never;
        claim.renew_at = std::min(claim.renew_at, now);
    }
    offer(claim, now);
}

// The hold is free for the next local waiter. A thread is nudged and whoever runs may come before
// it, for a while: waking it for every pass would cost more than the work under the lock.
void releaser::offer(claim_state& claim, base::instant now) {
    auto const queue = claim.queue;
    queue->offered = false;
    if (queue->waiting.empty() || !parts_.acquires.may_pass(claim, now)) {
        auto const silent_since = claim.silent_since;
        parts_.settlements.settle(claim, now);
        if (!queue->waiting.empty()) parts_.acquires.start_again(queue, now, silent_since);
        return;
    }
    auto& next = queue->waiting.front();
    if (next.nudged_since == base::never) next.nudged_since = now;
    if (!next.takes_offers || now - next.nudged_since > longest_barging)
        return parts_.acquires.give_first(claim, now);
    queue->offered = true;
    parts_.timing.reschedule(claim);
    shared_.nudged(next.to);
}

}  // namespace holdfast::core
