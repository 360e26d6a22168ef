// The engine's part that puts a hold aside in the line's fast lane, and takes it back.
#include <utility>

#include "core/engine.hpp"
#include "core/refusals.hpp"

namespace holdfast::core {

namespace {

// Holds that are put aside at once, per client.
constexpr std::size_t most_parked = 1024;

}  // namespace

// Instead of a settlement: nobody here wants the hold now, and the store can take it back by itself.
bool engine::park(tenure& it, base::instant now) {
    bool const plain = it.generation != 0 && it.of->handles.load(std::memory_order_relaxed) > 0 &&
                       it.of->calls.empty() && !it.contended && !it.in_doubt() && it.on->renew &&
                       !it.on->max_hold && it.on->min_hold == it.on->min_hold.zero() &&
                       now < it.renew_at && static_cast<int>(it.pass) < most_passes;
    if (!plain || closed_) return false;
    auto const made =
        std::make_shared<grant>(it.on, make_token(it.number, it.pass), now, it.lost_at());
    made->held_by = &it;
    it.enter(claim_phase::parked);
    if (it.of->lane->open(it.generation, made, it.number, it.pass, it.renew_at)) {
        reschedule(it);
        parked_.push_back(it.subject.id.number);
        limit_parked(now);
        return true;
    }
    made->held_by = nullptr;
    it.of->lane->drop(it.generation);
    it.enter(claim_phase::held);
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

void engine::give_back_parked(tenure& it, base::instant now) {
    if (it.at() != claim_phase::parked) return;
    if (unpark(it) == lane_state::free) settle(it, now);
}

void engine::abandon_lane(line& its, base::instant now) {
    turn const at{*this, now};
    if (its.now != nullptr) give_back_parked(*its.now, now);
}

// Takes the hold out of the fast lane. `used`: a thread has it, and it is a regular hold from now on.
// `gone`: the store took it back, and the tenure is no more.
engine::lane_state engine::unpark(tenure& it) {
    auto& lane = *it.of->lane;
    count_lane(*it.of);
    auto* const slot = lane.find(it.generation);
    auto const was = lane.leash().seize(it.generation);
    bool const inside = was == seam::leash::state::used || was == seam::leash::state::overdue;
    // A thread inside may be about to count its pass: one more than it shows is above both.
    it.pass = slot->pass.load(std::memory_order_relaxed) + (inside ? 1 : 0);
    it.of->last_token = make_token(it.number, it.pass);
    it.enter(claim_phase::held);
    if (inside) {
        --metrics_.releases;
        slot->taken_over = true;
        it.user = slot->held;
        if (was == seam::leash::state::used) {
            reschedule(it);
            return lane_state::used;
        }
        if (it.user->lose(hold_gone)) {
            ++metrics_.losses;
            todo.losses.push_back(it.user);
        }
    } else {
        slot->held->held_by = nullptr;
        lane.drop(it.generation);
    }
    if (was == seam::leash::state::parked) return lane_state::free;
    destroy(it);
    return lane_state::gone;
}

void engine::release(line& its, std::uint64_t generation, base::instant now) {
    turn const at{*this, now};
    if (its.now != nullptr && its.now->at() == claim_phase::parked &&
        its.now->generation == generation)
        (void)unpark(*its.now);
    auto* const slot = its.lane->find(generation);
    if (slot == nullptr || slot->held == nullptr) return;
    auto const held = slot->held;
    its.lane->drop(generation);
    release(held, now);
}

void engine::count_lane(line& its) {
    auto const uses = its.lane->take_uses();
    metrics_.acquires += uses;
    metrics_.grants += uses;
    metrics_.passes += uses;
    metrics_.releases += uses;
}

metrics const& engine::counters() {
    for (auto const& [number, it] : tenures_)
        if (it->at() == claim_phase::parked) count_lane(*it->of);
    return metrics_;
}

}  // namespace holdfast::core
