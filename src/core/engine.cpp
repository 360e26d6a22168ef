#include "core/engine.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::core {

using std::chrono::milliseconds;

engine::engine(settings with) : parts_{std::move(with)} {}

engine::turn::turn(engine& of, base::instant now) noexcept : of_{of} {
    auto& current = of_.parts_.shared.now;
    current = std::max(current, now);
}

engine::turn::~turn() { of_.parts_.tasks.run_ready(of_.parts_.shared.now); }

// --- calls -------------------------------------------------------------------------------------

void engine::begin(acquire_call& call, base::instant now, base::instant deadline) {
    turn const at{*this, now};
    parts_.acquires.begin(call, now, deadline);
}

void engine::withdraw(acquire_call& call, base::instant now) {
    turn const at{*this, now};
    parts_.acquires.withdraw(call, now);
}

void engine::take_offer(acquire_call& call, base::instant now) {
    turn const at{*this, now};
    parts_.acquires.take_offer(call, now);
}

void engine::release(std::shared_ptr<hold_state> const& held, base::instant now,
                     release_call* call) {
    turn const at{*this, now};
    parts_.releases.release(held, now, call);
}

void engine::consume(std::shared_ptr<hold_state> const& held, base::instant now) {
    turn const at{*this, now};
    parts_.releases.consume(held, now);
}

void engine::release(wait_queue& queue, std::uint64_t generation, base::instant now) {
    turn const at{*this, now};
    parts_.releases.release(queue, generation, now);
}

void engine::withdraw(release_call& call) noexcept { parts_.settlements.withdraw(call); }

void engine::abandon_parked(wait_queue& queue, base::instant now) {
    turn const at{*this, now};
    if (queue.current != nullptr) parts_.parked.give_back(*queue.current, now);
}

void engine::renew(hold_state& held, std::optional<milliseconds> lease, renew_call& call,
                   base::instant now) {
    turn const at{*this, now};
    parts_.holds.renew(held, lease, call, now);
}

void engine::withdraw(renew_call& call) noexcept {
    if (call.is_linked()) call.unlink();
}

std::optional<seam::convert> engine::weaken(hold_state& held, terms_ptr to, base::instant now) {
    turn const at{*this, now};
    return parts_.releases.weaken(held, std::move(to), now);
}

void engine::begin(operation_call& call, base::instant now) {
    turn const at{*this, now};
    parts_.operations.begin(call, now);
}

void engine::withdraw(operation_call& call) { parts_.operations.withdraw(call); }

void engine::begin(task_call& call, base::instant now) {
    turn const at{*this, now};
    parts_.tasks.begin(call, parts_);
}

void engine::stop(task_call& call, base::instant now) {
    turn const at{*this, now};
    parts_.tasks.stop(call);
}

void engine::unwatch(seam::cell_key const& key, base::instant now) {
    turn const at{*this, now};
    if (!parts_.watches.end(key) || parts_.shared.closed) return;
    // The store keeps one watch of a client and a key, whoever asked: claims may wait for the same.
    if (key.part == seam::holders_part && parts_.claims.is_watched(key.name)) return;
    parts_.shared.send(
        {.purpose = request_purpose::watch, .sent = now, .lane = parts_.shared.lane_of(key.name)},
        seam::unwatch{key});
}

// --- events ------------------------------------------------------------------------------------

void engine::on_reply(seam::request_id id, seam::reply const& answer, base::instant now) {
    turn const at{*this, now};
    auto const asked = parts_.shared.pending.take(id);
    if (!asked) return;  // a reply that came twice
    auto const& was = *asked;
    auto& clocks = parts_.shared.clocks;
    if (auto const* const failed = std::get_if<seam::failure>(&answer.body)) {
        ++parts_.shared.counters.requests_failed;
        parts_.claims.on_disconnection();
        if (was.lane && answer.clock != seam::clock_id{}) clocks.expect(*was.lane, answer.clock);
        return on_failure(was, failed->error, now);
    }
    if (was.lane) {
        auto const from = parts_.shared.judge->source_of({*was.lane, answer.clock});
        clocks.note(from.lane, {from.clock, {was.sent, now, answer.now}});
    }
    dispatch(was, answer, now);
}

