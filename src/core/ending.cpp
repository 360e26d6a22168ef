// The engine's part that lets go: release, hand-over to the next local waiter, and settlement at
// the store that nobody has to wait for.
#include <algorithm>
#include <utility>

#include "core/engine.hpp"

namespace holdfast::core {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// A waiting thread that was passed over by running ones for this long gets the hold directly.
constexpr milliseconds longest_barging{1};

// What is left of its minimum hold.
milliseconds time_to_keep(tenure const& claim, base::instant now) {
    return std::max(milliseconds{0}, std::chrono::ceil<milliseconds>(claim.keep_until - now));
}

}  // namespace

void engine::release(std::shared_ptr<grant> const& held, base::instant now, release_call* call) {
    turn const at{*this, now};
    auto const answer = [&](release_outcome outcome) {
        if (!held->outcome) held->outcome = outcome;
        if (call == nullptr) return;
        call->outcome = held->outcome;
        call->to->completed();
    };
    auto* const it = held->held_by;
    bool const in_time = held->release(now);
    held->held_by = nullptr;
    if (it == nullptr || it->user != held) return answer(release_outcome::already_lost);
    it->user = nullptr;
    if (!in_time || it->at() != claim_phase::held) {
        answer(release_outcome::already_lost);
        if (it->at() == claim_phase::held) return lose(*it, {}, now);
        return it->at() == claim_phase::ending ? void() : settle(*it, now);
    }
    ++metrics_.releases;
    auto const min_left = held->granted() + it->on->min_hold - now;
    if (min_left > nanoseconds::zero()) {
        it->keep_until = now + min_left;
    } else if (it->on->sharable() && !it->of->calls.empty()) {
        pass_on(*it, now);
        return answer(release_outcome::released);
    }
    if (park(*it, now)) return answer(release_outcome::released);
    auto const its = it->of;
    it->releasing = call;
    if (call != nullptr) call->of = it;
    settle(*it, now);
    if (!its->calls.empty()) start(its, now);
}

void engine::consume(std::shared_ptr<grant> const& held, base::instant now) {
    if (held->held_by != nullptr) held->held_by->consume = true;
    release(held, now);
}

std::optional<seam::convert> engine::weaken(grant& held, terms_ptr to, base::instant now) {
    turn const at{*this, now};
    auto* const it = held.held_by;
    if (it == nullptr || it->user.get() != &held || it->at() != claim_phase::held)
        return std::nullopt;
    seam::convert request{it->subject, to->spec->mode, to->spec->permits};
    if (it->on == to) return request;  // once more
    auto const left = it->of;
    it->on = to;
    it->of = std::make_shared<line>(std::move(to));
    it->of->now = it;
    it->generation = 0;  // the leash stays with the line that it left
    left->now = nullptr;
    left->offered = false;
    if (!left->calls.empty()) start(left, now);
    return request;
}

// --- hand-over inside the client ---------------------------------------------------------------

void engine::pass_on(tenure& it, base::instant now) {
    it.pass = judge_->next_pass(it.pass);
    if (it.lease != it.on->spec->lease) {  // was the wish of the user before
        it.lease = it.on->spec->lease;
        it.shorter_since = base::never;
        it.renew_at = std::min(it.renew_at, now);
    }
    offer(it, now);
}

// The hold is free for the next local waiter. A thread is nudged and whoever runs may come before
// it, for a while: waking it for every pass would cost more than the work under the lock.
void engine::offer(tenure& it, base::instant now) {
    auto const its = it.of;
    its->offered = false;
    if (its->calls.empty() || !may_pass(it, now)) {
        settle(it, now);
        if (!its->calls.empty()) start(its, now);
        return;
    }
    auto& next = its->calls.front();
    if (next.nudged_since == base::never) next.nudged_since = now;
    if (!next.takes_offers || now - next.nudged_since > longest_barging) return give_first(it, now);
    its->offered = true;
    reschedule(it);
    next.to->nudged();
}

// --- settlement --------------------------------------------------------------------------------

// From here on the claim belongs to nobody; the engine alone sees to its end.
void engine::settle(tenure& it, base::instant now) {
    if (it.of != nullptr) {
        if (it.at() == claim_phase::held) it.of->busy_at = now;
        it.of->now = nullptr;
        it.of->offered = false;
        it.of = nullptr;
    }
    finish_renew_calls(it);
    it.enter(claim_phase::ending);
    it.failures = 0;
    it.silent_since = base::never;
    // By then every lease that the store may have begun for it is over, also by a slow clock: a waiter
    // may be granted, and a hold renewed by a late request, until the lease that it has now ends.
    nanoseconds const span =
        2 * nanoseconds{it.lease} + time_to_keep(it, now) + set_.request_timeout;
    it.surely_over = now + span + 2 * span / drift;
    send_settle(it, now);
}

