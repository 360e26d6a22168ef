#include "core/task_context.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::core {

using std::chrono::nanoseconds;

base::instant task_context::now() const noexcept { return parts_.shared.now; }

nanoseconds task_context::jitter(nanoseconds span) { return parts_.shared.jitter(span); }

seam::claim_id task_context::next_operation() { return parts_.claims.next_operation(); }

task_context::asking task_context::make_asking(seam::request what, bool within_deadline) {
    auto const patience = base::after(now(), parts_.shared.settings.patience);
    return {parts_, call_, std::move(what),
            within_deadline ? std::min(patience, call_.deadline) : patience};
}

task_context::asking task_context::read(seam::cell_key const& key) { return ask(seam::read{key}); }

task_context::asking task_context::read_anyway(seam::cell_key const& key) {
    return ask_anyway(seam::read{key});
}

task_context::asking task_context::watch(seam::cell_key const& key) {
    if (parts_.watches.of(key).confirmed) return {parts_, call_, asking::known{}};
    auto out = ask(seam::watch{key});
    out.confirms = key;
    return out;
}

std::uint64_t task_context::changes(seam::cell_key const& key) const {
    return parts_.watches.mark_of(key);
}

task_context::changing task_context::change(seam::cell_key const& key, std::uint64_t seen,
                                            nanoseconds poll) {
    return {parts_, call_, key, seen,
            std::min(call_.deadline, base::after(now(), poll + jitter(poll / 2)))};
}

task_context::changing task_context::pause(nanoseconds span) {
    return {parts_, call_, std::nullopt, 0, std::min(call_.deadline, base::after(now(), span))};
}

task_context::acquiring task_context::acquire(std::vector<std::shared_ptr<wait_queue>> queues,
                                              bool wait) {
    return {parts_, call_, std::move(queues), wait};
}

task_context::queueing task_context::queue(acquire_call& call) {
    return {parts_, call_, call, true};
}

task_context::queueing task_context::end(acquire_call& call) {
    return {parts_, call_, call, false};
}

void task_context::leave_to(task_call::body what) { parts_.tasks.spawn(std::move(what), parts_); }

void context_wait::check_stop() const {
    if (call_.stopping) throw task_stopped{};
}

// --- asking ------------------------------------------------------------------------------------

task_context::asking::asking(engine_parts& on, task_call& call, seam::request what,
                             base::instant deadline)
    : context_wait{on, call}, inner_{std::move(what), call} {
    inner_.deadline = deadline;
    inner_.cleans_up = call.cleans_up;
}

task_context::asking::asking(engine_parts& on, task_call& call, known)
    : context_wait{on, call}, inner_{seam::hello{}, call}, ready_{true} {}

void task_context::asking::await_suspend(std::coroutine_handle<>) {
    suspend();
    if (confirms) {
        auto& watched = parts_.watches.of(*confirms);
        watched.asked = true;
        ++watched.askers;
    }
    began_ = parts_.shared.now;
    parts_.operations.begin(inner_, parts_.shared.now);
}

seam::reply_body task_context::asking::await_resume() {
    if (ready_) return seam::done{};
    if (!inner_.done) parts_.operations.withdraw(inner_);
    if (confirms) --parts_.watches.of(*confirms).askers;
    check_stop();
    if (inner_.error) inner_.error.raise();
    call_.context->sent_again_ =
        inner_.failures > 0 || parts_.shared.now - began_ >= parts_.shared.settings.request_timeout;
    if (confirms) parts_.watches.of(*confirms).confirmed = true;
    return std::move(inner_.answer.body);
}

// --- changing ----------------------------------------------------------------------------------

task_context::changing::changing(engine_parts& on, task_call& call,
                                 std::optional<seam::cell_key> key, std::uint64_t seen,
                                 base::instant until)
    : context_wait{on, call}, key_{std::move(key)}, seen_{seen}, until_{until} {}

void task_context::changing::await_suspend(std::coroutine_handle<>) {
    suspend();
    auto* const watch = key_ ? &parts_.watches.of(*key_) : nullptr;
    if (over(parts_.shared.now)) return call_.wake();
    if (watch != nullptr) watch->waiting.push_back(&call_);
    parts_.shared.schedule(call_, until_);
}

bool task_context::changing::over(base::instant now) const {
    return now >= until_ || (key_ && parts_.watches.mark_of(*key_) != seen_);
}

bool task_context::changing::await_resume() {
    parts_.shared.schedule(call_, base::never);
    if (key_) parts_.watches.stop_waiting(*key_, call_);
    check_stop();
    parts_.shared.check_open();
    bool const changed = key_ && parts_.watches.mark_of(*key_) != seen_;
    return changed || parts_.shared.now < call_.deadline;
}

// --- acquiring ---------------------------------------------------------------------------------

task_context::acquiring::acquiring(engine_parts& on, task_call& call,
                                   std::vector<std::shared_ptr<wait_queue>> queues, bool wait)
    : context_wait{on, call} {
    for (auto& queue : queues) {
        calls_.push_back(std::make_unique<acquire_call>(std::move(queue), call));
        calls_.back()->wait = wait;
    }
}

void task_context::acquiring::await_suspend(std::coroutine_handle<>) {
    suspend();
    for (auto const& call : calls_)
        parts_.acquires.begin(*call, parts_.shared.now, call_.deadline);
    if (calls_.empty()) call_.wake();
}

bool task_context::acquiring::over(base::instant) const {
    return std::ranges::none_of(calls_,
                                [](auto const& each) { return each->outcome == verdict::pending; });
}

std::vector<std::unique_ptr<acquire_call>> task_context::acquiring::await_resume() {
    if (call_.stopping) {
        for (auto const& call : calls_) {
            parts_.acquires.withdraw(*call, parts_.shared.now);
            if (call->held != nullptr) parts_.releases.give_back(call->held, parts_.shared.now);
        }
        check_stop();
    }
    return std::move(calls_);
}

// --- queueing ----------------------------------------------------------------------------------

void task_context::queueing::await_suspend(std::coroutine_handle<>) {
    suspend();
    if (begins_) parts_.acquires.begin(inner_, parts_.shared.now, call_.deadline);
}

bool task_context::queueing::over(base::instant) const {
    return inner_.outcome != verdict::pending || (begins_ && inner_.in_line);
}

void task_context::queueing::await_resume() {
    if (call_.stopping) {
        parts_.acquires.withdraw(inner_, parts_.shared.now);
        if (inner_.held != nullptr) parts_.releases.give_back(inner_.held, parts_.shared.now);
        check_stop();
    }
    if (inner_.outcome == verdict::failed) inner_.error.raise();
}

}  // namespace holdfast::core
