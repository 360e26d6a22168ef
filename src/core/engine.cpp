#include "core/engine.hpp"

#include <algorithm>
#include <utility>

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

template <class... Kinds>
bool is_one_of(seam::reply_body const& body) {
    return (std::holds_alternative<Kinds>(body) || ...);
}

// Whether the answer is of a kind that the request can have.
bool belongs_to(seam::request const& asked, seam::reply_body const& body) {
    struct kinds {
        seam::reply_body const& body;
        bool operator()(seam::hello const&) const { return is_one_of<seam::done>(body); }
        bool operator()(seam::submit const&) const {
            return is_one_of<seam::granted, seam::queued, seam::refused>(body);
        }
        bool operator()(seam::settle const&) const { return is_one_of<seam::settled>(body); }
        bool operator()(seam::renew const&) const { return is_one_of<seam::renewed>(body); }
        bool operator()(seam::convert const&) const {
            return is_one_of<seam::converted, seam::refused>(body);
        }
        bool operator()(seam::adjust const&) const {
            return is_one_of<seam::adjusted, seam::refused>(body);
        }
        bool operator()(seam::read const&) const { return is_one_of<seam::cell>(body); }
        bool operator()(seam::swap const&) const {
            return is_one_of<seam::swapped, seam::conflict, seam::refused>(body);
        }
        bool operator()(seam::watch const&) const { return is_one_of<seam::done>(body); }
        bool operator()(seam::unwatch const&) const { return is_one_of<seam::done>(body); }
        bool operator()(seam::inspect const&) const { return is_one_of<seam::page>(body); }
        bool operator()(seam::evict const&) const { return is_one_of<seam::evicted>(body); }
    };
    return std::visit(kinds{body}, asked);
}

// What one turn of the timer does at most: the lock is given up between two of them.
constexpr int most_timers = 4096;

}  // namespace

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

// --- time --------------------------------------------------------------------------------------

base::instant engine::next_due() const noexcept {
    return timers_.empty() ? base::never : timers_.top()->due;
}

void engine::schedule(timed& entry, base::instant due) {
    entry.due = due;
    if (due == base::never) {
        timers_.remove(entry);
    } else {
        timers_.place(entry);
    }
}

void engine::reschedule(claim_state& claim) { schedule(claim, due_of(claim)); }

base::instant engine::due_of(claim_state const& claim) const {
    using phase = claim_phase;
    switch (claim.at()) {
    case phase::submitting:
        return std::min(claim.asking ? claim.answer_by : claim.try_at, patience_end(claim));
    case phase::waiting:
        return std::min({claim.asking ? claim.answer_by : std::min(claim.renew_at, claim.try_at),
                         patience_end(claim)});
    case phase::confirming:
        return std::min(claim.asking ? claim.answer_by : claim.renew_at, patience_end(claim));
    case phase::held: {
        auto due = std::min(claim.lost_at(), claim.asking ? claim.answer_by : claim.renew_at);
        if (claim.hold != nullptr && claim.terms->max_hold)
            due = std::min(due, base::after(claim.hold->granted(), *claim.terms->max_hold));
        return due;
    }
    case phase::parked: return std::min(claim.renew_at, claim.lost_at());
    case phase::over: return claim.surely_over;
    case phase::ending:
        return std::min(claim.asking ? claim.answer_by : claim.try_at, claim.surely_over);
    }
    return base::never;
}

// When a silent store is given up for the calls that have no deadline of their own.
base::instant engine::patience_end(claim_state const& claim) const {
    if (claim.silent_since == base::never || claim.queue == nullptr) return base::never;
    bool const any = std::ranges::any_of(
        claim.queue->waiting, [](acquire_call const& call) { return call.due == base::never; });
    return any ? base::after(claim.silent_since, set_.patience) : base::never;
}

void engine::on_time(base::instant now) {
    turn const at{*this, now};
    std::vector<claim_state*> renewals;
    for (int i = 0; i < most_timers && !timers_.empty() && timers_.top()->due <= now; ++i) {
        auto& top = *timers_.top();
        switch (top.what) {
        case timed::kind::acquire: on_deadline(static_cast<acquire_call&>(top), now); break;
        case timed::kind::operation:
            attempt_operation(static_cast<operation_call&>(top), now);
            break;
        case timed::kind::task: tasks_.on_timer(static_cast<task_call&>(top)); break;
        case timed::kind::claim: on_due(static_cast<claim_state&>(top), now, renewals); break;
        }
    }
    // Those that are nearly due go along. The queue is ordered, so they stand at its front.
    while (!renewals.empty() && !timers_.empty()) {
        auto& top = *timers_.top();
        if (top.what != timed::kind::claim) break;
        auto& claim = static_cast<claim_state&>(top);
        bool const keeping = claim.at() == claim_phase::held || claim.at() == claim_phase::waiting;
        if (!keeping || claim.asking || claim.due != claim.renew_at ||
            claim.renew_at - claim.terms->renew_every / batch_window > now)
            break;
        renewals.push_back(&claim);
        claim.asking = true;
        claim.answer_by = base::never;  // set when it is sent, in a moment
        reschedule(claim);
    }
    if (!renewals.empty()) send_renewals(std::move(renewals), now);
}

