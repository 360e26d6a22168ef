// semaphore: a limited number of permits, between threads, processes and machines.
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
class permit_pool;
}

/// At most `limit` permits are out at a time, over all clients of the store. Permits are owned and
/// leased: those of the dead come back. Two ways of holding:
///
/// * by client: `acquire(n)` … `release(n)`, by any threads of this client and through any object of
///   this name, also when the one that acquired is gone;
/// * by lease: `acquire_lease(n)` returns a lease of n permits.
///
/// The limit that clients declare must agree (`limit_mismatch`); `set_limit` changes the one in
/// force for all. Several permits at once are all or nothing. In fair order a large request is not
/// overtaken by small ones.
///
/// Thread-safety, errors and cancellation: as for `basic_mutex`.
class HOLDFAST_EXPORT semaphore {
public:
    /// Does no I/O. Throws `bad_name`, or `bad_option` for a limit of 0.
    semaphore(client const& client, std::string_view name, std::uint32_t limit,
              lock_options options = {});
    semaphore(semaphore const&) = delete;
    semaphore& operator=(semaphore const&) = delete;
    ~semaphore();

    /// Waits for n permits at once; `bad_option` when n is 0 or above the declared limit.
    void acquire(std::uint32_t n = 1);
    /// The same; false when `stop` ended the wait.
    [[nodiscard]] bool acquire(std::uint32_t n, std::stop_token stop);
    [[nodiscard]] bool try_acquire(std::uint32_t n = 1);

    template <class Rep, class Period>
    [[nodiscard]] bool try_acquire_for(std::chrono::duration<Rep, Period> const& timeout,
                                       std::uint32_t n = 1, std::stop_token stop = {}) {
        return try_acquire_within(detail::to_timeout(timeout), n, std::move(stop));
    }

    template <class Clock, class Duration>
    [[nodiscard]] bool try_acquire_until(std::chrono::time_point<Clock, Duration> const& deadline,
                                         std::uint32_t n = 1, std::stop_token stop = {}) {
        return try_acquire_within(detail::to_timeout(deadline), n, std::move(stop));
    }

    /// Gives back n of the permits that this client acquired without a lease. Enqueues, and does not
    /// wait for the store. Throws `not_owner`, and gives back none, when they are fewer than n.
    void release(std::uint32_t n = 1);

    [[nodiscard]] lease acquire_lease(std::uint32_t n = 1);
    [[nodiscard]] std::optional<lease> acquire_lease(std::uint32_t n, std::stop_token stop);
    [[nodiscard]] std::optional<lease> try_acquire_lease(std::uint32_t n = 1);

    template <class Rep, class Period>
    [[nodiscard]] std::optional<lease> try_acquire_lease_for(
        std::chrono::duration<Rep, Period> const& timeout, std::uint32_t n = 1,
        std::stop_token stop = {}) {
        return try_acquire_lease_within(detail::to_timeout(timeout), n, std::move(stop));
    }

    /// Fires when any of the permits that this client holds without a lease is lost. Once it has
    /// fired, ask for a new one after the permits were released.
    [[nodiscard]] std::stop_token lost() const;

    /// How many permits are free now, by the store's word; 0 while a lowered limit is exceeded.
    [[nodiscard]] std::uint32_t available();

    /// The limit in force, by the store's word.
    [[nodiscard]] std::uint32_t limit();

    /// Changes the limit in force for all clients. A lowered one takes effect as permits come back.
    /// Remembered for 24 hours after the last change while nobody uses the semaphore.
    void set_limit(std::uint32_t limit);

    [[nodiscard]] std::string const& name() const noexcept;

private:
    friend struct detail::access;
    [[nodiscard]] std::shared_ptr<detail::permit_pool> const& pool() const noexcept;

    bool try_acquire_within(std::chrono::nanoseconds timeout, std::uint32_t n,
                            std::stop_token stop);
    std::optional<lease> try_acquire_lease_within(std::chrono::nanoseconds timeout, std::uint32_t n,
                                                  std::stop_token stop);

    std::shared_ptr<detail::permit_pool> pool_;
};

}  // namespace v1
}  // namespace holdfast
