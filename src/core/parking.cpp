// The engine's part that puts a hold aside for the next lock by this client, and takes it back.
#include <utility>

#include "core/engine.hpp"
#include "core/refusals.hpp"

namespace holdfast::core {

namespace {

// Holds that are put aside at once, per client.
constexpr std::size_t most_parked = 1024;

}  // namespace

// Instead of a settlement: nobody here wants the hold now, and the store can take it back by itself.
bool engine::park(claim_state& claim, base::instant now) {
    bool const plain = claim.generation != 0 &&
                       claim.queue->handles.load(std::memory_order_relaxed) > 0 &&
                       claim.queue->waiting.empty() && !claim.contended && !claim.in_doubt() &&
                       claim.terms->renew && !claim.terms->max_hold &&
                       claim.terms->min_hold == claim.terms->min_hold.zero() &&
                       now < claim.renew_at && static_cast<int>(claim.pass) < most_passes;
    if (!plain || closed_) return false;
    auto const made = std::make_shared<hold_state>(
        claim.terms, make_token(claim.number, claim.pass), now, claim.lost_at());
    made->held_by = &claim;
    enter(claim, claim_phase::parked);
    if (claim.queue->bias->open(claim.generation, made, claim.number, claim.pass, claim.renew_at)) {
        reschedule(claim);
        parked_.push_back(claim.subject.id.number);
        limit_parked(now);
        return true;
    }
    made->held_by = nullptr;
    claim.queue->bias->drop(claim.generation);
    enter(claim, claim_phase::held);
    return false;
}

// A name that is put aside costs memory and a timer. Those that were put aside first go first; one that
// is still in use comes back when it is used again.
void engine::limit_parked(base::instant now) {
    while (parked_.size() > most_parked) {
        auto* const first = find(parked_.front());
        parked_.pop_front();
        if (first != nullptr) give_back_parked(*first, now);
    }
}

void engine::give_back_parked(claim_state& claim, base::instant now) {
    if (claim.at() != claim_phase::parked) return;
    if (unpark(claim) == parked_state::free) settle(claim, now);
}

void engine::abandon_parked(wait_queue& queue, base::instant now) {
    turn const at{*this, now};
    if (queue.current != nullptr) give_back_parked(*queue.current, now);
}

// Takes the hold out of the biased hold. `used`: a thread has it, and it is a regular hold from now on.
// `gone`: the store took it back, and the claim is no more.
engine::parked_state engine::unpark(claim_state& claim) {
    auto& lane = *claim.queue->bias;
    count_biased_uses(*claim.queue);
    auto* const slot = lane.find(claim.generation);
    auto const was = lane.revocation().seize(claim.generation);
    bool const inside =
        was == seam::revocation_word::state::used || was == seam::revocation_word::state::overdue;
    // A thread inside may be about to count its pass: one more than it shows is above both.
    claim.pass = slot->pass.load(std::memory_order_relaxed) + (inside ? 1 : 0);
    claim.queue->last_token = make_token(claim.number, claim.pass);
    enter(claim, claim_phase::held);
    if (inside) {
        --metrics_.releases;
        slot->taken_over = true;
        claim.hold = slot->held;
        if (was == seam::revocation_word::state::used) {
            reschedule(claim);
            return parked_state::used;
        }
        if (claim.hold->lose(hold_gone)) {
            ++metrics_.losses;
            todo.losses.push_back(claim.hold);
        }
    } else {
        slot->held->held_by = nullptr;
        lane.drop(claim.generation);
    }
    if (was == seam::revocation_word::state::parked) return parked_state::free;
    destroy(claim);
    return parked_state::gone;
}

void engine::release(wait_queue& queue, std::uint64_t generation, base::instant now) {
    turn const at{*this, now};
    if (queue.current != nullptr && queue.current->at() == claim_phase::parked &&
        queue.current->generation == generation)
        (void)unpark(*queue.current);
    auto* const slot = queue.bias->find(generation);
    if (slot == nullptr || slot->held == nullptr) return;
    auto const held = slot->held;
    queue.bias->drop(generation);
    release(held, now);
}

void engine::count_biased_uses(wait_queue& queue) {
    auto const uses = queue.bias->take_uses();
    metrics_.acquires += uses;
    metrics_.grants += uses;
    metrics_.passes += uses;
    metrics_.releases += uses;
}

metrics const& engine::counters() {
    metrics_.failures += tasks_.take_failures();
    for (auto const& [number, claim] : claims_)
        if (claim->at() == claim_phase::parked) count_biased_uses(*claim->queue);
    return metrics_;
}

}  // namespace holdfast::core
