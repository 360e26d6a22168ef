// The part of the engine that callers see: they come, wait, are given a hold, or go without one.
#include "core/acquire_calls.hpp"

#include <algorithm>
#include <utility>

#include "core/engine_parts.hpp"
#include "core/refusals.hpp"

namespace holdfast::core {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

base::error unreachable(claim_state const& claim, std::string const& store) {
    if (auto known = claim.last_error()) return known;
    return silent_store(store);
}

}  // namespace

void acquire_calls::begin(acquire_call& call, base::instant now, base::instant deadline) {
    ++shared_.counters.acquires;
    call.began = now;
    if (shared_.closed) return complete(call, verdict::failed, closed_client());
    auto& queue = *call.in;
    if (queue.terms->detect_deadlock && !shared_.settings.abilities.line)
        return complete(call, verdict::failed, no_deadlock_search());
    if (queue.current != nullptr && queue.current->at() == claim_phase::parked &&
        parts_.parked.unpark(*queue.current) == parked_holds::state::free) {
        queue.current->pass = shared_.judge->next_pass(queue.current->pass);
        if (may_pass(*queue.current, now)) return give(*queue.current, call, now);
        parts_.settlements.settle(*queue.current, now);
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
    if (deadline != base::never) shared_.schedule(call, deadline);
    if (queue.current == nullptr) {
        bool const has_time = call.wait && deadline >= now + 2 * longest_pause_for_others;
        has_time&& must_let_others_try(queue, now) ? start_again(call.in, now)
                                                   : start(call.in, now);
    } else if (queue.current->is_pausing() &&
               (!call.wait || deadline < queue.current->try_at + longest_pause_for_others)) {
        parts_.submits.submit(*queue.current, now);  // no time would be left for an answer
    } else {
        parts_.timing.reschedule(*queue.current);
    }
}

void acquire_calls::withdraw(acquire_call& call, base::instant now) {
    if (call.outcome != verdict::pending) return;
    leave(call, now);
    complete(call, verdict::stopped);
}

void acquire_calls::on_deadline(acquire_call& call, base::instant now) {
    auto const* const claim = call.in->current;
    bool const answered = call.in->busy_at >= call.began || claim->at() == claim_phase::held ||
                          claim->at() == claim_phase::confirming;
    auto const why = answered ? base::error{} : unreachable(*claim, shared_.settings.store);
    leave(call, now);
    complete(call, why ? verdict::failed : verdict::busy, why);
}

// Takes a call out of its queue; what it leaves behind passes on or is settled.
void acquire_calls::leave(acquire_call& call, base::instant now) {
    auto& queue = *call.in;
    bool const was_first = !queue.waiting.empty() && &queue.waiting.front() == &call;
    queue.waiting.erase(queue.waiting.iterator_to(call));
    auto* const claim = queue.current;
    if (claim == nullptr) return;
    if (queue.offered && was_first) {
        parts_.releases.offer(*claim, now);
    } else if (queue.waiting.empty() && claim->at() != claim_phase::held) {
        abandon(*claim, now);
    } else {
        parts_.timing.reschedule(*claim);
    }
}

void acquire_calls::take_offer(acquire_call& call, base::instant now) {
    auto& queue = *call.in;
    if (call.outcome != verdict::pending || !queue.offered || &queue.waiting.front() != &call)
        return;
    if (!may_pass(*queue.current, now)) return parts_.releases.offer(*queue.current, now);
    queue.offered = false;
    give_first(*queue.current, now);
}

// --- the claim for them ------------------------------------------------------------------------

void acquire_calls::start(std::shared_ptr<wait_queue> const& queue, base::instant now,
                          base::instant silent_since) {
    auto& claim = parts_.claims.add(queue);
    claim.silent_since = silent_since;
    parts_.submits.submit(claim, now);
}

// Whether this client has taken the name again and again, at a store where nobody can say that others wait.
bool acquire_calls::must_let_others_try(wait_queue& queue, base::instant now) const {
    if (shared_.settings.abilities.line) return false;
    if (now - queue.let_go_at >= longest_pause_for_others) queue.turns = 0;
    if (queue.turns == 0) queue.turns_since = now;
    return ++queue.turns > std::max(1, queue.terms->local_passes);
}

// The same for those who wait behind a hold that this client has just let go.
void acquire_calls::start_again(std::shared_ptr<wait_queue> const& queue, base::instant now,
                                base::instant silent_since) {
    if (shared_.settings.abilities.line) return start(queue, now, silent_since);
    auto const pause = pause_for_others(*queue, now);
    queue->turns = 0;
    auto& claim = parts_.claims.add(queue);
    claim.silent_since = silent_since;
    parts_.claims.enter(claim, claim_phase::submitting);
    claim.try_at = now + pause / 2 + shared_.jitter(pause / 2);
    parts_.timing.reschedule(claim);
}

// Long enough for others whose trips to the store take as long as those of this client: they must hear of the release,
// or look at a moment of their own, and ask. No longer, since perhaps there is nobody.
nanoseconds acquire_calls::pause_for_others(wait_queue const& queue, base::instant now) {
    constexpr milliseconds shortest{5};
    constexpr int turns_for_others = 4;
    constexpr int share = 8;  // of the time that this client has had
    if (queue.turns == 0) return longest_pause_for_others;
    auto const had = now - queue.turns_since;
    return std::clamp<nanoseconds>(std::max(had / share, turns_for_others * had / queue.turns),
                                   shortest, longest_pause_for_others);
}

// --- ends of waiting ---------------------------------------------------------------------------

void acquire_calls::ask_policy(claim_state& claim, base::error const& error, base::instant now) {
    auto& call = claim.queue->waiting.front();
    claim.try_at = base::never;
    if (call.ticket == 0) {
        call.ticket = ++last_ticket_;
        asked_.emplace(call.ticket, &call);
        auto const spent = std::chrono::duration_cast<milliseconds>(now - call.began);
        shared_.todo.questions.push_back(
            {call.ticket, claim.terms, {++call.attempts, spent, error.code}});
    }
    if (error) {
        claim.cold().error = error;
    } else {
        claim.forget_error();
    }
    parts_.timing.reschedule(claim);
}

void acquire_calls::answer_retry(std::uint64_t ticket, std::optional<milliseconds> delay,
                                 base::instant now) {
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
        parts_.timing.reschedule(*claim);
    }
}

