// barrier: parties wait for each other, again and again.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/client.hpp>
#include <holdfast/detail/access.hpp>
#include <holdfast/detail/timeout.hpp>
#include <holdfast/export.hpp>

namespace holdfast {
inline namespace v1 {

namespace detail {
class barrier_handle;
}

/// A cyclic barrier over processes and machines. Each party that arrives waits until as many as the
/// barrier has have arrived; then all go on, and a new generation begins.
///
/// A party that arrived and died, timed out or failed breaks its generation: all who wait in it get
/// `broken_barrier`, and so does everyone who arrives until `reset()`. Whether a generation trips or
/// breaks is decided once, in the store: all its parties see the same.
///
/// The number of parties is agreed in the store; a client that gives another gets `limit_mismatch` and
/// harms nothing. A barrier that nobody uses for 24 hours is forgotten, and begins at generation 0.
///
/// Thread-safety: every member may be called from any thread at once; each call is one party.
/// Errors: `broken_barrier`, `store_unavailable`, `kind_mismatch`, `limit_mismatch`, `closed`.
class HOLDFAST_EXPORT barrier {
public:
    /// Does no I/O. Throws `bad_name`, or `bad_option` unless 1 <= parties <= 1,048,576.
    barrier(client const& client, std::string_view name, std::uint32_t parties);
    barrier(barrier const&) = delete;
    barrier& operator=(barrier const&) = delete;
    ~barrier();

    /// Arrives, waits for the others, and returns the generation that they completed together: 0 for
    /// the first, and one more each time.
    std::uint64_t arrive_and_wait();

    /// The same; nothing when the time was over first, which breaks the barrier for the others.
    template <class Rep, class Period>
    [[nodiscard]] std::optional<std::uint64_t> arrive_and_wait_for(
        std::chrono::duration<Rep, Period> const& timeout) {
        return arrive_within(detail::to_timeout(timeout));
    }

    template <class Clock, class Duration>
    [[nodiscard]] std::optional<std::uint64_t> arrive_and_wait_until(
        std::chrono::time_point<Clock, Duration> const& deadline) {
        return arrive_within(detail::to_timeout(deadline));
    }

    /// Begins a new generation. Those who wait in the present one get `broken_barrier`.
    void reset();

    /// Removes the barrier, broken or not; there need be none, and its parties need not be those of this object. Those
    /// who wait get `broken_barrier`. It begins at generation 0 again, with the parties of whoever arrives first.
    void remove();

    [[nodiscard]] std::string const& name() const noexcept;

private:
    friend struct detail::access;
    [[nodiscard]] std::shared_ptr<detail::barrier_handle> const& shared_handle() const noexcept;

    std::optional<std::uint64_t> arrive_within(std::chrono::nanoseconds timeout);

    std::shared_ptr<detail::barrier_handle> handle_;
};

}  // namespace v1
}  // namespace holdfast
