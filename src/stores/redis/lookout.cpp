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

constexpr std::uint64_t no_socket = 0;  // serials begin with 1
constexpr unsigned place_bits = 8;

bool add(int to, int source, std::uint32_t interest, std::uint64_t mark) noexcept {
    epoll_event event{};
    event.events = interest;
    event.data.u64 = mark;
    return ::epoll_ctl(to, EPOLL_CTL_ADD, source, &event) == 0;
}

constexpr std::uint64_t timer_mark = 1;
constexpr std::uint64_t bell_mark = 2;

}  // namespace

lookout::lookout()
    // Goes on while the machine sleeps, which the time-outs of epoll do not.
    : timer_{checked(::timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC),
                     "timerfd_create")},
      bell_{checked(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd")} {
    begin_anew();
    checked(waits_.get(), "epoll");
}

// A socket that was closed has left by itself. False when the socket cannot be watched now.
bool lookout::watch(std::size_t place, watched_socket const& wanted) noexcept {
    auto& known = watched_[place];
    bool const same = known.is_same(wanted);
    if (same && known.interest == wanted.interest) return true;
    known = wanted;
    if (wanted.descriptor < 0) return true;
    epoll_event event{};
    event.events = wanted.interest;
    event.data.u64 = wanted.serial << place_bits | place;
    auto const how = same ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (::epoll_ctl(waits_.get(), how, wanted.descriptor, &event) == 0) return true;
    known = {};
    return false;
}

void lookout::wait(std::span<watched_socket, most_sockets> sockets) {
    constexpr int again_soon = 50;
    int longest = -1;
    for (std::size_t i = 0; i < most_sockets; ++i)
        if (!watch(i, sockets[i])) longest = again_soon;
    std::array<epoll_event, most_sockets + 2> all;
    waiting_ = true;
    // A call that came before this point has not rung the bell.
    bool const wait = !called_;
    auto const ready = ::epoll_wait(waits_.get(), all.data(), int{all.size()}, wait ? longest : 0);
    waiting_ = false;
    called_ = false;  // whoever called looks after what he wants before the next wait
    for (int i = 0; i < ready; ++i) {
        auto const mark = all[static_cast<std::size_t>(i)].data.u64;
        auto const serial = mark >> place_bits;
        if (serial == no_socket) {
            drain(mark == timer_mark ? timer_.get() : bell_.get());
            // After it is drained, or what somebody arms meanwhile, and is due, would be drained too.
            // Whoever finds it armed meanwhile is looked after before the next wait.
            if (mark == timer_mark) armed_for_ = base::never.time_since_epoch().count();
        } else if (auto& entry = sockets[mark & ((1U << place_bits) - 1)]; entry.serial == serial) {
            entry.ready = true;
        } else {
            begin_anew();
        }
    }
}

// Something is watched that is not ours any more: a socket that we have closed and the child of a fork
// still has, or what was given the number of one that another thread closed a moment ago.
void lookout::begin_anew() noexcept {
    base::descriptor fresh{::epoll_create1(EPOLL_CLOEXEC)};
    if (!fresh || !add(fresh.get(), timer_.get(), EPOLLIN, timer_mark) ||
        !add(fresh.get(), bell_.get(), EPOLLIN, bell_mark))
        return;  // costs time, and is tried again
    waits_ = std::move(fresh);
    watched_ = {};
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
