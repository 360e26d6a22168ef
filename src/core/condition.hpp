// The condition: waiting for a notice, as a claim that only a notice lets in.
#pragma once

#include <memory>

#include "core/task.hpp"
#include "seam/reply.hpp"
#include "seam/request.hpp"

namespace holdfast::core {

/// The request that lets in at most `most` of those who wait on the condition.
[[nodiscard]] seam::adjust notify_request(seam::spec_ptr condition, std::uint32_t most);
/// Throws errc::kind_mismatch when it was refused.
void check_notified(seam::reply_body const& answer);
/// Both as a task.
task notify_condition(task_context& on, seam::spec_ptr condition, std::uint32_t most);

/// One wait for a notice. `Steps` says how each step is done: in a task over the engine, as `wait_for_notice` does, or
/// on a thread that blocks. Then nothing is ever suspended, and the first resume runs it to its end. Whatever
/// throws ends the wait; what becomes of the mutex then is the steps' affair.
template <class Steps>
task wait_in_steps(Steps steps) {
    co_await steps.stand_in_line();
    // Without the mutex somebody may have given the notice before the waiter stood in the line: who waits must look
    // for himself.
    bool const was_held = steps.release_mutex();
    if (was_held) {
        co_await steps.await_notice();
    } else {
        steps.give_up();
    }
    steps.consume_notice();
    co_await steps.lock_mutex();
}

/// Waits for a notice: is in the store's line before it releases `mutex`, and acquires the mutex again
/// on `again` after it; `held` is the new hold. A mutex that was lost before is acquired again at once.
/// When it fails or is stopped, the mutex is not held.
task wait_for_notice(task_context& on, std::shared_ptr<wait_queue> waiters,
                     std::shared_ptr<hold_state> mutex, std::shared_ptr<wait_queue> again,
                     std::shared_ptr<hold_state>& held);

}  // namespace holdfast::core
