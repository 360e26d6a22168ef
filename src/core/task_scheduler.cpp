#include "core/task_scheduler.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/error.hpp"
#include "core/refusals.hpp"
#include "core/task_context.hpp"

namespace holdfast::core {

task_call::task_call(body steps) : timed{kind::task}, begin{std::move(steps)} {}

task_call::task_call(body steps, completion& whom) : task_call{std::move(steps)} { to = &whom; }

task_call::~task_call() = default;

void task_call::wake() noexcept {
    if (runs_on != nullptr) runs_on->wake(*this);
}

task_scheduler::~task_scheduler() { tasks_.clear(); }  // those that clean up may still be under way

void task_scheduler::begin(task_call& call, engine_parts& on) {
    call.runs_on = this;
    tasks_.push_back(call);
    if (closed_ && !call.cleans_up) {
        call.error = std::make_exception_ptr(closed_client().as_exception());
        return end(call);
    }
    call.context = std::make_unique<task_context>(on, call);
    call.running = call.begin(*call.context);
    wake(call);
}

void task_scheduler::spawn(task_call::body what, engine_parts& on) {
    auto& call = spawned_.emplace_back(std::make_unique<task_call>(std::move(what)));
    call->cleans_up = true;
    begin(*call, on);
}

void task_scheduler::stop(task_call& call) noexcept {
    if (call.done) return;
    call.stopping = true;
    wake(call);
}

void task_scheduler::wake(task_call& call) noexcept {
    if (call.done || std::exchange(call.woken, true)) return;
    ready_.push_back(&call);
}

void task_scheduler::on_timer(task_call& call) noexcept {
    call.due = base::never;
    shared_.timers.remove(call);
    wake(call);
}

void task_scheduler::run_ready(base::instant now) {
    for (std::size_t i = 0; i < ready_.size(); ++i) {  // the list grows while it is read
        if (ready_[i] == nullptr) continue;
        auto& call = *ready_[i];
        call.woken = false;
        bool const goes_on = call.waits_for == nullptr || call.stopping ||
                             (closed_ && !call.cleans_up) || call.waits_for->over(now);
        if (!goes_on) continue;
        call.waits_for = nullptr;
        call.running.resume();
        if (call.running.done()) end(call);
    }
    ready_.clear();
    std::erase_if(spawned_, [](auto const& each) { return each->done; });
}

void task_scheduler::end(task_call& call) {
    call.due = base::never;
    shared_.timers.remove(call);
    if (call.woken) std::ranges::replace(ready_, &call, nullptr);  // it is gone when this returns
    tasks_.erase(tasks_.iterator_to(call));
    bool const has_run = call.context != nullptr;
    if (call.error == nullptr && has_run) call.error = call.running.error();
    try {
        if (call.error != nullptr) std::rethrow_exception(call.error);
    } catch (task_stopped const&) {
        call.error = nullptr;
        call.stopped = true;
    } catch (...) {  // the caller throws it again
        ++failures_;
    }
    call.running = {};
    call.context.reset();
    call.done = true;
    if (call.to != nullptr) shared_.completed(*call.to);
}

void task_scheduler::close() noexcept {
    closed_ = true;
    for (auto& call : tasks_)
        wake(call);
}

std::size_t task_scheduler::take_failures() noexcept { return std::exchange(failures_, 0); }

}  // namespace holdfast::core
