#include "base/boot_timer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include <sys/timerfd.h>
#include <unistd.h>

namespace holdfast::base {

boot_timer::boot_timer() : timer_{::timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC)} {
    if (!timer_) throw std::system_error{errno, std::generic_category(), "cannot make a timer"};
}

void boot_timer::arm(instant when) noexcept {
    itimerspec at{};  // zero disarms the timer
    if (when != never) {
        // A moment that has passed still has to be a positive time.
        auto const span = std::max(when.time_since_epoch(), std::chrono::nanoseconds{1});
        auto const seconds = std::chrono::floor<std::chrono::seconds>(span);
        at.it_value.tv_sec = seconds.count();
        at.it_value.tv_nsec = (span - seconds).count();
    }
    ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &at, nullptr);
}

void boot_timer::clear() noexcept {
    std::uint64_t count = 0;
    [[maybe_unused]] auto const got = ::read(timer_.get(), &count, sizeof count);
}

}  // namespace holdfast::base
