// The threads of a loop: when they start, what wakes them, how they end.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "base/alarm.hpp"
#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "runtime/notifier.hpp"

namespace holdfast::runtime {

/// Four of them, each started when it is first needed:
///
/// * the timer thread tells the engine the time, and never blocks on the store,
/// * the I/O thread sends what nobody waits for, and drives the store while no caller does,
/// * the loss notifier tells holders of their loss, so that no other user code delays it,
/// * the notifier runs all other user code.
///
/// Thread-safety: `post` and `post_losses` by anybody; `join` and `stop_notifiers` without the mutex, since they
/// wait for threads that may want it. All else only by who holds the loop's mutex,
/// which the first two threads lock for each of their turns.
class loop_threads {
public:
    /// Each is called under the mutex, again and again.
    struct turns {
        std::function<base::instant()> tell_time;  ///< says when the time has to be told next
        std::function<void()> perform_io;          ///< may give up the mutex, and rest
    };

    loop_threads(base::mutex& loops, turns what);

    /// The timer thread and the I/O thread, unless they run or the loop stops. Throws std::system_error when the
    /// system has no thread to give.
    void start();
    /// For what has begun already. Whatever happens next tries again.
    void try_to_start() noexcept;
    /// Sees that the time is told at that moment at the latest.
    void tell_time_by(base::instant due) noexcept;

    /// No thread begins another turn. The I/O thread may have to be called back from its present one.
    void stop() noexcept;
    [[nodiscard]] bool stopping() const noexcept;
    /// After `stop`, without the mutex: returns when both have ended.
    void join() noexcept;

    /// User code; see notifier::post.
    void post(std::vector<notifier::job>& what) { notifier_.post(what); }
    void post_losses(std::vector<notifier::job>& what) { loss_notifier_.post(what); }
    /// See notifier::stop.
    void stop_notifiers() noexcept;

private:
    void run_timer_thread();
    void run_io_thread();

    base::mutex& mutex_;
    turns const turns_;
    bool stopping_ HOLDFAST_GUARDED_BY(mutex_){false};
    /// When the timer thread wakes by itself.
    base::instant wakes_at_ HOLDFAST_GUARDED_BY(mutex_){base::never};
    std::thread timer_thread_;  ///< guarded by the mutex until the loop stops
    std::thread io_thread_;     ///< likewise
    base::alarm timer_alarm_;
    notifier notifier_;
    notifier loss_notifier_;
};

}  // namespace holdfast::runtime
