// The engine's part that lets go: release, hand-over to the next local waiter, and settlement at
// the store that nobody has to wait for.
#include <algorithm>
#include <utility>

#include "core/engine.hpp"
#include "core/refusals.hpp"

namespace holdfast::core {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// A waiting thread that was passed over by running ones for this long gets the hold directly.
constexpr milliseconds longest_barging{1};

// What is left of its minimum hold.
milliseconds time_to_keep(claim_state const& claim, base::instant now) {
    return std::max(milliseconds{0}, std::chrono::ceil<milliseconds>(claim.keep_until - now));
}

}  // namespace

void engine::release(std::shared_ptr<hold_state> const& held, base::instant now,
                     release_call* call) {
    turn const at{*this, now};
    auto const answer = [&](release_outcome outcome) {
        if (!held->outcome) held->outcome = outcome;
        if (call == nullptr) return;
        call->outcome = held->outcome;
        call->to->completed();
    };
    auto* const claim = held->held_by;
    bool const in_time = held->release(now);
    held->held_by = nullptr;
    if (claim == nullptr || claim->hold != held) return answer(release_outcome::already_lost);
    claim->hold = nullptr;
    if (!in_time || claim->at() != claim_phase::held) {
        answer(release_outcome::already_lost);
        if (claim->at() == claim_phase::held) return lose(*claim, {}, now);
        return claim->at() == claim_phase::ending ? void() : settle(*claim, now);
    }
    ++metrics_.releases;
    auto const min_left = held->granted() + claim->terms->min_hold - now;
    if (min_left > nanoseconds::zero()) {
        claim->keep_until = now + min_left;
    } else if (claim->terms->sharable() && !claim->queue->waiting.empty()) {
        pass_on(*claim, now);
        return answer(release_outcome::released);
    }
    if (park(*claim, now)) return answer(release_outcome::released);
    auto const queue = claim->queue;
    claim->releasing = call;
    if (call != nullptr) call->of = claim;
    settle(*claim, now);
    if (!queue->waiting.empty()) start(queue, now);
}

void engine::consume(std::shared_ptr<hold_state> const& held, base::instant now) {
    if (held->held_by != nullptr) held->held_by->consume = true;
    release(held, now);
}

std::optional<seam::convert> engine::weaken(hold_state& held, terms_ptr to, base::instant now) {
    turn const at{*this, now};
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
    if (!left->waiting.empty()) start(left, now);
    return request;
}

// --- hand-over inside the client ---------------------------------------------------------------

void engine::pass_on(claim_state& claim, base::instant now) {
    claim.pass = judge_->next_pass(claim.pass);
    if (claim.lease != claim.terms->spec->lease) {  // was the wish of the user before
        claim.lease = claim.terms->spec->lease;
        claim.shorter_since = base::never;
        claim.renew_at = std::min(claim.renew_at, now);
    }
    offer(claim, now);
}

// The hold is free for the next local waiter. A thread is nudged and whoever runs may come before
// it, for a while: waking it for every pass would cost more than the work under the lock.
void engine::offer(claim_state& claim, base::instant now) {
    auto const queue = claim.queue;
    queue->offered = false;
    if (queue->waiting.empty() || !may_pass(claim, now)) {
        settle(claim, now);
        if (!queue->waiting.empty()) start_again(queue, now);
        return;
    }
    auto& next = queue->waiting.front();
    if (next.nudged_since == base::never) next.nudged_since = now;
    if (!next.takes_offers || now - next.nudged_since > longest_barging)
        return give_first(claim, now);
    queue->offered = true;
    reschedule(claim);
    next.to->nudged();
}

// --- settlement --------------------------------------------------------------------------------

// From here on the claim belongs to nobody; the engine alone sees to its end.
void engine::settle(claim_state& claim, base::instant now) {
    if (claim.queue != nullptr) {
        if (claim.at() == claim_phase::held) claim.queue->busy_at = claim.queue->let_go_at = now;
        claim.queue->current = nullptr;
        claim.queue->offered = false;
        claim.queue = nullptr;
    }
    finish_renew_calls(claim);
    enter(claim, claim_phase::ending);
    claim.failures = 0;
    claim.silent_since = base::never;
    // By then every lease that the store may have begun for it is over, also by a slow clock: a waiter
    // may be granted, and a hold renewed by a late request, until the lease that it has now ends.
    nanoseconds const span =
        2 * nanoseconds{claim.longest_lease()} + time_to_keep(claim, now) + set_.request_timeout;
    claim.surely_over =
        set_.abilities.per_claim_lease ? now + span + 2 * span / drift : base::never;
    send_settle(claim, now);
}

// Whether others must end before this settlement may begin. It is sent when its turn comes, or never:
// then the lease ends the claim.
bool engine::must_wait_to_settle(claim_state& claim) {
    if (claim.releasing != nullptr || claim.settles_in_window || closed_) return false;
    claim.lane = lane_of(claim.terms->spec->name);
    claim.settles_in_window = settlements_.enter(claim.lane);
    return !claim.settles_in_window;
}

