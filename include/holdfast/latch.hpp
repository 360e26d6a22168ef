// latch: a count that falls to zero; those who wait go on when nothing is left.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/client.hpp>
#include <holdfast/detail/access.hpp>
#include <holdfast/detail/timeout.hpp>
#include <holdfast/export.hpp>

namespace holdfast {
inline namespace v1 {

namespace detail {
class latch_handle;
}

/// std::latch over processes and machines. The count is agreed in the store: the first one declared
/// is kept, and a client that gives another gets `limit_mismatch` from every operation and harms
/// nothing. A finished latch stays finished for 24 hours; one that nobody touches for a week is
/// forgotten.
///
/// `reset()` begins a new round, finished or not, so that a name can be used again. A wait is for the round
/// in which it begins: when that is reset or removed before its end, the wait throws `lost`; when it had come
/// to its end, the wait succeeds, however late it wakes. A wait that began before there was a latch is for the
/// next round that begins.
///
/// Thread-safety: every member may be called from any thread at once.
/// Errors: `store_unavailable`, `kind_mismatch`, `limit_mismatch`, `lost`, `closed`. A store that is silent is
/// waited for as long as the client's patience.
class HOLDFAST_EXPORT latch {
public:
    /// Does no I/O. Throws `bad_name`.
    latch(client const& client, std::string_view name, std::uint32_t count);
    /// A latch that somebody else declares. Counting down before that is `bad_option`; waiting waits.
    latch(client const& client, std::string_view name);
    latch(latch const&) = delete;
    latch& operator=(latch const&) = delete;
    ~latch();

    /// Lowers the count by n, at most to zero. An answer that was lost is never counted twice.
    void count_down(std::uint32_t n = 1);

    /// Begins a new round with this count, also where the latch is not finished, or is new. This object goes
    /// on with it; others that were given another count get `limit_mismatch`. A count-down that comes later
    /// counts in the new round.
    void reset(std::uint32_t count);

    /// Removes the latch, finished or not; there need be none. It can be declared again at once; another kind
    /// of synchronizer can use the name after a minute.
    void remove();

    /// Whether nothing is left, by the store's word.
    [[nodiscard]] bool try_wait();

    void wait();
    /// The same; false when `stop` ended the wait.
    [[nodiscard]] bool wait(std::stop_token stop);

    /// False when the time is over and something is left.
    template <class Rep, class Period>
    [[nodiscard]] bool wait_for(std::chrono::duration<Rep, Period> const& timeout,
                                std::stop_token stop = {}) {
        return wait_within(detail::to_timeout(timeout), std::move(stop));
    }

    template <class Clock, class Duration>
    [[nodiscard]] bool wait_until(std::chrono::time_point<Clock, Duration> const& deadline,
                                  std::stop_token stop = {}) {
        return wait_within(detail::to_timeout(deadline), std::move(stop));
    }

    /// `count_down(n)`, then `wait()`.
    void arrive_and_wait(std::uint32_t n = 1);

    /// What is left, by the store's word.
    [[nodiscard]] std::uint32_t count();

    [[nodiscard]] std::string const& name() const noexcept;

private:
    friend struct detail::access;
    [[nodiscard]] std::shared_ptr<detail::latch_handle> const& shared_handle() const noexcept;

    bool wait_within(std::chrono::nanoseconds timeout, std::stop_token stop);

    std::shared_ptr<detail::latch_handle> handle_;
};

}  // namespace v1
}  // namespace holdfast