// Whether others must end before this settlement may begin. It is sent when its turn comes, or never:
// then the lease ends the claim.
bool engine::must_wait_to_settle(tenure& it) {
    if (it.releasing != nullptr || it.settles_in_window || closed_) return false;
    it.settles_in_window = settlements_.enter();
    return !it.settles_in_window;
}

void engine::settle_next() {
    while (auto const number = settlements_.next()) {
        auto* const it = find(*number);
        if (it != nullptr && it->settle_waits) return send_settle(*it, now_);
    }
}

void engine::settle_before(std::size_t name_hash, base::instant now) {
    for (auto const number : settlements_.take(name_hash))
        if (auto* const it = find(number); it != nullptr && it->settle_waits) settle_now(*it, now);
}

void engine::send_settle(tenure& it, base::instant now) {
    it.try_at = base::never;
    if (!must_wait_to_settle(it)) return settle_now(it, now);
    it.asking = false;
    if (!std::exchange(it.settle_waits, true))
        settlements_.keep_back(it.subject.id.number, it.on->spec->hash);
    reschedule(it);
}

void engine::settle_now(tenure& it, base::instant now) {
    it.settle_waits = false;
    it.asking = true;
    it.try_at = base::never;
    it.answer_by = now + set_.request_timeout;
    ++it.settles;
    seam::settle request;
    request.claims.push_back(it.subject);
    request.keep_for = time_to_keep(it, now);
    request.consume = it.consume;
    if (it.unanswered > 0) request.bar_until = it.last_not_after;
    send(purpose::settle, std::move(request), it.subject.id.number, now);
    reschedule(it);
}

void engine::on_settled(tenure& it, seam::settled const& what, seam::store_time done,
                        base::instant now) {
    if (it.at() != claim_phase::ending) return;
    bool const released = !what.endings.empty() && what.endings.front() == seam::ending::released;
    if (released) {
        // After the lease, it may have been a copy of the submit that was ended, not the hold.
        tell_release(it,
                     done < it.held_until ? release_outcome::released : release_outcome::unknown);
    } else if (it.settles > 1) {
        // An earlier copy may have released it. In time, nothing else can have ended it.
        tell_release(it, now < it.deadline ? release_outcome::released : release_outcome::unknown);
    } else {
        tell_release(it, release_outcome::already_lost);
    }
    // A submit that is still under way is barred, or comes too late; its answer finds nobody.
    destroy(it);
}

void engine::on_settle_failure(tenure& it, base::error const& error, base::instant now) {
    it.asking = false;
    ++it.failures;
    // A store that refuses (rather than is silent) will not change its mind: the lease ends it.
    if (!error.is(errc::store_unavailable)) {
        tell_release(it, release_outcome::unknown);
        return destroy(it);
    }
    it.try_at = now + back_off(it.failures, longest_back_off);
    reschedule(it);
}

void engine::tell_release(tenure& it, release_outcome outcome) {
    if (auto* const call = std::exchange(it.releasing, nullptr)) {
        call->outcome = outcome;
        call->of = nullptr;
        call->to->completed();
    }
}

void engine::withdraw(release_call& call) {
    if (auto* const it = std::exchange(call.of, nullptr)) it->releasing = nullptr;
}

// --- close -------------------------------------------------------------------------------------

void engine::close(base::instant now) {
    turn const at{*this, now};
    if (std::exchange(closed_, true)) return;
    base::error const why{errc::closed, "the client was closed"};
    std::vector<tenure*> all;
    for (auto const& [number, it] : tenures_)
        all.push_back(it);
    for (auto* const it : all) {
        if (it->at() == claim_phase::parked && unpark(*it) == lane_state::gone) continue;
        if (it->at() == claim_phase::ending) {
            if (it->settle_waits) settle_now(*it, now);
            continue;
        }
        if (auto const its = it->of) {
            while (!its->calls.empty()) {
                auto& call = its->calls.front();
                its->calls.pop_front();
                complete(call, verdict::failed, why);
            }
        }
        if (it->user != nullptr) {
            if (it->user->lose(why.text)) {
                ++metrics_.losses;
                todo.losses.push_back(it->user);
            }
            it->user->held_by = nullptr;
            it->user = nullptr;
        }
        bool const known = it->unanswered > 0 || it->in_store_line || it->was_held;
        if (known) {
            settle(*it, now);
        } else {
            destroy(*it);
        }
    }
    std::vector<operation_call*> asked;
    for (auto const& [ticket, call] : operations_)
        if (!call->cleans_up) asked.push_back(call);
    std::ranges::sort(asked, {}, &operation_call::ticket);
    for (auto* const call : asked)
        finish(*call, why);
    close_scripts();
}

}  // namespace holdfast::core
