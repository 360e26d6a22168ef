// condition_variable: waiting for somebody else's change, under a mutex, across processes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>

#include <holdfast/client.hpp>
#include <holdfast/detail/access.hpp>
#include <holdfast/detail/timeout.hpp>
#include <holdfast/export.hpp>
#include <holdfast/mutex.hpp>

namespace holdfast {
inline namespace v1 {

namespace detail {
class condition_handle;
}

/// std::condition_variable over processes and machines, for `holdfast::mutex`. The waiter is in the
/// store's line before the mutex is released, so no notice between the two is lost. A notice that was
/// given to a waiter that died passes on to the next one.
///
/// As with its namesake, a wait may end without a notice: after an outage of the store it always does,
/// since a notice may have been missed. Wait with a predicate.
///
/// Thread-safety: every member may be called from any thread at once. The mutex may belong to another
/// client than the condition.
/// Errors: `store_unavailable`, `not_owner` when the mutex is not locked, `closed`. Whenever a wait
/// throws, the mutex was locked again, unless that failed: then `lock.owns_lock()` is false.
class HOLDFAST_EXPORT condition_variable {
public:
    /// Does no I/O. Throws `bad_name`. A condition may have the name of a mutex.
    condition_variable(client const& client, std::string_view name);
    condition_variable(condition_variable const&) = delete;
    condition_variable& operator=(condition_variable const&) = delete;
    ~condition_variable();

    void wait(std::unique_lock<mutex>& lock);

    template <class Predicate>
    void wait(std::unique_lock<mutex>& lock, Predicate pred) {
        while (!pred())
            wait(lock);
    }

    /// Until the predicate holds, or a stop is requested; returns what the predicate says.
    template <class Predicate>
    bool wait(std::unique_lock<mutex>& lock, std::stop_token stop, Predicate pred) {
        while (!pred()) {
            if (stop.stop_requested()) return pred();
            (void)wait_within(lock, std::chrono::nanoseconds::max(), stop);
        }
        return true;
    }

    template <class Rep, class Period>
    std::cv_status wait_for(std::unique_lock<mutex>& lock,
                            std::chrono::duration<Rep, Period> const& timeout) {
        return wait_within(lock, detail::to_timeout(timeout), std::stop_token{});
    }

    template <class Rep, class Period, class Predicate>
    bool wait_for(std::unique_lock<mutex>& lock, std::chrono::duration<Rep, Period> const& timeout,
                  Predicate pred) {
        return wait_within(lock, detail::to_timeout(timeout),
                           std::function<bool()>{std::ref(pred)});
    }

    template <class Clock, class Duration>
    std::cv_status wait_until(std::unique_lock<mutex>& lock,
                              std::chrono::time_point<Clock, Duration> const& deadline) {
        return wait_within(lock, detail::to_timeout(deadline), std::stop_token{});
    }

    template <class Clock, class Duration, class Predicate>
    bool wait_until(std::unique_lock<mutex>& lock,
                    std::chrono::time_point<Clock, Duration> const& deadline, Predicate pred) {
        while (!pred())
            if (wait_until(lock, deadline) == std::cv_status::timeout) return pred();
        return true;
    }

    /// Wakes the one that has waited longest, if anybody waits; returns when the store has done so.
    void notify_one();
    /// Wakes all that wait now.
    void notify_all();

    [[nodiscard]] std::string const& name() const noexcept;

private:
    friend struct detail::access;
    [[nodiscard]] std::shared_ptr<detail::condition_handle> const& shared_handle() const noexcept;

    bool wait_within(std::unique_lock<mutex>& lock, std::chrono::nanoseconds timeout,
                     std::function<bool()> const& pred);
    std::cv_status wait_within(std::unique_lock<mutex>& lock, std::chrono::nanoseconds timeout,
                               std::stop_token const& stop);

    std::shared_ptr<detail::condition_handle> handle_;
};

}  // namespace v1
}  // namespace holdfast
