#include "runtime/loop_threads.hpp"

#include <system_error>
#include <utility>

#include "runtime/quiet_thread.hpp"

namespace holdfast::runtime {

loop_threads::loop_threads(base::mutex& loops, turns what)
    : mutex_{loops}, turns_{std::move(what)} {}

void loop_threads::start() {
    mutex_.assert_held();
    if (stopping_ || io_thread_.joinable()) return;
    if (!timer_thread_.joinable()) timer_thread_ = start_quietly([this] { run_timer_thread(); });
    io_thread_ = start_quietly([this] { run_io_thread(); });
}

void loop_threads::try_to_start() noexcept {
    try {
        start();
    } catch (std::system_error const&) {}
}

void loop_threads::tell_time_by(base::instant due) noexcept {
    mutex_.assert_held();
    if (due >= wakes_at_ || stopping_) return;  // who stops joins the threads without the lock
    try_to_start();
    if (!timer_thread_.joinable()) return;
    wakes_at_ = due;
    timer_alarm_.ring();
}

void loop_threads::run_timer_thread() {
    base::lock_guard const guard{mutex_};
    while (!stopping_) {
        auto const until = wakes_at_ = turns_.tell_time();
        base::unlocked const meanwhile{mutex_};
        timer_alarm_.wait(until);
    }
}

void loop_threads::run_io_thread() {
    base::lock_guard const guard{mutex_};
    while (!stopping_)
        turns_.perform_io();
}

void loop_threads::stop() noexcept {
    mutex_.assert_held();
    stopping_ = true;
    timer_alarm_.ring();
}

bool loop_threads::stopping() const noexcept {
    mutex_.assert_held();
    return stopping_;
}

void loop_threads::join() noexcept {
    if (timer_thread_.joinable()) timer_thread_.join();
    if (io_thread_.joinable()) io_thread_.join();
}

void loop_threads::stop_notifiers() noexcept {
    loss_notifier_.stop();
    notifier_.stop();
}

}  // namespace holdfast::runtime
