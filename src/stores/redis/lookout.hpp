// What a driver waits for: its sockets, time, and being called.
#pragma once

#include <atomic>
#include <span>

#include <poll.h>

#include "base/clock.hpp"
#include "base/descriptor.hpp"

namespace holdfast::stores::redis {

/// Thread-safety: `wait` by one thread at a time; `call` from any thread; `wake_by` under the lock of
/// its owner, also while a thread waits.
class lookout {
public:
    /// Throws std::system_error.
    lookout();

    /// Waits until one of the sockets is ready (told in `revents`), `call`, or a moment that
    /// `wake_by` was given. May return for no reason.
    void wait(std::span<pollfd> sockets);

    /// Ends the present or the next wait. Costs no system call while nobody waits.
    void call() noexcept;

    /// Whoever called until now is looked after: the next wait need not end for them.
    void heed() noexcept { called_ = false; }

    /// Sees that a wait ends at `when` by CLOCK_BOOTTIME or earlier. An earlier moment that was given
    /// before stays: so a moment that moves on with every request costs no system call.
    void wake_by(base::instant when) noexcept;

private:
    base::descriptor timer_;
    base::descriptor bell_;
    std::atomic<bool> called_{false};
    std::atomic<bool> waiting_{false};
    std::atomic<base::boot_clock::rep> armed_for_{base::never.time_since_epoch().count()};
};

}  // namespace holdfast::stores::redis
