#include "stores/file/file_poller.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/syscall.h>
#include <unistd.h>

namespace holdfast::stores::file {

namespace {

// What an event is about, other than the process of a client: its id is random, and is this, or one of
// those that the poller keeps for itself, but once in 2^62.
constexpr net::poller::tag about_rings = 0;

constexpr std::size_t most_processes = 64;

}  // namespace

file_poller::news file_poller::wait(base::instant until) {
    news out;
    for (auto const& each : poller_.wait(until)) {
        if (each.about == about_rings) {
            out.rung = true;
        } else {
            out.exited.push_back(static_cast<seam::client_id>(each.about));
        }
    }
    return out;
}

// Told once per ring, not as long as rings are unread: who reads them may have to wait for the lock.
net::poller::registration file_poller::listen(int wake_fifo) {
    return poller_.add(wake_fifo, EPOLLIN | EPOLLET, about_rings);
}

bool file_poller::watch(seam::client_id client, std::int64_t pid) {
    auto const known = [&](process const& each) { return each.client == client; };
    if (std::ranges::any_of(processes_, known)) return true;
    base::descriptor handle{
        static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0))};
    if (!handle) return errno != ESRCH;
    if (processes_.size() >= most_processes) processes_.pop_front();
    auto registration =
        poller_.add(handle.get(), EPOLLIN | EPOLLONESHOT, static_cast<net::poller::tag>(client));
    processes_.push_back({client, std::move(handle), std::move(registration)});
    return true;
}

void file_poller::forget(seam::client_id client) noexcept {
    std::erase_if(processes_, [&](process const& each) { return each.client == client; });
}

}  // namespace holdfast::stores::file
