// Retry policies: how long to wait between the attempts of one acquire.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <system_error>

#include <holdfast/export.hpp>

namespace holdfast {
inline namespace v1 {
namespace retry {

/// One attempt that did not end in a grant: an answered "busy" or a failed request.
struct attempt {
    int number{1};                       ///< 1 for the first attempt of this acquire
    std::chrono::milliseconds spent{0};  ///< since the acquire began
    std::error_code last_error{};        ///< empty when the store answered "busy"
};

/// Returns the delay before the next attempt, or nothing to end the acquire.
/// Called on the client's notifier thread; a pushed notice starts the next attempt earlier.
using policy = std::function<std::optional<std::chrono::milliseconds>(attempt const&)>;

/// Waits `delay` between attempts, `max` attempts in all.
HOLDFAST_EXPORT policy fixed(std::chrono::milliseconds delay, int max);

/// Waits `first`, then twice as long each time, never more than `cap`; ends only by the deadline.
HOLDFAST_EXPORT policy exponential(std::chrono::milliseconds first, std::chrono::milliseconds cap);

/// One attempt, which does not queue at the store.
HOLDFAST_EXPORT policy never();

}  // namespace retry
}  // namespace v1
}  // namespace holdfast
