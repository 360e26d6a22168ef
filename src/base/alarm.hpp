// A place to sleep until a moment of CLOCK_BOOTTIME, or until somebody rings.
#pragma once

#include "base/boot_timer.hpp"
#include "base/clock.hpp"
#include "base/event.hpp"

namespace holdfast::base {

/// A condition variable's timed wait counts CLOCK_MONOTONIC, which stands still while the machine
/// sleeps; a deadline does not. Hence a timer descriptor.
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

private:
    boot_timer timer_;
    event rung_;
};

}  // namespace holdfast::base
