#include "run/boot_timer.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <sys/timerfd.h>

namespace holdfast::cli {

boot_timer::boot_timer() : timer_{::timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC)} {
    if (!timer_) throw std::system_error{errno, std::generic_category(), "cannot make a timer"};
}

void boot_timer::arm(std::optional<boot_clock::time_point> when) noexcept {
    itimerspec setting{};
    if (when) {
        // All zero would disarm.
        auto const ns =
            std::max<std::chrono::nanoseconds::rep>(when->time_since_epoch().count(), 1);
        setting.it_value.tv_sec = ns / 1'000'000'000;
        setting.it_value.tv_nsec = ns % 1'000'000'000;
    }
    ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &setting, nullptr);
}

}  // namespace holdfast::cli
