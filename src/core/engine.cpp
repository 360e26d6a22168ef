#include "core/engine.hpp"

#include <algorithm>
#include <utility>

#include "core/refusals.hpp"

namespace holdfast::core {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// How much earlier than due a renewal may be sent, so that many go in one batch: a sixteenth of the
// interval costs little and makes a hundred thousand leases a few batches per second.
constexpr int batch_window = 16;

constexpr milliseconds first_back_off{10};

// The name that a request of its own is about; null when it is about none in particular.
std::string const* name_of(seam::request const& what) {
    if (auto const* const read = std::get_if<seam::read>(&what)) return &read->key.name;
    if (auto const* const swap = std::get_if<seam::swap>(&what)) return &swap->key.name;
    if (auto const* const adjust = std::get_if<seam::adjust>(&what)) return &adjust->subject.name();
    if (auto const* const evict = std::get_if<seam::evict>(&what)) return &evict->name;
    if (auto const* const look = std::get_if<seam::inspect>(&what); look && look->exact)
        return &look->prefix;
    return nullptr;
}

// What one turn of the timer does at most: the lock is given up between two of them.
constexpr int most_timers = 4096;

}  // namespace

engine::engine(settings with)
    : set_{std::move(with)},
      judge_{set_.judge != nullptr ? set_.judge : std::make_shared<judgement const>()},
      random_{set_.seed} {}

engine::~engine() {
    scripts_.clear();  // those that clean up may still be under way
    for (auto const& [number, it] : tenures_) {
        if (it->of != nullptr) it->of->now = nullptr;
        if (it->user != nullptr) it->user->held_by = nullptr;
        it->renew_calls.clear();
        delete it;
    }
}

// --- time --------------------------------------------------------------------------------------

base::instant engine::next_due() const noexcept {
    return agenda_.empty() ? base::never : agenda_.top()->due;
}

void engine::schedule(timed& it, base::instant due) {
    it.due = due;
    if (due == base::never) {
        agenda_.remove(it);
    } else {
        agenda_.place(it);
    }
}

void engine::reschedule(tenure& it) { schedule(it, due_of(it)); }

base::instant engine::due_of(tenure const& it) const {
    using phase = claim_phase;
    switch (it.at()) {
    case phase::submitting: return std::min(it.asking ? it.answer_by : it.try_at, patience_end(it));
    case phase::waiting:
        return std::min(
            {it.asking ? it.answer_by : std::min(it.renew_at, it.try_at), patience_end(it)});
    case phase::confirming:
        return std::min(it.asking ? it.answer_by : it.renew_at, patience_end(it));
    case phase::held: {
        auto due = std::min(it.lost_at(), it.asking ? it.answer_by : it.renew_at);
        if (it.user != nullptr && it.on->max_hold)
            due = std::min(due, base::after(it.user->granted(), *it.on->max_hold));
        return due;
    }
    case phase::parked: return std::min(it.renew_at, it.lost_at());
    case phase::over: return it.surely_over;
    case phase::ending: return std::min(it.asking ? it.answer_by : it.try_at, it.surely_over);
    }
    return base::never;
}

// When a silent store is given up for the calls that have no deadline of their own.
base::instant engine::patience_end(tenure const& it) const {
    if (it.silent_since == base::never || it.of == nullptr) return base::never;
    bool const any = std::ranges::any_of(
        it.of->calls, [](acquire_call const& call) { return call.due == base::never; });
    return any ? base::after(it.silent_since, set_.patience) : base::never;
}

void engine::on_time(base::instant now) {
    turn const at{*this, now};
    std::vector<tenure*> renewals;
    for (int i = 0; i < most_timers && !agenda_.empty() && agenda_.top()->due <= now; ++i) {
        auto& top = *agenda_.top();
        switch (top.what) {
        case timed::kind::acquire: on_deadline(static_cast<acquire_call&>(top), now); break;
        case timed::kind::operation:
            attempt_operation(static_cast<operation_call&>(top), now);
            break;
        case timed::kind::script:
            schedule(top, base::never);
            wake(static_cast<script_call&>(top));
            break;
        case timed::kind::tenure: on_due(static_cast<tenure&>(top), now, renewals); break;
        }
    }
    // Those that are nearly due go along. The queue is ordered, so they stand at its front.
    while (!renewals.empty() && !agenda_.empty()) {
        auto& top = *agenda_.top();
        if (top.what != timed::kind::tenure) break;
        auto& it = static_cast<tenure&>(top);
        bool const keeping = it.at() == claim_phase::held || it.at() == claim_phase::waiting;
        if (!keeping || it.asking || it.due != it.renew_at ||
            it.renew_at - it.on->renew_every / batch_window > now)
            break;
        renewals.push_back(&it);
        it.asking = true;
        it.answer_by = base::never;  // set when it is sent, in a moment
        reschedule(it);
    }
    if (!renewals.empty()) send_renewals(renewals, now);
}

