// The condition: waiting for a notice, as a claim that only a notice lets in.
#pragma once

#include <memory>

#include "core/script.hpp"
#include "seam/request.hpp"

namespace holdfast::core {

/// Lets in at most `most` of those who wait on the condition. Throws errc::kind_mismatch.
script notify_condition(stage& on, seam::spec_ptr condition, std::uint32_t most);

/// Waits for a notice: is in the store's line before it releases `mutex`, and acquires the mutex again
/// on `again` after it; `held` is the new hold. A mutex that was lost before is acquired again at once:
/// its holder must look for itself. When it fails or is stopped, the mutex is not held.
script wait_for_notice(stage& on, std::shared_ptr<line> waiters, std::shared_ptr<grant> mutex,
                       std::shared_ptr<line> again, std::shared_ptr<grant>& held);

}  // namespace holdfast::core
