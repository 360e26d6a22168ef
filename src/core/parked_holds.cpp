// The part of the engine that puts a hold aside for the next lock by this client, and takes it back.
#include "core/parked_holds.hpp"

#include <utility>

#include "core/engine_parts.hpp"
#include "core/refusals.hpp"

namespace holdfast::core {

namespace {

// Holds that are put aside at once, per client.
constexpr std::size_t most_parked = 1024;

}  // namespace

// Instead of a settlement: nobody here wants the hold now, and the store can take it back by itself.
bool parked_holds::park(claim_state& claim, base::instant now) {
    bool const plain = claim.generation != 0 &&
                       claim.queue->handles.load(std::memory_order_relaxed) > 0 &&
                       claim.queue->waiting.empty() && !claim.contended && !claim.in_doubt() &&
                       claim.terms->renew && !claim.terms->max_hold &&
                       claim.terms->min_hold == claim.terms->min_hold.zero() &&
                       now < claim.renew_at && static_cast<int>(claim.pass) < most_passes;
    if (!plain || shared_.closed) return false;
    auto const made = std::make_shared<hold_state>(
        claim.terms, make_token(claim.number, claim.pass), now, claim.lost_at());
    made->held_by = &claim;
    parts_.claims.enter(claim, claim_phase::parked);
    if (claim.queue->bias->open(claim.generation, made, claim.number, claim.pass, claim.renew_at)) {
        parts_.timing.reschedule(claim);
        order_.push_back(claim.subject.id.number);
        limit(now);
        return true;
    }
    made->held_by = nullptr;
    claim.queue->bias->drop(claim.generation);
    parts_.claims.enter(claim, claim_phase::held);
    return false;
}

// A name that is put aside costs memory and a timer. Those that were put aside first go first; one that
// is still in use comes back when it is used again.
void parked_holds::limit(base::instant now) {
    while (order_.size() > most_parked) {
        auto* const first = parts_.claims.find(order_.front());
        order_.pop_front();
        if (first != nullptr) give_back(*first, now);
    }
}

void parked_holds::give_back(claim_state& claim, base::instant now) {
    if (claim.at() != claim_phase::parked) return;
    if (unpark(claim) == state::free) parts_.settlements.settle(claim, now);
}

// Takes the hold out of the biased hold. `used`: a thread has it, and it is a regular hold from now on.
// `gone`: the store took it back, and the claim is no more.
parked_holds::state parked_holds::unpark(claim_state& claim) {
    auto& bias = *claim.queue->bias;
    count_uses(*claim.queue);
    auto* const slot = bias.find(claim.generation);
    auto const was = bias.revocation().seize(claim.generation);
    bool const inside =
        was == seam::revocation_word::state::used || was == seam::revocation_word::state::overdue;
    // A thread inside may be about to count its pass: one more than it shows is above both.
    claim.pass = slot->pass.load(std::memory_order_relaxed) + (inside ? 1 : 0);
    claim.queue->last_token = make_token(claim.number, claim.pass);
    parts_.claims.enter(claim, claim_phase::held);
    if (inside) {
        --shared_.counters.releases;
        slot->taken_over = true;
        claim.hold = slot->held;
        if (was == seam::revocation_word::state::used) {
            parts_.timing.reschedule(claim);
            return state::used;
        }
        (void)parts_.holds.end_hold(claim.hold, hold_gone);
    } else {
        slot->held->held_by = nullptr;
        bias.drop(claim.generation);
    }
    if (was == seam::revocation_word::state::parked) return state::free;
    parts_.settlements.forget(claim);
    return state::gone;
}

void parked_holds::count_uses(wait_queue& queue) {
    auto const uses = queue.bias->take_uses();
    shared_.counters.acquires += uses;
    shared_.counters.grants += uses;
    shared_.counters.passes += uses;
    shared_.counters.releases += uses;
}

}  // namespace holdfast::core
