// election: many candidates, at most one leader at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <holdfast/client.hpp>
#include <holdfast/detail/access.hpp>
#include <holdfast/export.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>

namespace holdfast {
inline namespace v1 {

namespace detail {
class election_handle;
class election_watch;
}  // namespace detail

/// Who leads: what it said of itself when it stood for election, and the fencing token of its term.
struct leader_info {
    std::string value{};
    std::uint64_t token{0};

    bool operator==(leader_info const&) const = default;
};

/// Keeps an observer called; movable only. When its destructor returns, the observer is not running
/// and will not be called again, unless it is the observer itself that destroys it.
class HOLDFAST_EXPORT [[nodiscard]] subscription {
public:
    subscription() noexcept;
    subscription(subscription&&) noexcept;
    subscription& operator=(subscription&&) noexcept;
    subscription(subscription const&) = delete;
    subscription& operator=(subscription const&) = delete;
    ~subscription();

private:
    friend struct detail::access;
    explicit subscription(std::unique_ptr<detail::election_watch> watch) noexcept;

    std::unique_ptr<detail::election_watch> watch_;
};

/// The leader holds a lease with a token, as any holder does: it ends its term by releasing it, and
/// learns from `lease::lost()` that it leads no more.
///
/// Thread-safety, errors and cancellation: as for `basic_mutex`.
class HOLDFAST_EXPORT election {
public:
    using observer = std::function<void(std::optional<leader_info> const&)>;

    /// Does no I/O. Throws `bad_name`, or `bad_option` for options that contradict each other.
    election(client const& client, std::string_view name, lock_options options = {});
    election(election const&) = delete;
    election& operator=(election const&) = delete;
    ~election();

    /// Stands for election, waits, and returns the lease of the term. `value` is what everybody can
    /// read of the leader, such as its address: any bytes, at most 64 KiB (`bad_option`).
    [[nodiscard]] lease campaign(std::string_view value);
    /// The same; nothing when `stop` ended the wait.
    [[nodiscard]] std::optional<lease> campaign(std::string_view value, std::stop_token stop);

    /// Who leads now, by the store's word.
    [[nodiscard]] std::optional<leader_info> leader();

    /// Calls `hear` on the client's notifier thread: soon with the present state, and after every
    /// change, in order. The latest state always arrives; those between may be skipped.
    [[nodiscard]] subscription observe(observer hear);

    /// Ends the term that was won last through this object, and waits for the store's word. Throws
    /// `not_owner` when none was won, or its lease is gone.
    release_outcome resign();

    [[nodiscard]] std::string const& name() const noexcept;

private:
    friend struct detail::access;
    [[nodiscard]] std::shared_ptr<detail::election_handle> const& shared_handle() const noexcept;

    std::shared_ptr<detail::election_handle> handle_;
};

}  // namespace v1
}  // namespace holdfast