void engine::on_due(claim_state& claim, base::instant now, std::vector<claim_state*>& renewals) {
    using phase = claim_phase;
    if (claim.at() == phase::parked) {
        auto const what = unpark(claim);
        if (what == parked_state::gone) return;
        if (what == parked_state::free) return settle(claim, now);
    }
    if (claim.at() == phase::held && now >= claim.lost_at())
        return lose(claim, "no renewal was confirmed before the deadline", now);
    if (claim.at() == phase::held && claim.hold != nullptr && claim.terms->max_hold &&
        now >= base::after(claim.hold->granted(), *claim.terms->max_hold))
        return lose(claim, "it was held for the longest time allowed (max_hold)", now);
    if ((claim.at() == phase::over || claim.at() == phase::ending) && now >= claim.surely_over) {
        // A claim of a session goes on as long as the session does: somebody must end it.
        if (!set_.abilities.per_claim_lease) return settle(claim, now);
        tell_release(claim, release_outcome::unknown);
        return destroy(claim);
    }
    if (now >= patience_end(claim)) return fail_impatient(claim, now);
    if (claim.asking && now >= claim.answer_by) {
        claim.asking = false;
        ++metrics_.requests_failed;
        auto silence = claim.last_error();  // what is known to be wrong says more
        if (!silence) silence = {errc::store_unavailable, "the store did not answer in time"};
        if (claim.at() == phase::submitting) return on_submit_failure(claim, silence, now);
        if (claim.at() == phase::ending) return on_settle_failure(claim, silence, now);
        return on_renewal_failure(claim, silence, now);
    }
    if (claim.at() == phase::ending) return send_settle(claim, now);
    bool const by_store =
        claim.at() != phase::submitting && (claim.at() != phase::waiting || claim.in_store_line);
    if (!by_store) return submit(claim, now);
    claim.attempting = claim.at() == phase::waiting && now >= claim.try_at;
    claim.try_at = base::never;
    claim.asking = true;
    claim.answer_by = base::never;  // set when it is sent, in a moment
    reschedule(claim);
    renewals.push_back(&claim);
}

std::chrono::nanoseconds engine::back_off(int failures, nanoseconds cap) {
    if (failures <= 1) return nanoseconds::zero();  // the first failure is tried again at once
    auto const doublings = std::min(failures - 2, 20);
    auto const span = std::min<nanoseconds>(cap, first_back_off * (1LL << doublings));
    return span / 2 + jitter(span / 2);
}

base::error engine::senseless_answer() {
    return {errc::store_unavailable, "the store's answer makes no sense"};
}

std::chrono::nanoseconds engine::jitter(nanoseconds span) {
    if (span <= nanoseconds::zero()) return nanoseconds::zero();
    return nanoseconds{random_.below(static_cast<std::uint64_t>(span.count()))};
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
    case purpose::renew: return on_renewed(was, answer, now);
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
    if (closed_) base::raise(errc::closed, "the client was closed");
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

// --- operations --------------------------------------------------------------------------------

void engine::begin(operation_call& call, base::instant now) {
    turn const at{*this, now};
    if (closed_ && !call.cleans_up) {
        call.error = {errc::closed, "the client is closed"};
        call.done = true;
        return call.to->completed();
    }
    call.ticket = ++last_ticket_;
    operations_.emplace(call.ticket, &call);
    attempt_operation(call, now);
}

void engine::attempt_operation(operation_call& call, base::instant now) {
    if (now >= call.deadline) {
        base::error silence{errc::store_unavailable, "the store did not answer in time"};
        return finish(call, call.error ? call.error : silence);
    }
    auto const* const name = name_of(call.ask);
    if (name != nullptr) settle_before(std::hash<std::string>{}(*name), now);
    pending_request about{.purpose = purpose::operation, .sent = now, .subject = call.ticket};
    if (name != nullptr) about.lane = lane_of(*name);
    send(std::move(about), call.ask);
    call.in_flight = true;
    // A request that hangs is sent again: nearly all are harmless when they arrive twice.
    auto const again = call.is_sent_once() ? base::never : now + set_.request_timeout;
    schedule(call, std::min(call.deadline, again));
}

void engine::on_operation_reply(pending_request const& was, seam::reply const& answer) {
    auto const found = operations_.find(was.subject);
    if (found == operations_.end()) return;
    auto& call = *found->second;
    if (!belongs_to(call.ask, answer.body)) return finish(call, senseless_answer());
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
