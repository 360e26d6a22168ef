// Turns any duration or deadline of the caller into nanoseconds without overflow.
#pragma once

#include <chrono>

namespace holdfast {
inline namespace v1 {
namespace detail {

/// Rounds up, so that a wait is never shorter than asked; caps at about 146 years.
template <class Rep, class Period>
[[nodiscard]] constexpr std::chrono::nanoseconds to_timeout(
    std::chrono::duration<Rep, Period> const& timeout) {
    using std::chrono::nanoseconds;
    constexpr auto longest = nanoseconds::max() / 2;
    auto const seconds = std::chrono::duration_cast<std::chrono::duration<double>>(timeout);
    if (seconds >= std::chrono::duration<double>{longest}) return longest;
    if (seconds <= std::chrono::duration<double>::zero()) return nanoseconds::zero();
    return std::chrono::ceil<nanoseconds>(timeout);
}

/// What is left until `deadline`, by its own clock; zero when it has passed, however long ago. The
/// difference is taken in floating point: that of two integers may overflow.
template <class Clock, class Duration>
[[nodiscard]] std::chrono::nanoseconds to_timeout(
    std::chrono::time_point<Clock, Duration> const& deadline) {
    using seconds = std::chrono::duration<long double>;
    seconds const end{deadline.time_since_epoch()};
    return to_timeout(end - seconds{Clock::now().time_since_epoch()});
}

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
