#include "core/condition.hpp"

#include <exception>
#include <utility>
#include <vector>

#include "core/task_context.hpp"

namespace holdfast::core {

task notify_condition(task_context& on, seam::spec_ptr condition, std::uint32_t most) {
    seam::adjust request{{std::move(condition), {}, {}}};
    request.wake = most;
    auto const answer = co_await on.ask(std::move(request));
    if (auto const* const no = std::get_if<seam::refused>(&answer))
        base::raise(errc::kind_mismatch, no->text);
}

task wait_for_notice(task_context& on, std::shared_ptr<wait_queue> waiters,
                     std::shared_ptr<hold_state> mutex, std::shared_ptr<wait_queue> again,
                     std::shared_ptr<hold_state>& held) {
    auto waiting = on.call_on(std::move(waiters));
    std::exception_ptr failure;
    try {
        co_await on.queue(waiting);
    } catch (...) {
        failure = std::current_exception();
    }
    // Without the mutex somebody may have given the notice before the waiter stood in the line.
    bool const sure = mutex->state(on.now()) != lease_state::lost;
    on.release(mutex);
    if (failure != nullptr) std::rethrow_exception(failure);
    if (sure) {
        co_await on.end(waiting);
    } else {
        on.give_up(waiting);
    }
    if (waiting.held != nullptr) on.consume(waiting.held);
    std::vector<std::shared_ptr<wait_queue>> queues{std::move(again)};
    auto calls = co_await on.acquire(std::move(queues), true);
    auto& call = *calls.front();
    if (call.outcome == verdict::failed) call.error.raise();
    held = std::move(call.held);
    if (held == nullptr)
        base::raise(errc::timed_out, "a retry policy ended the wait for the mutex");
}

}  // namespace holdfast::core