void engine::settle_next(seam::lane_id lane) {
    while (auto const number = settlements_.next(lane)) {
        auto* const claim = find(*number);
        if (claim == nullptr || !std::exchange(claim->settle_waits, false)) continue;
        send_settle(*claim, now_);
        if (claim->lane == lane) return;  // else its name has moved, and the place is still free
    }
}

void engine::settle_before(std::size_t name_hash, base::instant now) {
    for (auto const number : settlements_.take(name_hash))
        if (auto* const claim = find(number); claim != nullptr && claim->settle_waits)
            settle_now(*claim, now);
}

void engine::send_settle(claim_state& claim, base::instant now) {
    claim.try_at = base::never;
    if (!must_wait_to_settle(claim)) return settle_now(claim, now);
    claim.asking = false;
    if (!std::exchange(claim.settle_waits, true))
        settlements_.keep_back(claim.lane, claim.subject.id.number, claim.terms->spec->hash);
    reschedule(claim);
}

void engine::settle_now(claim_state& claim, base::instant now) {
    claim.settle_waits = false;
    claim.asking = true;
    claim.try_at = base::never;
    claim.answer_by = now + set_.request_timeout;
    ++claim.settles;
    auto const lane = lane_of(claim.terms->spec->name);
    seam::settle request{
        .subject = claim.subject, .keep_for = time_to_keep(claim, now), .consume = claim.consume};
    // No copy of the submit is sent to a server with another clock than it was made for.
    if (claim.unanswered > 0 && clocks_.find(lane, claim.clock) != nullptr) {
        request.tombstone_until = claim.last_not_after;
        request.clock = claim.clock;
    }
    send(
        {.purpose = purpose::settle, .sent = now, .subject = claim.subject.id.number, .lane = lane},
        std::move(request));
    reschedule(claim);
}

void engine::on_settled(claim_state& claim, seam::reply const& answer, base::instant now) {
    if (claim.at() != claim_phase::ending) return;
    auto const* const ended = std::get_if<seam::settled>(&answer.body);
    if (ended == nullptr) return on_settle_failure(claim, senseless_answer(), now);
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
    // A submit that is still under way is barred, or comes too late; its answer finds nobody.
    destroy(claim);
}

void engine::on_settle_failure(claim_state& claim, base::error const& error, base::instant now) {
    claim.asking = false;
    ++claim.failures;
    // A store that refuses (rather than is silent) will not change its mind: the lease ends it.
    if (!error.is(errc::store_unavailable)) {
        tell_release(claim, release_outcome::unknown);
        return destroy(claim);
    }
    claim.try_at = now + back_off(claim.failures, longest_back_off);
    reschedule(claim);
}

void engine::tell_release(claim_state& claim, release_outcome outcome) {
    if (auto* const call = std::exchange(claim.releasing, nullptr)) {
        call->outcome = outcome;
        call->of = nullptr;
        call->to->completed();
    }
}

void engine::withdraw(release_call& call) {
    if (auto* const claim = std::exchange(call.of, nullptr)) claim->releasing = nullptr;
}

// --- close -------------------------------------------------------------------------------------

void engine::close(base::instant now) {
    turn const at{*this, now};
    if (std::exchange(closed_, true)) return;
    base::error const why{errc::closed, "the client was closed"};
    std::vector<claim_state*> all;
    for (auto const& [number, claim] : claims_)
        all.push_back(claim);
    for (auto* const claim : all) {
        if (claim->at() == claim_phase::parked && unpark(*claim) == parked_state::gone) continue;
        if (claim->at() == claim_phase::ending) {
            if (claim->settle_waits) settle_now(*claim, now);
            continue;
        }
        if (auto const queue = claim->queue) {
            while (!queue->waiting.empty()) {
                auto& call = queue->waiting.front();
                queue->waiting.pop_front();
                complete(call, verdict::failed, why);
            }
        }
        if (claim->hold != nullptr) {
            if (claim->hold->lose(why.text)) {
                ++metrics_.losses;
                todo.losses.push_back(claim->hold);
            }
            claim->hold->held_by = nullptr;
            claim->hold = nullptr;
        }
        bool const known = claim->unanswered > 0 || claim->in_store_line || claim->was_held;
        if (known) {
            settle(*claim, now);
        } else {
            destroy(*claim);
        }
    }
    std::vector<operation_call*> asked;
    for (auto const& [ticket, call] : operations_)
        if (!call->cleans_up) asked.push_back(call);
    std::ranges::sort(asked, {}, &operation_call::ticket);
    for (auto* const call : asked)
        finish(*call, why);
    tasks_.close();
}

}  // namespace holdfast::core
