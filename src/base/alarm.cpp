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

namespace {

int checked(int descriptor) {
    if (descriptor < 0)
        throw std::system_error{errno, std::generic_category(), "cannot make a timer"};
    return descriptor;
}

void drain(int source) noexcept {
    std::uint64_t ignored = 0;
    [[maybe_unused]] auto const got = ::read(source, &ignored, sizeof ignored);
}

}  // namespace

alarm::alarm()
    : timer_{checked(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK))},
      ring_{checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))} {}

void alarm::set(instant when) noexcept {
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

void alarm::wait() noexcept {
    pollfd both[] = {{ring_.get(), POLLIN, 0}, {timer_.get(), POLLIN, 0}};
    while (::poll(both, 2, -1) < 0 && errno == EINTR) {}
    for (auto const& each : both)
        if (each.revents != 0) drain(each.fd);
}

void alarm::ring() noexcept {
    constexpr std::uint64_t one = 1;
    [[maybe_unused]] auto const written = ::write(ring_.get(), &one, sizeof one);
}

void alarm::take_timer() noexcept { drain(timer_.get()); }
void alarm::take_ring() noexcept { drain(ring_.get()); }

}  // namespace holdfast::base
