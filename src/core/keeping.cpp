// The engine's part that keeps holds: renewal in batches, doubt, and loss before the deadline.
#include <algorithm>
#include <utility>

#include "core/engine.hpp"
#include "core/refusals.hpp"

namespace holdfast::core {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Claims in one renewal: large enough to be cheap, small enough not to stall a store for others.
constexpr std::size_t batch_size = 512;

constexpr milliseconds shortest_answer{20};

}  // namespace

void engine::send_renewals(std::vector<tenure*> const& due, base::instant now) {
    for (std::size_t from = 0; from < due.size(); from += batch_size) {
        auto const to = std::min(due.size(), from + batch_size);
        seam::renew request;
        std::vector<renewed_claim> batch;
        request.items.reserve(to - from);
        batch.reserve(to - from);
        auto soonest = base::never;
        for (auto i = from; i < to; ++i) {
            auto& it = *due[i];
            request.items.push_back({it.subject, it.lease});
            batch.push_back({it.subject.id.number, it.lease});
            it.asking = true;
            if (it.silent_since == base::never) it.silent_since = now;
            // A sixth of the lease: enough tries fit between the first renewal and the loss.
            it.answer_by = now + std::clamp<nanoseconds>(nanoseconds{it.lease - it.on->grace} / 6,
                                                         shortest_answer, set_.request_timeout);
            soonest = std::min(soonest, it.answer_by);
            reschedule(it);
        }
        request.answer_within = std::chrono::ceil<milliseconds>(soonest - now);
        send(purpose::renew, std::move(request), 0, now, std::move(batch));
    }
}

void engine::renew_now(tenure& it, base::instant now) {
    // An attempt of a retry policy that is under way stays one: whichever answer comes first is its.
    send_renewals({&it}, now);
}

void engine::on_renewed(pending_request const& was, seam::reply const& answer, base::instant now) {
    auto const* const results = std::get_if<seam::renewed>(&answer.body);
    if (results == nullptr || results->items.size() != was.batch.size()) {
        base::error const strange{errc::store_unavailable, "the store's answer makes no sense"};
        return on_failure(was, strange, now);
    }
    clock_pair const pair{was.sent, now, answer.now};
    for (std::size_t i = 0; i < was.batch.size(); ++i)
        if (auto* const it = find(was.batch[i].number))
            on_renewal(*it, results->items[i], was.batch[i].lease, pair, now);
}

void engine::on_renewal(tenure& it, seam::renewal const& result, milliseconds lease,
                        clock_pair const& pair, base::instant now) {
    using phase = claim_phase;
    using status = seam::renewal::status;
    if (it.at() == phase::over || it.at() == phase::ending || it.at() == phase::submitting) return;
    if (it.at() == phase::parked)
        return;  // a thread may be using it, and the store can take it back
    if (result.now == status::waiting && it.at() != phase::waiting)
        return;  // from before the grant
    it.asking = false;
    it.silent_since = base::never;
    it.forget_error();
    it.failures = 0;
    switch (result.now) {
    case status::alive: return confirm(it, result.held, lease, pair, now);
    case status::waiting: {
        it.seen_waiting = std::max(it.seen_waiting, pair.store);
        auto const its = it.of;
        answer_busy(*its, now);
        if (its->calls.empty()) return;
        plan_wait(it, result.blocked_for, now);
        if (std::exchange(it.attempting, false) && it.on->retry) ask_policy(it, {}, now);
        return;
    }
    case status::gone: break;
    }
    if (it.at() == phase::held) {
        auto const hint = it.gone_hint();
        auto const why = hint.empty() ? hold_gone : hint;
        return lose(it, why, now);
    }
    // The store has forgotten a waiter, or gave it what it has lost since: begin anew. One who waits
    // for a notice may have missed it, and looks for himself.
    auto const its = it.of;
    if (it.on->spec->kind == lock_kind::condition) {
        while (!its->calls.empty()) {
            auto& call = its->calls.front();
            its->calls.pop_front();
            complete(call, verdict::busy);
        }
    }
    it.was_held = it.in_store_line = false;
    abandon(it, now);
    its->now = nullptr;
    if (!its->calls.empty()) start(its, now);
}

