// A short sleep, for the few places below the runtime that must wait for something that cannot tell
// when it is ready.
#pragma once

#include <chrono>

namespace holdfast::base {

/// Sleeps for `span`, or less when a signal arrives. For pauses far below a scheduling slice, such
/// as between two tries for another process's database lock; everything longer belongs in the
/// runtime, where it can be interrupted.
void pause(std::chrono::microseconds span) noexcept;

}  // namespace holdfast::base
