// The clocks of this machine. The only file that reads them.
#pragma once

#include <chrono>
#include <cstdint>

namespace holdfast::base {

/// CLOCK_BOOTTIME: never set, never stepped, and it goes on while the machine sleeps, so a hold
/// that ended during a suspend is seen as ended. Meets the Clock requirements of std::chrono.
struct boot_clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<boot_clock>;
    static constexpr bool is_steady = true;
    [[nodiscard]] static time_point now() noexcept;
};

/// A moment by the client's own clock.
using instant = boot_clock::time_point;

/// Later than any moment that will be reached.
inline constexpr instant never = instant::max();

/// `when + span` that stays at `never` instead of overflowing, also where the span is more than
/// nanoseconds can count.
template <class Period>
[[nodiscard]] constexpr instant after(instant when,
                                      std::chrono::duration<std::int64_t, Period> span) noexcept {
    return span > std::chrono::duration_cast<decltype(span)>(never - when) ? never : when + span;
}

/// For measuring how long something takes: cheap, and does not count the sleep of the machine.
[[nodiscard]] std::chrono::steady_clock::time_point stopwatch() noexcept;

/// Microseconds of the wall clock. Only for fencing sequences, which must rise over restarts;
/// never to judge expiry.
[[nodiscard]] std::int64_t wall_microseconds() noexcept;

}  // namespace holdfast::base
