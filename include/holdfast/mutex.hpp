// mutex and recursive_mutex: exclusion between threads, processes and machines.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/client.hpp>
#include <holdfast/detail/access.hpp>
#include <holdfast/detail/timeout.hpp>
#include <holdfast/export.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>

namespace holdfast {
inline namespace v1 {

namespace detail {
class lock_handle;
}

/// What `mutex` and `recursive_mutex` share. Two ways of holding, which exclude each other:
///
/// * by thread: `lock()` … `unlock()`, for std::lock_guard, std::unique_lock, std::scoped_lock;
/// * by lease: `acquire()` and its like return a `lease`, which may move between threads.
///
/// Thread-safety: every member may be called from any thread at once.
/// Errors: `store_unavailable` when the store stays silent until the call's deadline, or for the
/// client's patience where there is none; `kind_mismatch`, `access_denied`, `closed`.
/// Cancellation: a stop request ends a wait at once; nothing stays behind at the store.
class HOLDFAST_EXPORT basic_mutex {
public:
    basic_mutex(basic_mutex const&) = delete;
    basic_mutex& operator=(basic_mutex const&) = delete;

    /// Waits until the calling thread holds the name. Throws `timed_out` when a retry policy ends
    /// the wait.
    void lock();

    /// The same; false when `stop` ended the wait.
    [[nodiscard]] bool lock(std::stop_token stop);

    /// True when the calling thread holds the name now; false after an answered "busy".
    [[nodiscard]] bool try_lock();

    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> const& timeout) {
        return try_lock_within(detail::to_timeout(timeout));
    }

    template <class Clock, class Duration>
    [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> const& deadline) {
        return try_lock_within(detail::to_timeout(deadline));
    }

    /// Ends the calling thread's hold. Enqueues the release and does not wait for the store; a hold
    /// that was lost ends quietly. Throws `not_owner` when the calling thread never had it.
    void unlock();

    /// Waits until the name is held by the returned lease.
    [[nodiscard]] lease acquire();

    /// The same; nothing when `stop` ended the wait.
    [[nodiscard]] std::optional<lease> acquire(std::stop_token stop);

    [[nodiscard]] std::optional<lease> try_acquire();

    template <class Rep, class Period>
    [[nodiscard]] std::optional<lease> try_acquire_for(
        std::chrono::duration<Rep, Period> const& timeout, std::stop_token stop = {}) {
        return try_acquire_within(detail::to_timeout(timeout), std::move(stop));
    }

    template <class Clock, class Duration>
    [[nodiscard]] std::optional<lease> try_acquire_until(
        std::chrono::time_point<Clock, Duration> const& deadline, std::stop_token stop = {}) {
        return try_acquire_within(detail::to_timeout(deadline), std::move(stop));
    }

    /// The fencing token of the calling thread's hold; throws `not_owner` without one.
    [[nodiscard]] std::uint64_t token() const;

    /// Fires when the calling thread's hold is lost; throws `not_owner` without one.
    [[nodiscard]] std::stop_token lost() const;

    /// Whether the calling thread holds the name and has not lost it.
    [[nodiscard]] bool owns() const noexcept;

    [[nodiscard]] std::string const& name() const noexcept;

private:
    friend struct detail::access;
    [[nodiscard]] std::shared_ptr<detail::lock_handle> const& shared_handle() const noexcept;

protected:
    explicit basic_mutex(std::shared_ptr<detail::lock_handle> handle) noexcept;
    ~basic_mutex();

private:
    bool try_lock_within(std::chrono::nanoseconds timeout);
    std::optional<lease> try_acquire_within(std::chrono::nanoseconds timeout, std::stop_token stop);

    std::shared_ptr<detail::lock_handle> handle_;
};

/// Not re-entrant: `lock()` by a thread that holds the name through the same client is
/// `would_deadlock` at once, its `try_lock()` is false, its `acquire()` queues.
class HOLDFAST_EXPORT mutex : public basic_mutex {
public:
    /// Does no I/O. Throws `bad_name` or `bad_option`.
    mutex(client const& client, std::string_view name, lock_options options = {});
};

/// Counts per thread, or per `lock_options::owner` where given: a nested hold costs no round trip
/// and has the token of the first.
class HOLDFAST_EXPORT recursive_mutex : public basic_mutex {
public:
    /// Does no I/O. Throws `bad_name` or `bad_option`.
    recursive_mutex(client const& client, std::string_view name, lock_options options = {});
};

}  // namespace v1
}  // namespace holdfast
