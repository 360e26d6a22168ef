// The driver role: which thread of a client is inside its store, where replies and notices are read.
#pragma once

#include <chrono>

#include <boost/intrusive/list.hpp>

#include "base/alarm.hpp"
#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "runtime/waiter.hpp"
#include "seam/store.hpp"

namespace holdfast::runtime {

/// Callers take turns: a caller that waits drives the store if nobody else does, and offers the role to the next
/// one when it leaves. The I/O thread drives while no caller does. It leaves the role free for a while after
/// a caller had it, since most callers come back.
///
/// Thread-safety: everything is guarded by the loop's mutex. Functions that give it up for a while take it as
/// `held`; none of the others blocks.
class driver_role {
public:
    explicit driver_role(seam::store& store) noexcept : store_{store} {}

    /// Waits until somebody wakes `self`, or until that moment: inside the store if nobody else is there, else
    /// asleep. True when it was inside, and the engine may have been fed.
    [[nodiscard]] bool wait(base::mutex& held, waiter& self, base::instant until)
        HOLDFAST_REQUIRES(held);
    /// One turn of the I/O thread: drives, or rests while the role is for callers. True when it has driven.
    [[nodiscard]] bool io_thread_turn(base::mutex& held) HOLDFAST_REQUIRES(held);

    /// For a caller that stops waiting: it may have been woken to take the role, and does not need it. Somebody must
    /// drive as long as notices may come: the next waiter, else the I/O thread in a while.
    void pass_on() noexcept;
    /// The same at the end of its wait: where nobody comes, what it has left in the store is sent.
    void leave(base::mutex& held) HOLDFAST_REQUIRES(held);
    /// Somebody waits who does not drive by himself: a role that is left to callers must not stay free.
    void fill() noexcept;

    void wake(waiter& whom) noexcept;
    /// False when nobody sleeps.
    bool wake_one() noexcept;
    void wake_io_thread() noexcept;

    /// Calls back whoever drives and the I/O thread, because the loop ends.
    void dismiss() noexcept;
    /// What a thread does without the mutex when it has driven. Until it is done it counts as inside.
    template <class Work>
    void finish(base::mutex& held, Work const& work) HOLDFAST_REQUIRES(held) {
        ++finishing_;
        {
            base::unlocked const meanwhile{held};
            work();
        }
        --finishing_;
        left_.notify_all();
    }
    /// Waits until nobody is inside, for that long at most.
    void await_nobody(base::mutex& held, std::chrono::nanoseconds most) HOLDFAST_REQUIRES(held);

private:
    void drive(base::mutex& held, base::instant until) HOLDFAST_REQUIRES(held);
    void leave_to_callers() noexcept;

    seam::store& store_;
    boost::intrusive::list<waiter> sleepers_;  ///< blocked, not driving
    bool driven_{false};                       ///< somebody is inside store::drive
    int finishing_{0};                         ///< how many have driven and are not done with it
    bool io_thread_drives_{false};
    bool wanted_{false};                           ///< by a caller, of the I/O thread
    base::instant left_at_{base::instant::min()};  ///< when a caller last left it
    base::instant io_wakes_at_{
        base::instant::min()};       ///< at the latest, and looks whether it is free
    base::condition_variable left_;  ///< nobody is inside any more
    base::alarm io_alarm_;           ///< where the I/O thread rests
};

}  // namespace holdfast::runtime
