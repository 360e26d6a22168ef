#include "net/poller.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace holdfast::net {

namespace {

constexpr poller::tag about_timer = UINT64_MAX;
constexpr poller::tag about_ring = UINT64_MAX - 1;

// A server on the same machine answers in less.
constexpr std::chrono::microseconds longest_look{50};
// A vain look costs as much as several others save: they go on as long as four of five pay.
constexpr unsigned price_of_a_vain_look = 4;
constexpr unsigned most_credit = 16;
// So many waits pass between two looks when none has paid for long: a server may have come nearer.
constexpr unsigned longest_rest = 1024;

}  // namespace

poller::poller() : process_{::getpid()}, epoll_{::epoll_create1(EPOLL_CLOEXEC)} {
    if (!epoll_) throw std::system_error{errno, std::system_category(), "epoll_create1"};
    control(EPOLL_CTL_ADD, alarm_.timer_descriptor(), EPOLLIN, about_timer);
    control(EPOLL_CTL_ADD, alarm_.ring_descriptor(), EPOLLIN, about_ring);
}

void poller::control(int how, int descriptor, std::uint32_t interest, tag about) {
    epoll_event wanted{};
    wanted.events = interest;
    wanted.data.u64 = about;
    if (::epoll_ctl(epoll_.get(), how, descriptor, &wanted) != 0)
        throw std::system_error{errno, std::system_category(), "epoll_ctl"};
}

poller::registration poller::add(int descriptor, std::uint32_t interest, tag about) {
    control(EPOLL_CTL_ADD, descriptor, interest, about);
    return {*this, descriptor, interest, about};
}

// Nobody needs to ring meanwhile: a wake is seen here.
int poller::look_ahead(reports& to) noexcept {
    if (looks_.again_in > 0) {
        --looks_.again_in;
        return 0;
    }
    auto const end = base::boot_clock::now() + longest_look;
    do {
        auto const count = ::epoll_wait(epoll_.get(), to.data(), int{most_events}, 0);
        if (count == 0 && !woken_) continue;
        looks_.credit = std::min(looks_.credit + 1, most_credit);
        if (looks_.credit > price_of_a_vain_look) looks_.rest = 1;
        return count;
    } while (base::boot_clock::now() < end);
    looks_.credit -= std::min(looks_.credit, price_of_a_vain_look);
    if (looks_.credit > 0) return 0;
    looks_.again_in = looks_.rest;
    looks_.rest = std::min(2 * looks_.rest, longest_rest);
    return 0;
}

std::span<poller::event const> poller::wait(base::instant until, bool soon) {
    bool block = true;
    if (until != base::never) {
        block = until > base::boot_clock::now();
        if (block) wake_by(until);
    }
    reports reported;
    auto count = soon && block ? look_ahead(reported) : 0;
    if (count <= 0) {
        waiting_ = true;
        // A wake that came before this point has not rung.
        if (woken_) block = false;
        count = ::epoll_wait(epoll_.get(), reported.data(), int{most_events}, block ? -1 : 0);
        waiting_ = false;
    }
    woken_ = false;  // whoever woke looks after what he wants before the next wait
    std::size_t kept = 0;
    for (int i = 0; i < count; ++i) {
        auto const& each = reported[static_cast<std::size_t>(i)];
        if (each.data.u64 == about_timer) {
            alarm_.take_timer();
            // After it is taken, or what somebody arms meanwhile, and is due, would be taken too.
            // Whoever finds it armed meanwhile is looked after before the next wait.
            armed_for_ = base::never.time_since_epoch().count();
        } else if (each.data.u64 == about_ring) {
            alarm_.take_ring();
        } else {
            events_[kept++] = {each.data.u64, each.events};
        }
    }
    return std::span{events_}.first(kept);
}

void poller::wake() noexcept {
    woken_ = true;
    if (waiting_ || watched_) alarm_.ring();
}

void poller::wake_by(base::instant when) noexcept {
    auto const since_boot = when.time_since_epoch().count();
    if (since_boot >= armed_for_) return;
    armed_for_ = since_boot;
    alarm_.set(when);
}

int poller::descriptor() noexcept {
    watched_ = true;
    if (woken_) alarm_.ring();  // by somebody who did not know that a ring is needed
    return epoll_.get();
}

poller::registration::registration(registration&& other) noexcept
    : home_{std::exchange(other.home_, nullptr)},
      descriptor_{other.descriptor_},
      interest_{other.interest_},
      about_{other.about_} {}

poller::registration& poller::registration::operator=(registration&& other) noexcept {
    if (this == &other) return *this;
    end();
    home_ = std::exchange(other.home_, nullptr);
    descriptor_ = other.descriptor_;
    interest_ = other.interest_;
    about_ = other.about_;
    return *this;
}

void poller::registration::want(std::uint32_t interest) {
    if (home_ == nullptr || interest == interest_) return;
    home_->control(EPOLL_CTL_MOD, descriptor_, interest, about_);
    interest_ = interest;
}

// What the child of a fork takes out is taken out for its parent, whose epoll it is.
void poller::registration::end() noexcept {
    auto* const home = std::exchange(home_, nullptr);
    if (home == nullptr || home->process_ != ::getpid()) return;
    ::epoll_ctl(home->epoll_.get(), EPOLL_CTL_DEL, descriptor_, nullptr);
}

}  // namespace holdfast::net
