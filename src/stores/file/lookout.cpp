#include "stores/file/lookout.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace holdfast::stores::file {

namespace {

// What an event is about. A client's id is random: it is none of these but once in 2^62.
enum topic : std::uint64_t { time_is_up, called, rung, first_client };

constexpr std::size_t most_processes = 64;

int checked(int result, char const* what) {
    if (result < 0) throw std::system_error{errno, std::system_category(), what};
    return result;
}

void add(int events, int source, std::uint32_t kinds, std::uint64_t about) {
    epoll_event event{};
    event.events = kinds;
    event.data.u64 = about;
    checked(::epoll_ctl(events, EPOLL_CTL_ADD, source, &event), "epoll_ctl");
}

void drain(int source) noexcept {
    std::uint64_t ignored = 0;
    [[maybe_unused]] auto const got = ::read(source, &ignored, sizeof ignored);
}

}  // namespace

lookout::lookout()
    : events_{checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")},
      // Goes on while the machine sleeps, which the time-outs of poll do not.
      timer_{
          checked(::timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC), "timerfd_create")},
      called_{checked(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd")} {
    add(events_.get(), timer_.get(), EPOLLIN, time_is_up);
    add(events_.get(), called_.get(), EPOLLIN, called);
}

lookout::news lookout::wait(base::instant until) {
    bool const now_or_never = until == base::never || until <= base::boot_clock::now();
    itimerspec end{};
    if (!now_or_never) {
        auto const since_boot = until.time_since_epoch();
        auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(since_boot);
        end.it_value.tv_sec = seconds.count();
        end.it_value.tv_nsec = (since_boot - seconds).count();
        ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &end, nullptr);
    }
    std::array<epoll_event, 16> events;
    int const wait_for = now_or_never && until != base::never ? 0 : -1;
    auto const count =
        ::epoll_wait(events_.get(), events.data(), static_cast<int>(events.size()), wait_for);
    news out;
    for (int i = 0; i < count; ++i) {
        switch (auto const about = events[static_cast<std::size_t>(i)].data.u64) {
        case time_is_up: drain(timer_.get()); break;
        case called: drain(called_.get()); break;
        case rung: out.rung = true; break;
        default: out.exited.push_back(static_cast<seam::client_id>(about));
        }
    }
    return out;
}

void lookout::call() noexcept {
    constexpr std::uint64_t one = 1;
    [[maybe_unused]] auto const written = ::write(called_.get(), &one, sizeof one);
}

// Told once per ring, not as long as rings are unread: who reads them may have to wait for the lock.
void lookout::listen(int wake_fifo) { add(events_.get(), wake_fifo, EPOLLIN | EPOLLET, rung); }

bool lookout::watch(seam::client_id client, std::int64_t pid) {
    auto const known = [&](process const& each) { return each.client == client; };
    if (std::ranges::any_of(processes_, known)) return true;
    base::descriptor handle{
        static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0))};
    if (!handle) return errno != ESRCH;
    if (processes_.size() >= most_processes) processes_.pop_front();
    add(events_.get(), handle.get(), EPOLLIN | EPOLLONESHOT, static_cast<std::uint64_t>(client));
    processes_.push_back({client, std::move(handle)});
    return true;
}

void lookout::forget(seam::client_id client) noexcept {
    std::erase_if(processes_, [&](process const& each) { return each.client == client; });
}

}  // namespace holdfast::stores::file
