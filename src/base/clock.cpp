#include "base/clock.hpp"

#include <ctime>

namespace holdfast::base {

namespace {

std::chrono::nanoseconds read(clockid_t id) noexcept {
    timespec now{};
    ::clock_gettime(id, &now);
    return std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
}

}  // namespace

boot_clock::time_point boot_clock::now() noexcept { return time_point{read(CLOCK_BOOTTIME)}; }

std::chrono::steady_clock::time_point stopwatch() noexcept {
    return std::chrono::steady_clock::now();
}

std::int64_t wall_microseconds() noexcept {
    return std::chrono::duration_cast<std::chrono::microseconds>(read(CLOCK_REALTIME)).count();
}

}  // namespace holdfast::base
