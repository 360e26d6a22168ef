#include "stores/redis/lookout.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace holdfast::stores::redis {

namespace {

int checked(int result, char const* what) {
    if (result < 0) throw std::system_error{errno, std::system_category(), what};
    return result;
}

void drain(int source) noexcept {
    std::uint64_t ignored = 0;
    [[maybe_unused]] auto const got = ::read(source, &ignored, sizeof ignored);
}

constexpr std::size_t own = 2;
constexpr std::size_t most_sockets = 14;

}  // namespace

lookout::lookout()
    // Goes on while the machine sleeps, which the time-outs of poll do not.
    : timer_{checked(::timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC),
                     "timerfd_create")},
      bell_{checked(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd")} {}

void lookout::wait(std::span<pollfd> sockets) {
    std::array<pollfd, own + most_sockets> all;
    auto const count = std::min(sockets.size(), most_sockets);
    all[0] = {timer_.get(), POLLIN, 0};
    all[1] = {bell_.get(), POLLIN, 0};
    std::copy_n(sockets.begin(), count, all.begin() + own);
    waiting_ = true;
    // A call that came before this point has not rung the bell.
    bool const wait = !called_;
    auto const ready = ::poll(all.data(), count + own, wait ? -1 : 0);
    waiting_ = false;
    called_ = false;  // whoever called looks after what he wants before the next wait
    if (ready <= 0) return;
    std::copy_n(all.begin() + own, count, sockets.begin());
    if (all[0].revents != 0) {
        armed_for_ = base::never.time_since_epoch().count();
        drain(timer_.get());
    }
    if (all[1].revents != 0) drain(bell_.get());
}

void lookout::call() noexcept {
    called_ = true;
    if (!waiting_) return;
    constexpr std::uint64_t one = 1;
    [[maybe_unused]] auto const put = ::write(bell_.get(), &one, sizeof one);
}

void lookout::wake_by(base::instant when) noexcept {
    auto const span = when.time_since_epoch();
    if (span.count() >= armed_for_) return;
    armed_for_ = span.count();
    auto const positive = std::max(span, std::chrono::nanoseconds{1});  // zero would disarm it
    auto const seconds = std::chrono::floor<std::chrono::seconds>(positive);
    itimerspec end{};
    end.it_value.tv_sec = seconds.count();
    end.it_value.tv_nsec = (positive - seconds).count();
    ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &end, nullptr);
}

}  // namespace holdfast::stores::redis
