// Collecting: several holds at once, all or none, without ever waiting for one while holding another.
#pragma once

#include <memory>
#include <vector>

#include "core/task.hpp"

namespace holdfast::core {

/// Acquires on all queues, in whichever order; `held` has one grant for each, or is empty when the
/// caller's deadline or a retry policy ended it. The queues must be of different names.
///
/// It waits on one name while it holds none, then tries all the others at once; where one is busy it
/// lets go of everything and waits for that one. So nobody waits for it in turn, and two who want the
/// same names in another order cannot block each other.
task acquire_all(task_context& on, std::vector<std::shared_ptr<wait_queue>> queues, bool wait,
                 std::vector<std::shared_ptr<hold_state>>& held);

}  // namespace holdfast::core
