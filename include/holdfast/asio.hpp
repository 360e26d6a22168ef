// The Asio forms: acquire and release with any completion token, use_awaitable included.
//
// Needs Boost.Asio 1.81 or later; no other header of holdfast does.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <holdfast/detail/access.hpp>
#include <holdfast/detail/asio_start.hpp>
#include <holdfast/detail/async.hpp>
#include <holdfast/detail/timeout.hpp>
#include <holdfast/holdfast.hpp>

namespace holdfast {
inline namespace v1 {

// For all of them: completion on the token's associated executor, never inside the function; errors as
// those of the blocking form, and all by completion. Cancellation: all types; ends in
// boost::asio::error::operation_aborted, and nothing stays behind. Lifetime: what is passed by reference
// must live until the function returns, also where a lazy token such as `deferred` begins later: the
// operation co-owns what it needs. A `recursive_mutex` needs `lock_options::owner`, since a coroutine is
// not a thread; else `bad_option`.

/// Acquires without blocking a thread: the exclusive side of any mutex.
/// Completes with `void(std::exception_ptr, lease)`; `timed_out` when a retry policy ended the wait, as
/// in all that have no timeout.
template <class CompletionToken>
auto async_acquire(basic_mutex& mutex, CompletionToken&& token) {
    return detail::initiate_lease(
        token, [lock = detail::access::handle(mutex)](detail::lease_handler then) {
            return detail::start_acquire(lock, std::nullopt, std::move(then));
        });
}

/// The same for at most `timeout`. Completes with `void(std::exception_ptr, std::optional<lease>)`;
/// nothing after an answered "busy".
template <class Rep, class Period, class CompletionToken>
auto async_try_acquire_for(basic_mutex& mutex, std::chrono::duration<Rep, Period> const& timeout,
                           CompletionToken&& token) {
    return detail::initiate_try(token,
                                [lock = detail::access::handle(mutex),
                                 limit = detail::to_timeout(timeout)](detail::lease_handler then) {
                                    return detail::start_acquire(lock, limit, std::move(then));
                                });
}

/// The shared side. Completes with `void(std::exception_ptr, lease)`.
template <class CompletionToken>
auto async_acquire_shared(shared_mutex& mutex, CompletionToken&& token) {
    return detail::initiate_lease(
        token, [lock = detail::access::readers(mutex)](detail::lease_handler then) {
            return detail::start_acquire(lock, std::nullopt, std::move(then));
        });
}

/// The same for at most `timeout`. Completes with `void(std::exception_ptr, std::optional<lease>)`.
template <class Rep, class Period, class CompletionToken>
auto async_try_acquire_shared_for(shared_mutex& mutex,
                                  std::chrono::duration<Rep, Period> const& timeout,
                                  CompletionToken&& token) {
    return detail::initiate_try(token,
                                [lock = detail::access::readers(mutex),
                                 limit = detail::to_timeout(timeout)](detail::lease_handler then) {
                                    return detail::start_acquire(lock, limit, std::move(then));
                                });
}

/// n permits of a semaphore. Completes with `void(std::exception_ptr, lease)`.
template <class CompletionToken>
auto async_acquire(semaphore& from, std::uint32_t n, CompletionToken&& token) {
    return detail::initiate_lease(
        token, [pool = detail::access::pool(from), n](detail::lease_handler then) {
            return detail::start_acquire(pool, n, std::nullopt, std::move(then));
        });
}

/// One permit.
template <class CompletionToken>
auto async_acquire(semaphore& from, CompletionToken&& token) {
    return async_acquire(from, 1, std::forward<CompletionToken>(token));
}

/// n permits for at most `timeout`. Completes with `void(std::exception_ptr, std::optional<lease>)`.
template <class Rep, class Period, class CompletionToken>
auto async_try_acquire_for(semaphore& from, std::chrono::duration<Rep, Period> const& timeout,
                           std::uint32_t n, CompletionToken&& token) {
    return detail::initiate_try(token,
                                [pool = detail::access::pool(from), n,
                                 limit = detail::to_timeout(timeout)](detail::lease_handler then) {
                                    return detail::start_acquire(pool, n, limit, std::move(then));
                                });
}

/// Stands for election. Completes with `void(std::exception_ptr, lease)`.
template <class CompletionToken>
auto async_campaign(election& in, std::string value, CompletionToken&& token) {
    return detail::initiate_lease(token, [handle = detail::access::handle(in),
                                          value = std::move(value)](detail::lease_handler then) {
        return detail::start_campaign(handle, value, std::move(then));
    });
}

/// All of the locks or none; see `lock_all`. The locks come as `std::tie(a, b)`.
/// Completes with `void(std::exception_ptr, lease)`.
template <class... Locks, class CompletionToken>
auto async_lock_all(std::tuple<Locks&...> locks, CompletionToken&& token) {
    return detail::initiate_lease(
        token, [all = std::apply([](auto&... one) { return detail::handles_of(one...); }, locks)](
                   detail::lease_handler then) {
            return detail::start_acquire_all(all, std::nullopt, std::move(then));
        });
}

/// Counts down by n. Completes with `void(std::exception_ptr)`.
template <class CompletionToken>
auto async_count_down(latch& of, std::uint32_t n, CompletionToken&& token) {
    return detail::initiate_plain(
        token, [handle = detail::access::handle(of), n](detail::number_handler then) {
            return detail::start_count_down(handle, n, std::move(then));
        });
}

/// Waits until nothing is left. Completes with `void(std::exception_ptr)`.
template <class CompletionToken>
auto async_wait(latch& for_it, CompletionToken&& token) {
    return detail::initiate_plain(
        token, [handle = detail::access::handle(for_it)](detail::number_handler then) {
            return detail::start_wait(handle, std::nullopt, std::move(then));
        });
}

/// The same for at most `timeout`. Completes with `void(std::exception_ptr, bool)`.
template <class Rep, class Period, class CompletionToken>
auto async_wait_for(latch& for_it, std::chrono::duration<Rep, Period> const& timeout,
                    CompletionToken&& token) {
    return detail::initiate_number<bool>(
        token,
        [handle = detail::access::handle(for_it),
         limit = detail::to_timeout(timeout)](detail::number_handler then) {
            return detail::start_wait(handle, limit, std::move(then));
        },
        [](auto const& number) { return number.has_value(); });
}

/// Arrives and waits for the others. Completes with `void(std::exception_ptr, std::uint64_t)`, the
/// generation. Cancelling breaks the barrier for the others, unless it trips first.
template <class CompletionToken>
auto async_arrive_and_wait(barrier& at, CompletionToken&& token) {
    return detail::initiate_number<std::uint64_t>(
        token,
        [handle = detail::access::handle(at)](detail::number_handler then) {
            return detail::start_arrive(handle, std::nullopt, std::move(then));
        },
        [](auto const& number) { return number.value_or(0); });
}

/// Waits for a notice: `held` is the lease of `with`, which is released while it waits; completes with
/// the new lease, `void(std::exception_ptr, lease)`. After an error the mutex is not held. All three
/// belong to one client.
template <class CompletionToken>
auto async_wait(condition_variable& on, basic_mutex& with, lease held, CompletionToken&& token) {
    // A shared pointer, since a completion token may copy what begins the operation.
    auto const kept = std::make_shared<lease>(std::move(held));
    return detail::initiate_lease(
        token, [handle = detail::access::handle(on), lock = detail::access::handle(with),
                kept](detail::lease_handler then) {
            return detail::start_wait(handle, lock, std::move(*kept), std::move(then));
        });
}

/// Wakes one, or all. Complete with `void(std::exception_ptr)` when the store has done so.
template <class CompletionToken>
auto async_notify_one(condition_variable& on, CompletionToken&& token) {
    return detail::initiate_plain(
        token, [handle = detail::access::handle(on)](detail::number_handler then) {
            return detail::start_notify(handle, 1, std::move(then));
        });
}
template <class CompletionToken>
auto async_notify_all(condition_variable& on, CompletionToken&& token) {
    return detail::initiate_plain(
        token, [handle = detail::access::handle(on)](detail::number_handler then) {
            return detail::start_notify(handle, UINT32_MAX, std::move(then));
        });
}

/// Gives the lease back and completes with `void(std::exception_ptr, release_outcome)`. Cannot be
/// cancelled: once begun it goes on.
template <class CompletionToken>
auto async_release(lease held, CompletionToken&& token) {
    return detail::initiate_release(token, std::move(held));
}

}  // namespace v1
}  // namespace holdfast
