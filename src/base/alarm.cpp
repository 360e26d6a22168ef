#include "base/alarm.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace holdfast::base {

alarm::alarm()
    : timer_{::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)},
      bell_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
    if (timer_ >= 0 && bell_ >= 0) return;
    std::system_error const why{errno, std::generic_category(), "cannot make a timer"};
    if (timer_ >= 0) ::close(timer_);
    if (bell_ >= 0) ::close(bell_);
    throw why;
}

alarm::~alarm() {
    ::close(timer_);
    ::close(bell_);
}

void alarm::set(instant when) noexcept {
    itimerspec at{};  // zero disarms the timer
    if (when != never) {
        // A moment that has passed still has to be a positive time.
        auto const span = std::max(when.time_since_epoch(), std::chrono::nanoseconds{1});
        auto const seconds = std::chrono::floor<std::chrono::seconds>(span);
        at.it_value.tv_sec = seconds.count();
        at.it_value.tv_nsec = (span - seconds).count();
    }
    ::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &at, nullptr);
}

void alarm::wait() noexcept {
    pollfd fds[] = {{bell_, POLLIN, 0}, {timer_, POLLIN, 0}};
    while (::poll(fds, 2, -1) < 0 && errno == EINTR) {}
    std::uint64_t count = 0;
    [[maybe_unused]] ::ssize_t got = 0;
    for (auto const& each : fds)
        if (each.revents != 0) got = ::read(each.fd, &count, sizeof count);
}

void alarm::ring() noexcept {
    std::uint64_t const one = 1;
    [[maybe_unused]] auto const written = ::write(bell_, &one, sizeof one);
}

}  // namespace holdfast::base
