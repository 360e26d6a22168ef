// The engine's part that runs tasks and tells them of changes.
#include <algorithm>
#include <utility>

#include "core/engine.hpp"
#include "core/task_context.hpp"

namespace holdfast::core {

task_call::task_call(body steps, completion& whom)
    : timed{kind::task}, begin{std::move(steps)}, to{&whom} {}

task_call::~task_call() = default;

void task_call::completed() noexcept {
    if (on != nullptr) on->wake(*this);
}

namespace {

/// A task that nobody waits for: its end is all that is asked of it.
class nobody final : public completion {
public:
    void completed() noexcept override {}
};

nobody nobodys;

}  // namespace

engine::turn::turn(engine& of, base::instant now) noexcept : of_{of} {
    of_.now_ = std::max(of_.now_, now);
    ++of_.depth_;
}

engine::turn::~turn() {
    if (of_.depth_ == 1) of_.run_ready();
    --of_.depth_;
}

void engine::begin(task_call& call, base::instant now) {
    turn const at{*this, now};
    call.on = this;
    tasks_.push_back(call);
    if (closed_ && !call.cleans_up) {
        call.error = std::make_exception_ptr(
            std::system_error{make_error_code(errc::closed), "the client is closed"});
        return end(call);
    }
    call.context = std::make_unique<task_context>(*this, call);
    call.running = call.begin(*call.context);
    wake(call);
}

void engine::stop(task_call& call, base::instant now) {
    turn const at{*this, now};
    if (call.done) return;
    call.stopping = true;
    wake(call);
}

void engine::spawn(task_call::body what) {
    auto& call = spawned_.emplace_back(std::make_unique<task_call>(std::move(what), nobodys));
    call->cleans_up = true;
    begin(*call, now_);
}

void engine::wake(task_call& call) noexcept {
    if (call.done || std::exchange(call.woken, true)) return;
    ready_.push_back(&call);
}

// Tasks run only from here, never inside another function of the engine.
void engine::run_ready() {
    for (std::size_t i = 0; i < ready_.size(); ++i) {  // the list grows while it is read
        if (ready_[i] == nullptr) continue;
        auto& call = *ready_[i];
        call.woken = false;
        bool const goes_on = call.waits_for == nullptr || call.stopping ||
                             (closed_ && !call.cleans_up) || call.waits_for->over(now_);
        if (!goes_on) continue;
        call.waits_for = nullptr;
        call.running.resume();
        if (call.running.done()) end(call);
    }
    ready_.clear();
    std::erase_if(spawned_, [](auto const& each) { return each->done; });
}

void engine::end(task_call& call) {
    schedule(call, base::never);
    if (call.woken) std::ranges::replace(ready_, &call, nullptr);  // it is gone when this returns
    tasks_.erase(tasks_.iterator_to(call));
    if (call.error == nullptr && !closed_at_start(call)) call.error = call.running.error();
    try {
        if (call.error != nullptr) std::rethrow_exception(call.error);
    } catch (task_stopped const&) {
        call.error = nullptr;
        call.stopped = true;
    } catch (...) {  // the caller throws it again
        ++metrics_.failures;
    }
    call.running = {};
    call.context.reset();
    call.done = true;
    call.to->completed();
}

bool engine::closed_at_start(task_call const& call) noexcept { return call.context == nullptr; }

void engine::check_open() const {
    if (closed_) base::raise(errc::closed, "the client was closed");
}

void engine::close_tasks() {
    for (auto& call : tasks_)
        wake(call);
}

// --- watches -----------------------------------------------------------------------------------

std::uint64_t engine::changes_of(seam::cell_key const& key) const {
    auto const found = watches_.find(key);
    return found == watches_.end() ? 0 : found->second.changes;
}

void engine::unwatch(seam::cell_key const& key, base::instant now) {
    turn const at{*this, now};
    auto const found = watches_.find(key);
    if (found == watches_.end() || !found->second.waiting.empty()) return;
    if (found->second.askers > 0) return;  // whose watch would be taken back
    if (found->second.asked && !closed_) send(purpose::watch, seam::unwatch{key}, 0, now);
    watches_.erase(found);
}

void engine::tell_tasks(seam::cell_key const& key) {
    auto const found = watches_.find(key);
    if (found == watches_.end()) return;
    ++found->second.changes;
    for (auto* const call : found->second.waiting)
        wake(*call);
}

// Notices may have been missed, and watches forgotten: every task looks again, and asks anew.
void engine::renew_watches() {
    for (auto& [key, watch] : watches_) {
        watch.confirmed = false;
        ++watch.changes;
        for (auto* const call : watch.waiting)
            wake(*call);
    }
}

}  // namespace holdfast::core
