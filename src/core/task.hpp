// A task: one operation of a synchronizer, written as a coroutine over the engine.
#pragma once

#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <utility>

#include <boost/intrusive/list.hpp>

#include "core/call.hpp"
#include "core/timer_queue.hpp"

namespace holdfast::core {

class task_context;
class task_scheduler;

/// The coroutine itself; movable only, destroys its frame.
class [[nodiscard]] task {
public:
    struct promise_type {
        std::exception_ptr error{};

        task get_return_object() noexcept { return task{handle::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { error = std::current_exception(); }
    };
    using handle = std::coroutine_handle<promise_type>;

    task() noexcept = default;
    task(task&& other) noexcept : handle_{std::exchange(other.handle_, {})} {}
    task& operator=(task&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~task() {
        if (handle_) handle_.destroy();
    }

    void resume() const { handle_.resume(); }
    [[nodiscard]] bool done() const noexcept { return handle_.done(); }
    [[nodiscard]] std::exception_ptr error() const noexcept { return handle_.promise().error; }

private:
    explicit task(handle own) noexcept : handle_{own} {}

    handle handle_{};
};

/// Thrown into a task whose caller has withdrawn. What it leaves behind it hands to a task that
/// nobody waits for.
struct task_stopped {};

/// What a suspended task waits for. Lives in the task's frame.
class task_wait {
public:
    /// Whether the task may go on.
    [[nodiscard]] virtual bool over(base::instant now) const = 0;

protected:
    ~task_wait() = default;
};

/// One run of a task. Lives with the caller until it is completed, as does what the task was
/// given by reference.
struct task_call final : timed, boost::intrusive::list_base_hook<> {
    using body = std::function<task(task_context&)>;

    task_call(body steps, completion& whom);
    /// Nobody waits for it.
    explicit task_call(body steps);
    ~task_call();

    /// Something has become of a call that the task has made.
    void wake() noexcept;

    body begin;
    completion* to{nullptr};
    base::instant deadline{base::never};

    bool done{false};
    bool stopped{false};         ///< ended because its caller withdrew
    std::exception_ptr error{};  ///< why it failed; null when it did not

    // --- the scheduler's ---
    task_scheduler* runs_on{nullptr};
    std::unique_ptr<task_context> context{};
    task running{};
    task_wait const* waits_for{nullptr};
    bool stopping{false};
    bool cleans_up{false};  ///< nobody waits for it, and it goes on while the client closes
    bool woken{false};      ///< stands in the scheduler's list of tasks to look at
};

}  // namespace holdfast::core
