#include "clock.hpp"

#include <ctime>

namespace holdfast::cli {

boot_clock::time_point boot_clock::now() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return time_point{std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec}};
}

std::chrono::steady_clock::time_point stopwatch() noexcept {
    return std::chrono::steady_clock::now();
}

}  // namespace holdfast::cli
