// A timer of CLOCK_BOOTTIME and a ring, in two descriptors.
#pragma once

#include "base/boot_timer.hpp"
#include "base/clock.hpp"
#include "base/event.hpp"

namespace holdfast::base {

/// A place to sleep until a moment, or until somebody rings. A condition variable's timed wait counts
/// CLOCK_MONOTONIC, which stands still while the machine sleeps, and so do the time-outs of poll(2) and
/// epoll(7); a deadline does not. Hence a timer descriptor.
///
/// The one timer and the one wake-up of the project. It is here and not in `net`, whose poller waits for both
/// of its descriptors among others, because the runtime and the memory store sleep without any of those.
///
/// Thread-safety: `ring` and `set` from any thread at any time; `wait` by one thread at a time.
class alarm {
public:
    /// Returns at the moment that was set last, at once when it has passed and nobody was woken by
    /// it yet, or when `ring` was called since the last return, whichever is first.
    void wait() noexcept;
    void wait(instant until) noexcept {
        set(until);
        wait();
    }
    /// Sets the moment; the one that was set before does not count any more.
    void set(instant when) noexcept { timer_.arm(when); }
    void ring() noexcept { rung_.set(); }

    /// For whoever waits for these among others: readable from the moment that was set until
    /// `take_timer`, and from a ring until `take_ring`.
    [[nodiscard]] int timer_descriptor() const noexcept { return timer_.number(); }
    [[nodiscard]] int ring_descriptor() const noexcept { return rung_.number(); }
    void take_timer() noexcept { timer_.clear(); }
    void take_ring() noexcept { rung_.clear(); }

private:
    boot_timer timer_;
    event rung_;
};

}  // namespace holdfast::base
