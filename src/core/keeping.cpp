// The engine's part that keeps holds: renewal in batches, doubt, and loss before the deadline.
#include <algorithm>
#include <utility>

#include "core/engine.hpp"

namespace holdfast::core {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Claims in one renewal: large enough to be cheap, small enough not to stall a store for others.
constexpr std::size_t batch_size = 512;

constexpr milliseconds shortest_answer{20};

}  // namespace

void engine::send_renewals(std::vector<claim_state*> const& due, base::instant now) {
    for (std::size_t from = 0; from < due.size(); from += batch_size) {
        auto const to = std::min(due.size(), from + batch_size);
        seam::renew request;
        std::vector<renewed_claim> batch;
        request.items.reserve(to - from);
        batch.reserve(to - from);
        auto soonest = base::never;
        for (auto i = from; i < to; ++i) {
            auto& claim = *due[i];
            request.items.push_back({claim.subject, claim.lease});
            batch.push_back({claim.subject.id.number, claim.lease});
            claim.asking = true;
            if (claim.silent_since == base::never) claim.silent_since = now;
            // A sixth of the lease: enough tries fit between the first renewal and the loss.
            claim.answer_by =
                now + std::clamp<nanoseconds>(nanoseconds{claim.lease - claim.terms->grace} / 6,
                                              shortest_answer, set_.request_timeout);
            soonest = std::min(soonest, claim.answer_by);
            reschedule(claim);
        }
        request.answer_within = std::chrono::ceil<milliseconds>(soonest - now);
        send(purpose::renew, std::move(request), 0, now, std::move(batch));
    }
}

void engine::renew_now(claim_state& claim, base::instant now) {
    // An attempt of a retry policy that is under way stays one: whichever answer comes first is its.
    send_renewals({&claim}, now);
}

void engine::on_renewed(pending_request const& was, seam::reply const& answer, base::instant now) {
    auto const* const results = std::get_if<seam::renewed>(&answer.body);
    if (results == nullptr || results->items.size() != was.batch.size()) {
        base::error const strange{errc::store_unavailable, "the store's answer makes no sense"};
        return on_failure(was, strange, now);
    }
    clock_pair const pair{was.sent, now, answer.now};
    for (std::size_t i = 0; i < was.batch.size(); ++i)
        if (auto* const claim = find(was.batch[i].number))
            on_renewal(*claim, results->items[i], was.batch[i].lease, pair, now);
}

void engine::on_renewal(claim_state& claim, seam::renewal const& result, milliseconds lease,
                        clock_pair const& pair, base::instant now) {
    using phase = claim_phase;
    using status = seam::renewal::status;
    if (claim.at() == phase::over || claim.at() == phase::ending || claim.at() == phase::submitting)
        return;
    if (claim.at() == phase::parked)
        return;  // a thread may be using it, and the store can take it back
    if (result.found == status::waiting && claim.at() != phase::waiting)
        return;  // from before the grant
    claim.asking = false;
    claim.silent_since = base::never;
    claim.forget_error();
    claim.failures = 0;
    switch (result.found) {
    case status::alive: return confirm(claim, result.held, lease, pair, now);
    case status::waiting: {
        claim.seen_waiting = std::max(claim.seen_waiting, pair.store);
        auto const queue = claim.queue;
        answer_busy(*queue, now);
        if (queue->waiting.empty()) return;
        plan_wait(claim, result.blocked_for, now);
        if (std::exchange(claim.attempting, false) && claim.terms->retry)
            ask_policy(claim, {}, now);
        return;
    }
    case status::gone: break;
    }
    if (claim.at() == phase::held) {
        auto const hint = claim.gone_hint();
        auto const why = hint.empty() ? "the store no longer has the hold" : hint;
        return lose(claim, why, now);
    }
    // The store has forgotten a waiter, or gave it what it has lost since: begin anew. One who waits
    // for a notice may have missed it, and looks for himself.
    auto const queue = claim.queue;
    if (claim.terms->spec->kind == lock_kind::condition) {
        while (!queue->waiting.empty()) {
            auto& call = queue->waiting.front();
            queue->waiting.pop_front();
            complete(call, verdict::busy);
        }
    }
    claim.was_held = claim.in_store_line = false;
    abandon(claim, now);
    queue->current = nullptr;
    if (!queue->waiting.empty()) start(queue, now);
}

