// shared_mutex: many readers or one writer, between threads, processes and machines.
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
#include <holdfast/mutex.hpp>
#include <holdfast/options.hpp>

namespace holdfast {
inline namespace v1 {

/// Readers hold together, a writer alone. Nobody starves: a waiting writer stops new readers, and
/// readers that waited behind a writer go in together. Each holder's lease is its own: a reader that
/// crashed delays a writer by one lease at most.
///
/// The exclusive side is that of `mutex`, and excludes mutexes of the same name. A thread that holds
/// either side and asks for the other is `would_deadlock`: a hold can be made weaker (`downgrade`),
/// never stronger, since two that wait to be stronger would wait for each other.
///
/// Thread-safety, errors and cancellation: as for `basic_mutex`.
class HOLDFAST_EXPORT shared_mutex : public basic_mutex {
public:
    /// Does no I/O. Throws `bad_name` or `bad_option`.
    shared_mutex(client const& client, std::string_view name, lock_options options = {});
    ~shared_mutex();

    /// Waits until the calling thread holds the name together with other readers.
    void lock_shared();
    /// The same; false when `stop` ended the wait.
    [[nodiscard]] bool lock_shared(std::stop_token stop);
    [[nodiscard]] bool try_lock_shared();

    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_shared_for(std::chrono::duration<Rep, Period> const& timeout) {
        return try_lock_shared_within(detail::to_timeout(timeout));
    }

    template <class Clock, class Duration>
    [[nodiscard]] bool try_lock_shared_until(
        std::chrono::time_point<Clock, Duration> const& deadline) {
        return try_lock_shared_within(detail::to_timeout(deadline));
    }

    /// Ends the calling thread's shared hold; otherwise as `unlock`.
    void unlock_shared();

    [[nodiscard]] lease acquire_shared();
    [[nodiscard]] std::optional<lease> acquire_shared(std::stop_token stop);
    [[nodiscard]] std::optional<lease> try_acquire_shared();

    template <class Rep, class Period>
    [[nodiscard]] std::optional<lease> try_acquire_shared_for(
        std::chrono::duration<Rep, Period> const& timeout, std::stop_token stop = {}) {
        return try_acquire_shared_within(detail::to_timeout(timeout), std::move(stop));
    }

    template <class Clock, class Duration>
    [[nodiscard]] std::optional<lease> try_acquire_shared_until(
        std::chrono::time_point<Clock, Duration> const& deadline, std::stop_token stop = {}) {
        return try_acquire_shared_within(detail::to_timeout(deadline), std::move(stop));
    }

    /// Turns an exclusive hold into a shared one without a gap; readers that wait go in at once. The
    /// token stays. Throws `not_owner` or `kind_mismatch` for a lease of something else, `lost` when the
    /// hold has ended, and `bad_option` for a lease of a `recursive_mutex`, whose hold is counted.
    void downgrade(lease& held);

private:
    friend struct detail::access;
    [[nodiscard]] std::shared_ptr<detail::lock_handle> const& shared_side() const noexcept;

    bool try_lock_shared_within(std::chrono::nanoseconds timeout);
    std::optional<lease> try_acquire_shared_within(std::chrono::nanoseconds timeout,
                                                   std::stop_token stop);

    std::shared_ptr<detail::lock_handle> readers_;
};

}  // namespace v1
}  // namespace holdfast