void engine::dispatch(pending_request const& was, seam::reply const& answer, base::instant now) {
    using enum request_purpose;
    switch (was.purpose) {
    case hello: return parts_.submits.on_clock(*was.lane, now);
    case watch: return;
    case look:
        if (auto* const claim = parts_.claims.find(was.subject))
            parts_.deadlocks.on_reply(*claim, answer, now);
        return;
    case renew:
        parts_.renewals.on_answer(was);
        parts_.holds.on_reply(was, answer, now);
        return parts_.renewals.send_due(now);
    case operation: return parts_.operations.on_reply(was, answer);
    case submit:
        if (auto* const claim = parts_.claims.find(was.subject))
            parts_.submits.on_reply(*claim, was, answer, now);
        return;
    case settle:
        if (auto* const claim = parts_.claims.find(was.subject))
            parts_.settlements.on_reply(*claim, answer, now);
        return;
    }
}

void engine::on_failure(pending_request const& was, base::error const& error, base::instant now) {
    using enum request_purpose;
    auto const find_at = [&](claim_phase phase) {
        auto* const claim = parts_.claims.find(was.subject);
        return claim != nullptr && claim->at() == phase ? claim : nullptr;
    };
    switch (was.purpose) {
    case watch:         // the slow poll stands behind it
    case look: return;  // the next renewal looks again
    case hello: return parts_.submits.on_clock_failure(*was.lane, error, now);
    case submit:
        if (auto* const claim = find_at(claim_phase::submitting))
            parts_.submits.on_failure(*claim, error, now);
        return;
    case settle:
        if (auto* const claim = find_at(claim_phase::ending))
            parts_.settlements.on_failure(*claim, error, now);
        return;
    case renew:
        parts_.renewals.on_answer(was);
        parts_.holds.on_failure(was, error, now);
        return parts_.renewals.send_due(now);
    case operation: return parts_.operations.on_failure(was, error, now);
    }
}

void engine::on_notice(seam::notice const& what, base::instant now) {
    turn const at{*this, now};
    parts_.notices.on_notice(what, now);
}

void engine::on_time(base::instant now) {
    turn const at{*this, now};
    parts_.timing.on_time(now);
}

void engine::answer_retry(std::uint64_t ticket, std::optional<milliseconds> delay,
                          base::instant now) {
    turn const at{*this, now};
    parts_.acquires.answer_retry(ticket, delay, now);
}

void engine::close(base::instant now) {
    turn const at{*this, now};
    if (std::exchange(parts_.shared.closed, true)) return;
    base::error const why{errc::closed, "the client was closed"};
    for (auto* const claim : parts_.claims.all())
        close_claim(*claim, why, now);
    parts_.operations.close(why);
    parts_.tasks.close();
}

void engine::end_releases(base::instant now) {
    turn const at{*this, now};
    for (auto* const claim : parts_.claims.all())
        parts_.settlements.tell_release(*claim, release_outcome::unknown);
}

void engine::close_claim(claim_state& claim, base::error const& why, base::instant now) {
    if (claim.at() == claim_phase::parked &&
        parts_.parked.unpark(claim) == parked_holds::state::gone)
        return;
    if (claim.at() == claim_phase::ending) {
        if (claim.settle_waits) parts_.settlements.settle_now(claim, now);
        return;
    }
    if (claim.queue != nullptr) parts_.acquires.end_all(*claim.queue, verdict::failed, why);
    if (claim.hold != nullptr) {
        auto const least = claim.hold->granted() + claim.terms->min_hold;
        if (claim.at() == claim_phase::held && now < claim.lost_at() && now < least)
            claim.keep_until = least;
        (void)parts_.holds.end_hold(claim.hold, why.text);
        claim.hold->held_by = nullptr;
        claim.hold = nullptr;
    }
    parts_.acquires.abandon(claim, now);
}

// --- what it knows -----------------------------------------------------------------------------

base::instant engine::next_due() const noexcept {
    auto const& timers = parts_.shared.timers;
    return timers.empty() ? base::never : timers.top()->due;
}

metrics const& engine::counters() {
    auto& counters = parts_.shared.counters;
    counters.failures += parts_.tasks.take_failures();
    for (auto const& [number, claim] : parts_.claims.by_number())
        if (claim->at() == claim_phase::parked) parts_.parked.count_uses(*claim->queue);
    return counters;
}

}  // namespace holdfast::core
