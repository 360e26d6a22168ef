#include "core/engine.hpp"

#include <algorithm>
#include <utility>

#include "core/refusals.hpp"

namespace holdfast::core {

engine::engine(settings with)
    : set_{std::move(with)},
      judge_{set_.judge != nullptr ? set_.judge : std::make_shared<judgement const>()},
      random_{set_.seed} {}

engine::~engine() {
    for (auto const& [number, claim] : claims_) {
        if (claim->queue != nullptr) claim->queue->current = nullptr;
        if (claim->hold != nullptr) claim->hold->held_by = nullptr;
        claim->renew_calls.clear();
        delete claim;
    }
}

// --- sending and answers -----------------------------------------------------------------------

void engine::send(pending_request about, seam::request request) {
    auto const id = pending_.add(std::move(about));
    todo.requests.push({id, std::move(request)});
    ++metrics_.requests;
}

seam::lane_id engine::lane_of(std::string_view name) const {
    return set_.lane_of ? set_.lane_of(name) : seam::lane_id{};
}

void engine::on_reply(seam::request_id id, seam::reply const& answer, base::instant now) {
    turn const at{*this, now};
    auto const asked = pending_.take(id);
    if (!asked) return;  // a reply that came twice
    auto const& was = *asked;
    if (was.purpose == purpose::renew) renewals_.leave(*was.lane, was.subject);
    if (auto const* const failed = std::get_if<seam::failure>(&answer.body)) {
        ++metrics_.requests_failed;
        name_watches_.on_disconnection();
        if (was.lane && answer.clock != seam::clock_id{}) clocks_.expect(*was.lane, answer.clock);
        return on_failure(was, failed->error, now);
    }
    if (was.lane) {
        auto const from = judge_->source_of({*was.lane, answer.clock});
        clocks_.note(from.lane, {from.clock, {was.sent, now, answer.now}});
    }
    dispatch(was, answer, now);
}

void engine::dispatch(pending_request const& was, seam::reply const& answer, base::instant now) {
    switch (was.purpose) {
    case purpose::hello: return on_clock(*was.lane, now);
    case purpose::watch: return;
    case purpose::look:
        if (auto* const claim = find(was.subject)) on_look(*claim, answer, now);
        return;
    case purpose::renew: on_renewed(was, answer, now); return send_renewals(now);
    case purpose::operation: return on_operation_reply(was, answer);
    case purpose::submit:
        if (auto* const claim = find(was.subject)) on_submit_reply(*claim, was, answer, now);
        return;
    case purpose::settle:
        if (auto* const claim = find(was.subject)) on_settled(*claim, answer, now);
        return;
    }
}

void engine::on_failure(pending_request const& was, base::error const& error, base::instant now) {
    switch (was.purpose) {
    case purpose::watch:         // the slow poll stands behind it
    case purpose::look: return;  // the next renewal looks again
    case purpose::hello: {
        for (auto const number : clocks_.take_waiting(*was.lane))
            if (auto* const claim = find(number);
                claim != nullptr && claim->at() == claim_phase::submitting)
                on_submit_failure(*claim, error, now);
        return;
    }
    case purpose::submit:
        if (auto* const claim = find(was.subject);
            claim != nullptr && claim->at() == claim_phase::submitting)
            on_submit_failure(*claim, error, now);
        return;
    case purpose::settle:
        if (auto* const claim = find(was.subject);
            claim != nullptr && claim->at() == claim_phase::ending)
            on_settle_failure(*claim, error, now);
        return;
    case purpose::renew:
        for (auto const& [number, lease] : was.batch)
            if (auto* const claim = find(number); claim != nullptr && claim->asking)
                on_renewal_failure(*claim, error, now);
        return send_renewals(now);
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

// --- turns and tasks ---------------------------------------------------------------------------

engine::turn::turn(engine& of, base::instant now) noexcept : of_{of} {
    of_.now_ = std::max(of_.now_, now);
    ++of_.depth_;
}

engine::turn::~turn() {
    if (of_.depth_ == 1) of_.tasks_.run_ready(of_.now_);
    --of_.depth_;
}

void engine::begin(task_call& call, base::instant now) {
    turn const at{*this, now};
    tasks_.begin(call, *this);
}

void engine::stop(task_call& call, base::instant now) {
    turn const at{*this, now};
    tasks_.stop(call);
}

void engine::check_open() const {
    if (closed_) closed_client().raise();
}

void engine::unwatch(seam::cell_key const& key, base::instant now) {
    turn const at{*this, now};
    if (!watches_.end(key) || closed_) return;
    // The store keeps one watch of a client and a key, whoever asked: claims may wait for the same.
    if (key.part == seam::holders_part && name_watches_.has(key.name)) return;
    send({.purpose = purpose::watch, .sent = now, .lane = lane_of(key.name)}, seam::unwatch{key});
}

// --- claims ------------------------------------------------------------------------------------

claim_state* engine::find(claim_number number) noexcept {
    auto const found = claims_.find(number);
    return found == claims_.end() ? nullptr : found->second;
}

void engine::destroy(claim_state& claim) {
    timers_.remove(claim);
    finish_renew_calls(claim);
    if (claim.hold != nullptr) claim.hold->held_by = nullptr;
    if (claim.queue != nullptr && claim.queue->current == &claim) claim.queue->current = nullptr;
    if (claim.listed) waiting_.remove(claim.terms->spec->hash, claim.subject.id.number);
    unwatch_name(claim);
    bool const had_place = claim.settles_in_window;
    auto const lane = claim.lane;
    claims_.erase(claim.subject.id.number);
    delete &claim;
    if (!had_place) return;
    settlements_.leave(lane);
    settle_next(lane);
}

// The only way from one phase to another.
void engine::enter(claim_state& claim, claim_phase next) {
    claim.enter(next);
    bool const wants = next == claim_phase::submitting || next == claim_phase::waiting;
    if (wants == claim.listed) return;
    claim.listed = wants;
    if (wants) return waiting_.add(claim.terms->spec->hash, claim.subject.id.number);
    waiting_.remove(claim.terms->spec->hash, claim.subject.id.number);
    unwatch_name(claim);
}

void engine::watch_name(claim_state& claim, base::instant now) {
    auto const& name = claim.terms->spec->name;
    bool const ask = std::exchange(claim.watches_name, true) ? name_watches_.ask_again(name)
                                                             : name_watches_.add(name);
    if (!ask) return;
    seam::cell_key key{claim.terms->spec->kind, name, seam::holders_part};
    send({.purpose = purpose::watch, .sent = now, .lane = claim.lane}, seam::watch{std::move(key)});
}

void engine::unwatch_name(claim_state& claim) {
    if (!std::exchange(claim.watches_name, false)) return;
    auto const& spec = *claim.terms->spec;
    bool const others = claim.queue != nullptr && !claim.queue->waiting.empty();
    if (!name_watches_.remove(spec.name, others && !closed_) || closed_) return;
    seam::cell_key key{spec.kind, spec.name, seam::holders_part};
    if (watches_.has(key)) return;  // a task watches the same
    send({.purpose = purpose::watch, .sent = now_, .lane = claim.lane},
         seam::unwatch{std::move(key)});
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

}  // namespace holdfast::core