void engine::confirm(tenure& it, seam::grant const& grant, milliseconds lease,
                     clock_pair const& pair, base::instant now) {
    using phase = claim_phase;
    ++metrics_.renewals;
    if (it.at() != phase::held) {
        // The grant itself was not heard of. It may be older than any bound on passes allows.
        if (!std::exchange(it.was_held, true)) it.granted = base::instant::min();
        return on_granted(it, grant, pair, now);
    }
    // A copy of its submit was carried out after the hold had ended: others may have been between.
    if (grant.number != it.number) return lose(it, "it had ended and was granted anew", now);
    it.contended = grant.contended;
    auto const ends = judge_->deadline(pair, grant.began, lease);
    it.held_until = std::max(it.held_until, grant.began + lease);
    bool const shorter = pair.sent >= it.shorter_since;
    it.deadline = shorter ? ends : std::max(it.deadline, ends);
    if (shorter) it.shorter_since = base::never;
    it.forget_gone_hint();
    if (it.on->renew) {
        nanoseconds every = it.on->renew_every;
        if (it.lease < it.on->spec->lease)
            every = std::min<nanoseconds>(every, renewal_interval(it.lease, it.on->grace));
        it.renew_at = std::max(now, pair.sent + every - jitter(every / 8));
    } else {
        it.renew_at = base::never;  // what was asked for is done
    }
    if (it.user != nullptr) it.user->extend(it.lost_at(), false);
    finish_renew_calls(it, pair.sent);
    reschedule(it);
}

void engine::on_renewal_failure(tenure& it, base::error const& error, base::instant now) {
    using phase = claim_phase;
    it.asking = false;
    it.rare().error = error;
    ++it.failures;
    if (it.at() == phase::over || it.at() == phase::ending) return;
    if (it.at() == phase::held) {
        if (it.failures == 1) ++metrics_.doubts;
        if (it.user != nullptr) it.user->extend(it.lost_at(), true);
        finish_renew_calls(it);
    } else if (it.at() == phase::waiting && std::exchange(it.attempting, false) && it.on->retry) {
        ask_policy(it, error, now);
    }
    it.renew_at = judge_->error_ends_renewal() && it.at() == phase::held
                      ? base::never
                      : now + back_off(it.failures, nanoseconds{it.lease - it.on->grace} / 10);
    reschedule(it);
}

// Tells the holder, before the store can give the name to another. The claim itself stays until the
// holder lets go or its lease is over at the store: within its grace the holder is still at work.
void engine::lose(tenure& it, std::string const& why, base::instant now) {
    auto const its = it.of;
    if (it.user != nullptr && it.user->lose(why)) {
        ++metrics_.losses;
        todo.losses.push_back(it.user);
        todo.warnings.push_back("lost '" + it.on->spec->name + "': " + why);
    }
    finish_renew_calls(it);
    its->now = nullptr;
    its->offered = false;
    it.of = nullptr;
    bool const used_up = it.on->max_hold && it.user != nullptr &&
                         now >= base::after(it.user->granted(), *it.on->max_hold) &&
                         now < it.lost_at();
    if (used_up || it.user == nullptr) {
        settle(it, now);
    } else {
        it.enter(claim_phase::over);
        it.surely_over = it.deadline + it.lease + 4 * judgement::margin(it.lease);
        reschedule(it);
    }
    if (!its->calls.empty() && its->now == nullptr) start(its, now);
}

// --- renewal on demand -------------------------------------------------------------------------

void engine::renew(grant& held, std::optional<milliseconds> lease, renew_call& call,
                   base::instant now) {
    turn const at{*this, now};
    auto* const it = held.held_by;
    if (it == nullptr || it->at() != claim_phase::held || it->user.get() != &held ||
        now >= it->lost_at()) {
        call.done = true;
        return call.to->completed();
    }
    if (lease) {
        if (*lease < it->lease) it->shorter_since = now;
        it->lease = *lease;
    }
    call.asked = now;
    it->renew_calls.push_back(call);
    renew_now(*it, now);
}

void engine::withdraw(renew_call& call) noexcept {
    if (call.is_linked()) call.unlink();
}

// Ends the calls that were waiting when what is answered now was sent.
void engine::finish_renew_calls(tenure& it, base::instant sent) {
    while (!it.renew_calls.empty() && it.renew_calls.front().asked <= sent) {
        auto& call = it.renew_calls.front();
        it.renew_calls.pop_front();
        call.done = true;
        call.to->completed();
    }
}

