// The condition: waiting for a notice, as a claim that only a notice lets in.
#pragma once

#include <memory>

#include "core/task.hpp"
#include "seam/request.hpp"

namespace holdfast::core {

/// Lets in at most `most` of those who wait on the condition. Throws errc::kind_mismatch.
task notify_condition(task_context& on, seam::spec_ptr condition, std::uint32_t most);

/// Waits for a notice: is in the store's line before it releases `mutex`, and acquires the mutex again
/// on `again` after it; `held` is the new hold. A mutex that was lost before is acquired again at once:
/// its holder must look for itself. When it fails or is stopped, the mutex is not held.
task wait_for_notice(task_context& on, std::shared_ptr<wait_queue> waiters,
                     std::shared_ptr<hold_state> mutex, std::shared_ptr<wait_queue> again,
                     std::shared_ptr<hold_state>& held);

}  // namespace holdfast::core