void engine::confirm(claim_state& claim, seam::grant const& grant, milliseconds lease,
                     clock_pair const& pair, base::instant now) {
    using phase = claim_phase;
    ++metrics_.renewals;
    if (claim.at() != phase::held) {
        // The grant itself was not heard of. It may be older than any bound on passes allows.
        if (!std::exchange(claim.was_held, true)) claim.granted = base::instant::min();
        return on_granted(claim, grant, pair, now);
    }
    // A copy of its submit was carried out after the hold had ended: others may have been between.
    if (grant.number != claim.number) return lose(claim, "it had ended and was granted anew", now);
    claim.contended = grant.contended;
    auto const ends = judge_->deadline(pair, grant.began, lease);
    claim.held_until = std::max(claim.held_until, grant.began + lease);
    bool const shorter = pair.sent >= claim.shorter_since;
    claim.deadline = shorter ? ends : std::max(claim.deadline, ends);
    if (shorter) claim.shorter_since = base::never;
    claim.forget_gone_hint();
    if (claim.terms->renew) {
        nanoseconds every = claim.terms->renew_every;
        if (claim.lease < claim.terms->spec->lease)
            every = std::min<nanoseconds>(every, renewal_interval(claim.lease, claim.terms->grace));
        claim.renew_at = std::max(now, pair.sent + every - jitter(every / 8));
    } else {
        claim.renew_at = base::never;  // what was asked for is done
    }
    if (claim.hold != nullptr) claim.hold->extend(claim.lost_at(), false);
    finish_renew_calls(claim, pair.sent);
    reschedule(claim);
}

void engine::on_renewal_failure(claim_state& claim, base::error const& error, base::instant now) {
    using phase = claim_phase;
    claim.asking = false;
    claim.cold().error = error;
    ++claim.failures;
    if (claim.at() == phase::over || claim.at() == phase::ending) return;
    if (claim.at() == phase::held) {
        if (claim.failures == 1) ++metrics_.doubts;
        if (claim.hold != nullptr) claim.hold->extend(claim.lost_at(), true);
        finish_renew_calls(claim);
    } else if (claim.at() == phase::waiting && std::exchange(claim.attempting, false) &&
               claim.terms->retry) {
        ask_policy(claim, error, now);
    }
    claim.renew_at =
        judge_->error_ends_renewal() && claim.at() == phase::held
            ? base::never
            : now + back_off(claim.failures, nanoseconds{claim.lease - claim.terms->grace} / 10);
    reschedule(claim);
}

// Tells the holder, before the store can give the name to another. The claim itself stays until the
// holder lets go or its lease is over at the store: within its grace the holder is still at work.
void engine::lose(claim_state& claim, std::string const& why, base::instant now) {
    auto const queue = claim.queue;
    if (claim.hold != nullptr && claim.hold->lose(why)) {
        ++metrics_.losses;
        todo.losses.push_back(claim.hold);
        todo.warnings.push_back("lost '" + claim.terms->spec->name + "': " + why);
    }
    finish_renew_calls(claim);
    queue->current = nullptr;
    queue->offered = false;
    claim.queue = nullptr;
    bool const used_up = claim.terms->max_hold && claim.hold != nullptr &&
                         now >= base::after(claim.hold->granted(), *claim.terms->max_hold) &&
                         now < claim.lost_at();
    if (used_up || claim.hold == nullptr) {
        settle(claim, now);
    } else {
        claim.enter(claim_phase::over);
        claim.surely_over = claim.deadline + claim.lease + 4 * judgement::margin(claim.lease);
        reschedule(claim);
    }
    if (!queue->waiting.empty() && queue->current == nullptr) start(queue, now);
}

// --- renewal on demand -------------------------------------------------------------------------

void engine::renew(hold_state& held, std::optional<milliseconds> lease, renew_call& call,
                   base::instant now) {
    turn const at{*this, now};
    auto* const claim = held.held_by;
    if (claim == nullptr || claim->at() != claim_phase::held || claim->hold.get() != &held ||
        now >= claim->lost_at()) {
        call.done = true;
        return call.to->completed();
    }
    if (lease) {
        if (*lease < claim->lease) claim->shorter_since = now;
        claim->lease = *lease;
    }
    call.asked = now;
    claim->renew_calls.push_back(call);
    renew_now(*claim, now);
}

void engine::withdraw(renew_call& call) noexcept {
    if (call.is_linked()) call.unlink();
}

// Ends the calls that were waiting when what is answered now was sent.
void engine::finish_renew_calls(claim_state& claim, base::instant sent) {
    while (!claim.renew_calls.empty() && claim.renew_calls.front().asked <= sent) {
        auto& call = claim.renew_calls.front();
        claim.renew_calls.pop_front();
        call.done = true;
        call.to->completed();
    }
}