// --- notices -----------------------------------------------------------------------------------

void engine::on_notice(seam::notice const& what, base::instant now) {
    turn const at{*this, now};
    using phase = claim_phase;
    if (auto const* const granted = std::get_if<seam::claim_granted>(&what)) {
        auto* const it = granted->id.client == set_.self ? find(granted->id.number) : nullptr;
        if (it == nullptr) return;
        if (it->settle_waits) return settle_now(*it, now);  // it holds what nobody wants
        if (it->at() != phase::waiting && it->at() != phase::submitting) return;
        auto const& reading = clock_.latest();
        // A grant from before the store said that it waits has ended since: the message is an old one.
        if (!reading || !judge_->can_have_begun(*reading, granted->held.began, now) ||
            granted->held.began < it->seen_waiting) {
            it->hinted = !it->in_store_line;
            if (it->in_store_line) renew_now(*it, now);  // ask: it is a hint
            return;
        }
        on_granted(*it, granted->held,
                   judge_->reading_for_notice(*reading, granted->held.began, now), now);
    } else if (auto const* const gone = std::get_if<seam::claim_gone>(&what)) {
        auto* const it = gone->id.client == set_.self ? find(gone->id.number) : nullptr;
        if (it == nullptr || (it->at() != phase::held && it->at() != phase::waiting)) return;
        it->rare().gone_hint = gone->why;
        if (it->at() == phase::held && judge_->notice_is_truth()) return lose(*it, gone->why, now);
        if (it->at() == phase::held || it->in_store_line) renew_now(*it, now);  // ask: it is a hint
    } else if (auto const* const crowd = std::get_if<seam::name_contended>(&what)) {
        auto* const it = crowd->id.client == set_.self ? find(crowd->id.number) : nullptr;
        if (it != nullptr && it->at() == phase::parked) {
            auto const found = unpark(*it);
            if (found == lane_state::free) settle(*it, now);
            if (found != lane_state::used) return;
        }
        if (it != nullptr && it->at() == phase::held) it->contended = true;
    } else if (auto const* const key = std::get_if<seam::changed>(&what)) {
        on_changed(key->key, now);
    } else if (auto const* const session = std::get_if<seam::session_changed>(&what)) {
        on_session(*session, now);
    }
}

// A watched name may be free: those who wait for it without the store's line try again. Those in the
// line ask when it will move.
void engine::on_changed(seam::cell_key const& key, base::instant now) {
    tell_scripts(key);
    if (key.part != seam::holders_part) return;
    std::vector<tenure*> ready;
    for (auto const& [number, it] : tenures_)
        if (it->on->spec->name == key.name) ready.push_back(it);
    std::ranges::sort(ready, {}, [](tenure const* it) { return it->subject.id.number; });
    for (auto* const it : ready) {
        if (it->at() == claim_phase::submitting) it->hinted = true;  // its answer may be older
        if (it->at() != claim_phase::waiting) continue;
        it->in_store_line ? renew_now(*it, now) : submit(*it, now);
    }
}

void engine::on_session(seam::session_changed const& what, base::instant now) {
    if (what.now == seam::session_changed::state::restored) {
        watched_.clear();
        renew_watches();
    }
    std::vector<tenure*> all;
    for (auto const& [number, it] : tenures_)
        all.push_back(it);
    std::ranges::sort(all, {}, [](tenure const* it) { return it->subject.id.number; });
    std::vector<tenure*> renewals;
    for (auto* const it : all) {
        bool const held = it->at() == claim_phase::held;
        switch (what.now) {
        case seam::session_changed::state::in_doubt:
            if (held && it->failures == 0) {
                it->failures = 1;
                ++metrics_.doubts;
                if (it->user != nullptr) it->user->extend(it->lost_at(), true);
            }
            break;
        case seam::session_changed::state::lost:
            if (held) lose(*it, what.why, now);
            break;
        case seam::session_changed::state::restored:
            if (held || (it->at() == claim_phase::waiting && it->in_store_line))
                renewals.push_back(it);
            break;
        }
    }
    if (!renewals.empty()) send_renewals(renewals, now);
}

}  // namespace holdfast::core
