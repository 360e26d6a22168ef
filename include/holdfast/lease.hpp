// lease: a hold as an object, with its fencing token and its end.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <holdfast/detail/access.hpp>
#include <holdfast/export.hpp>

namespace holdfast {
inline namespace v1 {

enum class lease_state {
    held,      ///< the last renewal was confirmed
    in_doubt,  ///< a renewal failed or is overdue; the deadline has not come
    lost,      ///< the hold has ended without a release
    released,  ///< given back, or never held (a moved-from lease)
};

enum class release_outcome {
    released,      ///< it was held until now, and is free now
    already_lost,  ///< it had ended before; somebody else may hold it
    unknown,       ///< the store did not answer; it is free at the end of the lease at the latest
};

HOLDFAST_EXPORT char const* to_string(lease_state state) noexcept;
HOLDFAST_EXPORT char const* to_string(release_outcome outcome) noexcept;

namespace detail {
class hold;  // the shared state behind a lease
}

/// A hold that its owner can move, pass to another thread, and watch.
///
/// Thread-safety: all members but move and destruction may be called from any thread at once.
/// Ownership: movable only; the destructor enqueues the release and neither waits nor throws.
/// A moved-from or default-constructed lease is released and has token 0.
/// Lifetime: co-owns its client.
class HOLDFAST_EXPORT [[nodiscard]] lease {
public:
    lease() noexcept;
    lease(lease&&) noexcept;
    lease& operator=(lease&&) noexcept;
    lease(lease const&) = delete;
    lease& operator=(lease const&) = delete;
    ~lease();

    /// The fencing token: rises between conflicting grants of the name, over releases, expiries,
    /// hand-overs and restarts. Let the guarded resource refuse a smaller one.
    [[nodiscard]] std::uint64_t token() const noexcept;

    /// The token of one name of a hold over several; `errc::bad_name` when it is not among them.
    [[nodiscard]] std::uint64_t token(std::string_view name) const;

    /// Fires when the hold is lost, `lock_options::grace` before its deadline; never after a
    /// release. Callbacks run on a thread of the client and may release the lease.
    [[nodiscard]] std::stop_token lost() const;

    /// Why the hold was lost, in words; empty while it was not.
    [[nodiscard]] std::string loss_reason() const;

    /// Reads the clock: after a pause of the process it says `lost` at once.
    [[nodiscard]] lease_state state() const noexcept;

    /// Whether the state is `held` or `in_doubt`.
    [[nodiscard]] bool held() const noexcept;

    /// The time until the hold is lost unless renewed; zero when it is not held.
    [[nodiscard]] std::chrono::milliseconds remaining() const noexcept;

    /// Renews now, in one round trip, optionally with another lease length from here on, and
    /// returns the state after it. An unanswered renewal leaves the hold in doubt.
    lease_state renew(std::optional<std::chrono::milliseconds> lease = {});

    /// Gives the name back and waits for the store's answer, at most until the hold's deadline or
    /// the client's patience. Later calls repeat the first outcome.
    release_outcome release();

    /// The name held; empty for an empty lease. For a hold over several names, the first.
    [[nodiscard]] std::string name() const;

private:
    friend struct detail::access;
    explicit lease(std::shared_ptr<detail::hold> hold) noexcept;
    [[nodiscard]] std::shared_ptr<detail::hold> const& shared_state() const noexcept;

    std::shared_ptr<detail::hold> hold_;
};

}  // namespace v1
}  // namespace holdfast