// --- notices -----------------------------------------------------------------------------------

void engine::on_notice(seam::notice const& what, base::instant now) {
    turn const at{*this, now};
    using phase = claim_phase;
    if (auto const* const granted = std::get_if<seam::claim_granted>(&what)) {
        auto* const claim = granted->id.client == set_.self ? find(granted->id.number) : nullptr;
        if (claim == nullptr) return;
        if (claim->settle_waits) return settle_now(*claim, now);  // it holds what nobody wants
        if (claim->at() != phase::waiting && claim->at() != phase::submitting) return;
        auto const& reading = clock_.latest();
        // A grant from before the store said that it waits has ended since: the message is an old one.
        if (!reading || !judge_->can_have_begun(*reading, granted->held.began, now) ||
            granted->held.began < claim->seen_waiting) {
            claim->hinted = !claim->in_store_line;
            if (claim->in_store_line) renew_now(*claim, now);  // ask: it is a hint
            return;
        }
        on_granted(*claim, granted->held,
                   judge_->reading_for_notice(*reading, granted->held.began, now), now);
    } else if (auto const* const gone = std::get_if<seam::claim_gone>(&what)) {
        auto* const claim = gone->id.client == set_.self ? find(gone->id.number) : nullptr;
        if (claim == nullptr || (claim->at() != phase::held && claim->at() != phase::waiting))
            return;
        claim->cold().gone_hint = gone->why;
        if (claim->at() == phase::held && judge_->notice_is_truth())
            return lose(*claim, gone->why, now);
        if (claim->at() == phase::held || claim->in_store_line)
            renew_now(*claim, now);  // ask: it is a hint
    } else if (auto const* const crowd = std::get_if<seam::name_contended>(&what)) {
        auto* const claim = crowd->id.client == set_.self ? find(crowd->id.number) : nullptr;
        if (claim != nullptr && claim->at() == phase::parked) {
            auto const found = unpark(*claim);
            if (found == parked_state::free) settle(*claim, now);
            if (found != parked_state::used) return;
        }
        if (claim != nullptr && claim->at() == phase::held) claim->contended = true;
    } else if (auto const* const key = std::get_if<seam::changed>(&what)) {
        on_changed(key->key, now);
    } else if (auto const* const session = std::get_if<seam::session_changed>(&what)) {
        on_session(*session, now);
    }
}

// A watched name may be free: those who wait for it without the store's line try again. Those in the
// line ask when it will move.
void engine::on_changed(seam::cell_key const& key, base::instant now) {
    tell_tasks(key);
    if (key.part != seam::holders_part) return;
    std::vector<claim_state*> ready;
    for (auto const& [number, claim] : claims_)
        if (claim->terms->spec->name == key.name) ready.push_back(claim);
    std::ranges::sort(ready, {}, [](claim_state const* claim) { return claim->subject.id.number; });
    for (auto* const claim : ready) {
        if (claim->at() == claim_phase::submitting)
            claim->hinted = true;  // its answer may be older
        if (claim->at() != claim_phase::waiting) continue;
        claim->in_store_line ? renew_now(*claim, now) : submit(*claim, now);
    }
}

void engine::on_session(seam::session_changed const& what, base::instant now) {
    if (what.became == seam::session_changed::state::restored) {
        watched_.clear();
        renew_watches();
    }
    std::vector<claim_state*> all;
    for (auto const& [number, claim] : claims_)
        all.push_back(claim);
    std::ranges::sort(all, {}, [](claim_state const* claim) { return claim->subject.id.number; });
    std::vector<claim_state*> renewals;
    for (auto* const claim : all) {
        bool const held = claim->at() == claim_phase::held;
        switch (what.became) {
        case seam::session_changed::state::in_doubt:
            if (held && claim->failures == 0) {
                claim->failures = 1;
                ++metrics_.doubts;
                if (claim->hold != nullptr) claim->hold->extend(claim->lost_at(), true);
            }
            break;
        case seam::session_changed::state::lost:
            if (held) lose(*claim, what.why, now);
            break;
        case seam::session_changed::state::restored:
            if (held || (claim->at() == claim_phase::waiting && claim->in_store_line))
                renewals.push_back(claim);
            break;
        }
    }
    if (!renewals.empty()) send_renewals(renewals, now);
}

}  // namespace holdfast::core
