#include "stores/compare/polled_driver.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>

namespace holdfast::stores::compare {

void polled_driver::drive(base::instant until) {
    if (abandoned_) return;
    base::lock_guard const guard{mutex_};
    drive_locked(until);
    poller_.wake_by(next_due());
}

void polled_driver::drive_locked(base::instant until) {
    for (bool looked = false;; looked = true) {
        poller_.forget_wakes();
        now_ = base::boot_clock::now();
        if (!shut_) tend();
        if (deliver()) {
            interrupted_ = false;  // whoever called while the events were told: this is the return
            return;
        }
        if (interrupted_.exchange(false) || (looked && now_ >= until) || shut_) return;
        // Who drives many waits for their descriptors, and only takes what is there: that sets no timer.
        bool const only_looks = !looked && now_ >= until;
        if (!only_looks) poller_.wake_by(std::min(until, next_due()));
        std::span<net::poller::event const> events;
        {
            auto const wait_until = only_looks ? now_ : base::never;
            base::unlocked const released{mutex_};
            events = poller_.wait(wait_until);
        }
        now_ = base::boot_clock::now();
        if (!shut_) take(events);
    }
}

bool polled_driver::deliver() {
    if (out_.is_empty()) return false;
    auto events = out_.take();
    base::unlocked const released{mutex_};
    pass_on(std::move(events), events_, log_);
    return true;
}

bool polled_driver::enter() {
    now_ = base::boot_clock::now();
    return !shut_ && !abandoned_;
}

bool polled_driver::enter(ticket which) {
    if (enter()) return true;
    out_.fail(which, {errc::closed, "the store is shut"}, true);
    return false;
}

void polled_driver::settle() {
    poller_.wake_by(next_due());
    if (!out_.is_empty()) poller_.wake();
}

void polled_driver::interrupt() noexcept {
    if (abandoned_) return;
    interrupted_ = true;
    poller_.wake();
}

void polled_driver::wake_by(base::instant when) noexcept {
    if (abandoned_) return;
    base::lock_guard const guard{mutex_};
    poller_.wake_by(when);
}

bool polled_driver::take_until(std::function<bool()> const& met, base::instant end) {
    while (!met()) {
        std::span<net::poller::event const> events;
        {
            base::unlocked const released{mutex_};
            events = poller_.wait(end);
        }
        now_ = base::boot_clock::now();
        take(events);
        if (now_ >= end) return met();
    }
    return true;
}

void polled_driver::shut() noexcept {
    if (abandoned_) return;
    base::lock_guard const guard{mutex_};
    if (shut_) return;
    now_ = base::boot_clock::now();
    try {
        wind_up();
    } catch (std::exception const&) {  // nobody counts on it
    }
    shut_ = true;
    cut();
    static_cast<void>(out_.take());
}

// A thread of the parent may have been at work at the moment of the fork: then nothing is touched.
void polled_driver::abandon_in_child() noexcept {
    abandoned_ = true;
    if (!mutex_.try_lock()) return;
    base::lock_guard const guard{mutex_, std::adopt_lock};
    abandon();
}

}  // namespace holdfast::stores::compare
