// The engine's part that callers see: they come, wait, are given a hold, or go without one.
#include <algorithm>
#include <utility>

#include "core/engine.hpp"
#include "core/refusals.hpp"

namespace holdfast::core {

using std::chrono::milliseconds;

void engine::begin(acquire_call& call, base::instant now, base::instant deadline) {
    turn const at{*this, now};
    ++metrics_.acquires;
    call.began = now;
    if (closed_) return complete(call, verdict::failed, closed_client());
    auto& queue = *call.in;
    if (queue.current != nullptr && queue.current->at() == claim_phase::parked &&
        unpark(*queue.current) == parked_state::free) {
        queue.current->pass = judge_->next_pass(queue.current->pass);
        if (may_pass(*queue.current, now)) return give(*queue.current, call, now);
        settle(*queue.current, now);
    }
    if (auto* const claim = queue.current; claim != nullptr && queue.terms->sharable()) {
        if (queue.offered && may_pass(*claim, now)) {  // barging: a running thread is first
            queue.offered = false;
            return give(*claim, call, now);
        }
        bool const answered = claim->at() == claim_phase::held ||
                              (claim->at() == claim_phase::waiting && claim->failures == 0);
        if (!call.wait && answered && !queue.offered) return complete(call, verdict::busy);
    }
    if (auto const* const claim = queue.current;
        claim != nullptr && claim->at() == claim_phase::waiting)
        if (claim->failures == 0)
            queue.busy_at = now;  // the store has said so, and nothing else since
    queue.waiting.push_back(call);
    if (deadline != base::never) schedule(call, deadline);
    if (queue.current == nullptr) {
        bool const has_time = call.wait && deadline >= now + 2 * pause_for_others;
        has_time&& must_let_others_try(queue, now) ? start_again(call.in, now)
                                                   : start(call.in, now);
    } else if (queue.current->is_pausing() &&
               (!call.wait || deadline < queue.current->try_at + pause_for_others)) {
        submit(*queue.current, now);  // no time would be left for an answer
    } else {
        reschedule(*queue.current);
    }
}

void engine::withdraw(acquire_call& call, base::instant now) {
    turn const at{*this, now};
    if (call.outcome != verdict::pending) return;
    leave(call, now);
    complete(call, verdict::stopped);
}

void engine::on_deadline(acquire_call& call, base::instant now) {
    auto const* const claim = call.in->current;
    bool const answered = call.in->busy_at >= call.began || claim->at() == claim_phase::held ||
                          claim->at() == claim_phase::confirming;
    auto const why = answered ? base::error{} : unreachable(*claim);
    leave(call, now);
    complete(call, why ? verdict::failed : verdict::busy, why);
}

// Takes a call out of its queue; what it leaves behind passes on or is settled.
void engine::leave(acquire_call& call, base::instant now) {
    auto& queue = *call.in;
    bool const was_first = !queue.waiting.empty() && &queue.waiting.front() == &call;
    queue.waiting.erase(queue.waiting.iterator_to(call));
    auto* const claim = queue.current;
    if (claim == nullptr) return;
    if (queue.offered && was_first) {
        offer(*claim, now);
    } else if (queue.waiting.empty() && claim->at() != claim_phase::held) {
        abandon(*claim, now);
    } else {
        reschedule(*claim);
    }
}

void engine::take_offer(acquire_call& call, base::instant now) {
    turn const at{*this, now};
    auto& queue = *call.in;
    if (call.outcome != verdict::pending || !queue.offered || &queue.waiting.front() != &call)
        return;
    if (!may_pass(*queue.current, now)) return offer(*queue.current, now);
    queue.offered = false;
    give_first(*queue.current, now);
}

// --- the claim for them ------------------------------------------------------------------------

void engine::start(std::shared_ptr<wait_queue> const& queue, base::instant now) {
    submit(add_claim(queue), now);
}

// Whether this client has taken the name again and again, at a store where nobody can say that others wait.
bool engine::must_let_others_try(wait_queue& queue, base::instant now) const {
    if (set_.abilities.line) return false;
    if (now - queue.let_go_at >= pause_for_others) queue.turns = 0;
    return ++queue.turns > queue.terms->local_passes;
}

// The same for those who wait behind a hold that this client has just let go.
void engine::start_again(std::shared_ptr<wait_queue> const& queue, base::instant now) {
    if (set_.abilities.line) return start(queue, now);
    queue->turns = 0;
    auto& claim = add_claim(queue);
    enter(claim, claim_phase::submitting);
    claim.try_at = now + pause_for_others / 2 + jitter(pause_for_others / 2);
    reschedule(claim);
}

claim_state& engine::add_claim(std::shared_ptr<wait_queue> const& queue) {
    // Threads that hand a hold on are nobody in particular.
    auto const actor = queue->terms->sharable() ? seam::actor_id{} : queue->waiting.front().actor;
    seam::claim subject{queue->terms->spec, next_claim_id(), actor};
    auto* const claim = new claim_state{std::move(subject), queue->terms};
    claims_.emplace(claim->subject.id.number, claim);
    claim->queue = queue;
    queue->current = claim;
    if (queue->bias != nullptr) claim->generation = queue->bias->revocation().begin();
    return *claim;
}

// --- ends of waiting ---------------------------------------------------------------------------

void engine::ask_policy(claim_state& claim, base::error const& error, base::instant now) {
    auto& call = claim.queue->waiting.front();
    claim.try_at = base::never;
    if (call.ticket == 0) {
        call.ticket = ++last_ticket_;
        asked_.emplace(call.ticket, &call);
        auto const spent = std::chrono::duration_cast<milliseconds>(now - call.began);
        todo.questions.push_back({call.ticket, claim.terms, {++call.attempts, spent, error.code}});
    }
    if (error) {
        claim.cold().error = error;
    } else {
        claim.forget_error();
    }
    reschedule(claim);
}

void engine::answer_retry(std::uint64_t ticket, std::optional<milliseconds> delay,
                          base::instant now) {
    turn const at{*this, now};
    auto const found = asked_.find(ticket);
    if (found == asked_.end()) return;
    auto& call = *found->second;
    asked_.erase(found);
    call.ticket = 0;
    auto* const claim = call.in->current;
    if (!delay) {
        auto const why = claim->last_error();
        leave(call, now);
        return complete(call, why ? verdict::failed : verdict::busy, why);
    }
    if (claim->at() == claim_phase::submitting || claim->at() == claim_phase::waiting) {
        claim->try_at = base::after(now, *delay);
        reschedule(*claim);
    }
}

void engine::fail_queue(claim_state& claim, base::error const& error, base::instant now) {
    auto const queue = claim.queue;
    while (!queue->waiting.empty()) {
        auto& call = queue->waiting.front();
        queue->waiting.pop_front();
        complete(call, verdict::failed, error);
    }
    abandon(claim, now);
}

// The store has been silent for longer than those without a deadline wait.
void engine::fail_impatient(claim_state& claim, base::instant now) {
    auto const queue = claim.queue;
    auto const why = unreachable(claim);
    for (auto call = queue->waiting.begin(); call != queue->waiting.end();) {
        auto& one = *call;
        bool const patient = one.due != base::never;
        call = patient ? std::next(call) : queue->waiting.erase(call);
        if (!patient) complete(one, verdict::failed, why);
    }
    // Whoever holds it meanwhile keeps it: only those who wait have lost patience.
    if (queue->waiting.empty() && claim.at() != claim_phase::held) return abandon(claim, now);
    reschedule(claim);
}

base::error engine::unreachable(claim_state const& claim) const {
    if (auto known = claim.last_error()) return known;
    return silent_store();
}

// Nobody wants the claim any more: make sure that the store does not keep it.
void engine::abandon(claim_state& claim, base::instant now) {
    bool const may_be_there = claim.unanswered > 0 || claim.in_store_line || claim.was_held;
    if (may_be_there) return settle(claim, now);
    destroy(claim);
}

// --- giving ------------------------------------------------------------------------------------

void engine::give_first(claim_state& claim, base::instant now) {
    auto& call = claim.queue->waiting.front();
    claim.queue->waiting.pop_front();
    give(claim, call, now);
}

void engine::give(claim_state& claim, acquire_call& call, base::instant now) {
    auto const token = make_token(claim.number, claim.pass);
    if (claim.terms->sharable() && token <= claim.queue->last_token) ++metrics_.tokens_not_rising;
    claim.queue->last_token = token;
    claim.queue->busy_at = now;
    claim.hold = std::make_shared<hold_state>(claim.terms, token, now, claim.lost_at());
    claim.hold->held_by = &claim;
    call.held = claim.hold;
    ++metrics_.grants;
    if (claim.pass > 0) ++metrics_.passes;
    reschedule(claim);
    complete(call, verdict::granted);
}

bool engine::may_pass(claim_state const& claim, base::instant now) const {
    if (claim.at() != claim_phase::held || claim.in_doubt() || now >= claim.lost_at()) return false;
    bool const contended = claim.contended || !set_.abilities.line;
    if (!contended) return static_cast<int>(claim.pass) <= most_passes;
    return static_cast<int>(claim.pass) <= claim.terms->local_passes &&
           now < claim.granted + claim.lease / 10;
}

}  // namespace holdfast::core
