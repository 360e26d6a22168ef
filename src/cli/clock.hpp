// The only place of the command that reads clocks.
#pragma once

#include <chrono>

namespace holdfast::cli {

/// CLOCK_BOOTTIME: goes on while the machine sleeps, as leases do.
struct boot_clock {
    using rep = std::chrono::nanoseconds::rep;
    using period = std::chrono::nanoseconds::period;
    using duration = std::chrono::nanoseconds;
    using time_point = std::chrono::time_point<boot_clock>;
    static constexpr bool is_steady = true;

    [[nodiscard]] static time_point now() noexcept;
};

/// For measuring: cheap, does not count sleep of the machine.
[[nodiscard]] std::chrono::steady_clock::time_point stopwatch() noexcept;

}  // namespace holdfast::cli