void engine::on_due(tenure& it, base::instant now, std::vector<tenure*>& renewals) {
    using phase = claim_phase;
    if (it.at() == phase::parked) {
        auto const what = unpark(it);
        if (what == lane_state::gone) return;
        if (what == lane_state::free) return settle(it, now);
    }
    if (it.at() == phase::held && now >= it.lost_at())
        return lose(it, "no renewal was confirmed before the deadline", now);
    if (it.at() == phase::held && it.user != nullptr && it.on->max_hold &&
        now >= base::after(it.user->granted(), *it.on->max_hold))
        return lose(it, "it was held for the longest time allowed (max_hold)", now);
    if ((it.at() == phase::over || it.at() == phase::ending) && now >= it.surely_over) {
        tell_release(it, release_outcome::unknown);
        return destroy(it);
    }
    if (now >= patience_end(it)) return fail_impatient(it, now);
    if (it.asking && now >= it.answer_by) {
        it.asking = false;
        ++metrics_.requests_failed;
        auto silence = it.last_error();  // what is known to be wrong says more
        if (!silence) silence = silent_store();
        if (it.at() == phase::submitting) return on_submit_failure(it, silence, now);
        if (it.at() == phase::ending) return on_settle_failure(it, silence, now);
        return on_renewal_failure(it, silence, now);
    }
    if (it.at() == phase::ending) return send_settle(it, now);
    bool const by_store =
        it.at() != phase::submitting && (it.at() != phase::waiting || it.in_store_line);
    if (!by_store) return submit(it, now);
    it.attempting = it.at() == phase::waiting && now >= it.try_at;
    it.try_at = base::never;
    it.asking = true;
    it.answer_by = base::never;  // set when it is sent, in a moment
    reschedule(it);
    renewals.push_back(&it);
}

std::chrono::nanoseconds engine::back_off(int failures, nanoseconds cap) {
    if (failures <= 1) return nanoseconds::zero();  // the first failure is tried again at once
    auto const doublings = std::min(failures - 2, 20);
    auto const span = std::min<nanoseconds>(cap, first_back_off * (1LL << doublings));
    return span / 2 + jitter(span / 2);
}

std::chrono::nanoseconds engine::jitter(nanoseconds span) {
    if (span <= nanoseconds::zero()) return nanoseconds::zero();
    return nanoseconds{random_.below(static_cast<std::uint64_t>(span.count()))};
}

// --- sending and answers -----------------------------------------------------------------------

void engine::send(purpose why, seam::request request, std::uint64_t subject, base::instant now,
                  std::vector<renewed_claim> batch) {
    auto const id = pending_.add({why, now, subject, std::move(batch)});
    todo.requests.push({id, std::move(request)});
    ++metrics_.requests;
}

void engine::on_reply(seam::request_id id, seam::reply const& answer, base::instant now) {
    turn const at{*this, now};
    auto const asked = pending_.take(id);
    if (!asked) return;  // a reply that came twice
    auto const& was = *asked;
    if (auto const* const failed = std::get_if<seam::failure>(&answer.body)) {
        ++metrics_.requests_failed;
        watched_.clear();  // a connection that broke has lost them: the next submit asks again
        return on_failure(was, failed->error, now);
    }
    clock_.note({was.sent, now, answer.now});
    dispatch(was, answer, now);
}

void engine::dispatch(pending_request const& was, seam::reply const& answer, base::instant now) {
    switch (was.purpose) {
    case purpose::hello: return on_clock(now);
    case purpose::watch: return;
    case purpose::look:
        if (auto* const it = find(was.subject)) on_look(*it, answer, now);
        return;
    case purpose::renew: return on_renewed(was, answer, now);
    case purpose::operation: return on_operation_reply(was, answer);
    case purpose::submit:
        if (auto* const it = find(was.subject)) on_submit_reply(*it, was, answer, now);
        return;
    case purpose::settle:
        if (auto* const it = find(was.subject))
            if (auto const* const ended = std::get_if<seam::settled>(&answer.body))
                on_settled(*it, *ended, answer.now, now);
        return;
    }
}