void acquire_calls::fail_queue(claim_state& claim, base::error const& error, base::instant now) {
    end_all(*claim.queue, verdict::failed, error);
    abandon(claim, now);
}

void acquire_calls::end_all(wait_queue& queue, verdict outcome, base::error const& error) {
    while (!queue.waiting.empty()) {
        auto& call = queue.waiting.front();
        queue.waiting.pop_front();
        complete(call, outcome, error);
    }
}

// Each has its own patience, from its own call on: the store may have been silent to others before. While the store
// answered, nobody needed any.
base::instant acquire_calls::patience_end(acquire_call const& call,
                                          claim_state const& claim) const {
    if (call.due != base::never || claim.silent_since == base::never) return base::never;
    return base::after(std::max(call.began, claim.silent_since), shared_.settings.patience);
}

base::instant acquire_calls::patience_end(claim_state const& claim) const {
    if (claim.silent_since == base::never || claim.queue == nullptr) return base::never;
    auto const& waiting = claim.queue->waiting;  // in the order in which they came
    auto const first = std::ranges::find(waiting, base::never, &acquire_call::due);
    return first == waiting.end() ? base::never : patience_end(*first, claim);
}

void acquire_calls::fail_impatient(claim_state& claim, base::instant now) {
    auto const queue = claim.queue;
    auto const why = unreachable(claim, shared_.settings.store);
    for (auto call = queue->waiting.begin(); call != queue->waiting.end();) {
        auto& one = *call;
        bool const patient = now < patience_end(one, claim);
        call = patient ? std::next(call) : queue->waiting.erase(call);
        if (!patient) complete(one, verdict::failed, why);
    }
    // Whoever holds it meanwhile keeps it: only those who wait have lost patience.
    if (queue->waiting.empty() && claim.at() != claim_phase::held) return abandon(claim, now);
    parts_.timing.reschedule(claim);
}

// Nobody wants the claim any more: make sure that the store does not keep it.
void acquire_calls::abandon(claim_state& claim, base::instant now) {
    bool const may_be_there = claim.unanswered > 0 || claim.in_store_line || claim.was_held;
    if (may_be_there) return parts_.settlements.settle(claim, now);
    parts_.settlements.forget(claim);
}

// Ends the calls that made one attempt; and the claim, when nobody is left.
void acquire_calls::answer_busy(wait_queue& queue, base::instant now) {
    auto* const claim = queue.current;
    queue.busy_at = now;
    end_attempts(queue);
    if (queue.waiting.empty()) abandon(*claim, now);
}

void acquire_calls::end_attempts(wait_queue& queue) {
    for (auto call = queue.waiting.begin(); call != queue.waiting.end();) {
        auto& one = *call;
        bool const stays = one.wait && !queue.terms->single_attempt;
        call = stays ? std::next(call) : queue.waiting.erase(call);
        if (!stays) complete(one, verdict::busy);
    }
}

// --- giving ------------------------------------------------------------------------------------

void acquire_calls::give_first(claim_state& claim, base::instant now) {
    auto& call = claim.queue->waiting.front();
    claim.queue->waiting.pop_front();
    give(claim, call, now);
}

void acquire_calls::give(claim_state& claim, acquire_call& call, base::instant now) {
    auto const token = make_token(claim.number, claim.pass);
    if (claim.terms->sharable() && token <= claim.queue->last_token)
        ++shared_.counters.tokens_not_rising;
    claim.queue->last_token = token;
    claim.queue->busy_at = now;
    claim.hold = std::make_shared<hold_state>(claim.terms, token, now, claim.lost_at());
    claim.hold->held_by = &claim;
    call.held = claim.hold;
    ++shared_.counters.grants;
    if (claim.pass > 0) ++shared_.counters.passes;
    parts_.timing.reschedule(claim);
    complete(call, verdict::granted);
}

bool acquire_calls::may_pass(claim_state const& claim, base::instant now) const {
    if (claim.at() != claim_phase::held || claim.in_doubt() || now >= claim.lost_at()) return false;
    bool const contended = claim.contended || !shared_.settings.abilities.line;
    if (!contended) return static_cast<int>(claim.pass) <= most_passes;
    return static_cast<int>(claim.pass) <= claim.terms->local_passes &&
           now < claim.granted + claim.lease / 10;
}

void acquire_calls::complete(acquire_call& call, verdict outcome, base::error error) {
    shared_.schedule(call, base::never);
    if (call.ticket != 0) asked_.erase(std::exchange(call.ticket, 0));
    call.outcome = outcome;
    call.error = std::move(error);
    if (outcome == verdict::busy || outcome == verdict::stopped) ++shared_.counters.busy;
    if (outcome == verdict::failed) ++shared_.counters.failures;
    shared_.completed(call.to);
}

}  // namespace holdfast::core
