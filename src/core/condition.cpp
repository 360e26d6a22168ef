#include "core/condition.hpp"

#include <utility>
#include <vector>

#include "core/task_context.hpp"

namespace holdfast::core {

seam::adjust notify_request(seam::spec_ptr condition, std::uint32_t most) {
    seam::adjust out{{std::move(condition), {}, {}}};
    out.wake = most;
    return out;
}

void check_notified(seam::reply_body const& answer) {
    if (auto const* const no = std::get_if<seam::refused>(&answer))
        base::raise(errc::kind_mismatch, no->text);
}

task notify_condition(task_context& on, seam::spec_ptr condition, std::uint32_t most) {
    auto request = notify_request(std::move(condition), most);
    auto const answer = co_await on.ask(std::move(request));
    check_notified(answer);
}

namespace {

/// Over the engine. A mutex that is still held at its end is released.
class task_steps {
public:
    task_steps(task_context& on, std::shared_ptr<wait_queue> waiters,
               std::shared_ptr<hold_state> mutex, std::shared_ptr<wait_queue> again,
               std::shared_ptr<hold_state>& held)
        : on_{on},
          notice_{new acquire_call{on.call_on(std::move(waiters))}},
          mutex_{std::move(mutex)},
          again_{std::move(again)},
          held_{held} {}
    task_steps(task_steps&&) = default;
    ~task_steps() {
        if (mutex_ != nullptr) on_.release(mutex_);
    }

    auto stand_in_line() { return on_.queue(*notice_); }
    bool release_mutex() {
        bool const was_held = mutex_->state(on_.now()) != lease_state::lost;
        on_.release(std::exchange(mutex_, nullptr));
        return was_held;
    }
    auto await_notice() { return on_.end(*notice_); }
    void give_up() { on_.give_up(*notice_); }
    void consume_notice() {
        if (notice_->held != nullptr) on_.consume(notice_->held);
    }

    /// The acquire of the mutex, with its result.
    class locking {
    public:
        locking(task_context& on, std::shared_ptr<wait_queue> queue,
                std::shared_ptr<hold_state>& held)
            : acquire_{on.acquire({std::move(queue)}, true)}, held_{held} {}
        [[nodiscard]] bool await_ready() const noexcept { return acquire_.await_ready(); }
        void await_suspend(std::coroutine_handle<> by) { acquire_.await_suspend(by); }
        void await_resume() {
            auto const calls = acquire_.await_resume();
            auto& call = *calls.front();
            if (call.outcome == verdict::failed) call.error.raise();
            held_ = std::move(call.held);
            if (held_ == nullptr)
                base::raise(errc::timed_out, "a retry policy ended the wait for the mutex");
        }

    private:
        task_context::acquiring acquire_;
        std::shared_ptr<hold_state>& held_;
    };
    locking lock_mutex() { return {on_, std::move(again_), held_}; }

private:
    task_context& on_;
    std::unique_ptr<acquire_call> notice_;
    std::shared_ptr<hold_state> mutex_;
    std::shared_ptr<wait_queue> again_;
    std::shared_ptr<hold_state>& held_;
};

}  // namespace

task wait_for_notice(task_context& on, std::shared_ptr<wait_queue> waiters,
                     std::shared_ptr<hold_state> mutex, std::shared_ptr<wait_queue> again,
                     std::shared_ptr<hold_state>& held) {
    return wait_in_steps(
        task_steps{on, std::move(waiters), std::move(mutex), std::move(again), held});
}

}  // namespace holdfast::core