void engine::on_failure(pending_request const& was, base::error const& error, base::instant now) {
    switch (was.purpose) {
    case purpose::watch:         // the slow poll stands behind it
    case purpose::look: return;  // the next renewal looks again
    case purpose::hello: {
        for (auto const number : clock_.answered())
            if (auto* const it = find(number); it != nullptr && it->at() == claim_phase::submitting)
                on_submit_failure(*it, error, now);
        return;
    }
    case purpose::submit:
        if (auto* const it = find(was.subject);
            it != nullptr && it->at() == claim_phase::submitting)
            on_submit_failure(*it, error, now);
        return;
    case purpose::settle:
        if (auto* const it = find(was.subject); it != nullptr && it->at() == claim_phase::ending)
            on_settle_failure(*it, error, now);
        return;
    case purpose::renew:
        for (auto const& [number, lease] : was.batch)
            if (auto* const it = find(number); it != nullptr && it->asking)
                on_renewal_failure(*it, error, now);
        return;
    case purpose::operation:
        if (auto const found = operations_.find(was.subject); found != operations_.end()) {
            auto& call = *found->second;
            call.in_flight = false;
            if (!error.is(errc::store_unavailable) || now >= call.deadline || call.is_sent_once())
                return finish(call, error);
            call.error = error;
            schedule(call,
                     std::min(call.deadline, now + back_off(++call.failures, longest_back_off)));
        }
        return;
    }
}

tenure* engine::find(claim_number number) noexcept {
    auto const found = tenures_.find(number);
    return found == tenures_.end() ? nullptr : found->second;
}

void engine::destroy(tenure& it) {
    agenda_.remove(it);
    finish_renew_calls(it);
    if (it.user != nullptr) it.user->held_by = nullptr;
    if (it.of != nullptr && it.of->now == &it) it.of->now = nullptr;
    bool const had_place = it.settles_in_window;
    tenures_.erase(it.subject.id.number);
    delete &it;
    if (!had_place) return;
    settlements_.leave();
    settle_next();
}

void engine::complete(acquire_call& call, verdict outcome, base::error error) {
    schedule(call, base::never);
    if (call.ticket != 0) asked_.erase(std::exchange(call.ticket, 0));
    call.outcome = outcome;
    call.error = std::move(error);
    if (outcome == verdict::busy || outcome == verdict::stopped) ++metrics_.busy;
    if (outcome == verdict::failed) ++metrics_.failures;
    call.to->completed();
}

// --- operations --------------------------------------------------------------------------------

void engine::begin(operation_call& call, base::instant now) {
    turn const at{*this, now};
    if (closed_ && !call.cleans_up) {
        call.error = closed_client();
        call.done = true;
        return call.to->completed();
    }
    call.ticket = ++last_ticket_;
    operations_.emplace(call.ticket, &call);
    attempt_operation(call, now);
}

void engine::attempt_operation(operation_call& call, base::instant now) {
    if (now >= call.deadline) {
        return finish(call, call.error ? call.error : silent_store());
    }
    if (auto const* const name = name_of(call.ask))
        settle_before(std::hash<std::string>{}(*name), now);
    send(purpose::operation, call.ask, call.ticket, now);
    call.in_flight = true;
    // A request that hangs is sent again: nearly all are harmless when they arrive twice.
    auto const again = call.is_sent_once() ? base::never : now + set_.request_timeout;
    schedule(call, std::min(call.deadline, again));
}

void engine::on_operation_reply(pending_request const& was, seam::reply const& answer) {
    auto const found = operations_.find(was.subject);
    if (found == operations_.end()) return;
    auto& call = *found->second;
    call.answer = answer;
    finish(call, {});
}

void engine::finish(operation_call& call, base::error error) {
    withdraw(call);
    call.error = std::move(error);
    call.done = true;
    call.to->completed();
}

void engine::withdraw(operation_call& call) {
    schedule(call, base::never);
    operations_.erase(call.ticket);
}

}  // namespace holdfast::core
