// What is behind a mutex: the terms of its holds and the holds of the calling threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>

#include "api/session.hpp"

namespace holdfast {
inline namespace v1 {
namespace detail {

inline constexpr std::chrono::nanoseconds no_timeout = std::chrono::nanoseconds::max();

/// How one acquire of a lock ended: the grant, or none with the reason.
struct acquired {
    core::verdict outcome{core::verdict::pending};
    std::shared_ptr<core::grant> grant{};
};

/// Thread-safety: all members may be called from any thread at once.
class lock_handle {
public:
    lock_handle(std::shared_ptr<session> client, std::string_view name, lock_options options,
                bool recursive);

    [[nodiscard]] std::string const& name() const noexcept { return site_->name; }
    [[nodiscard]] std::shared_ptr<session> const& client() const noexcept { return client_; }

    // By thread.
    [[nodiscard]] acquired lock(bool wait, std::chrono::nanoseconds timeout, std::stop_token stop);
    void unlock();
    [[nodiscard]] std::shared_ptr<core::grant> held_by_this_thread() const;

    // By lease.
    [[nodiscard]] core::verdict acquire(lease& into, bool wait, std::chrono::nanoseconds timeout,
                                        std::stop_token stop);

    /// The line of the next acquire: shared, or its own.
    [[nodiscard]] std::shared_ptr<core::line> line() const;
    /// A grant of this handle as a lease.
    [[nodiscard]] lease as_lease(std::shared_ptr<core::grant> grant);
    /// A hold that was entered again, as one more lease of it.
    [[nodiscard]] lease as_nested_lease(std::shared_ptr<core::grant> grant);
    /// Throws errc::bad_option for a mutex that counts per thread: a coroutine is none.
    void require_no_thread() const;
    /// The hold that a recursive mutex has already for this caller, counted once more.
    [[nodiscard]] std::shared_ptr<core::grant> enter_again();

private:
    [[nodiscard]] acquired get(bool wait, std::chrono::nanoseconds timeout,
                               std::stop_token const& stop);
    [[nodiscard]] bool lock_fast();
    [[nodiscard]] bool unlock_fast();
    void remember(std::shared_ptr<core::grant> const& grant);
    [[nodiscard]] bool is_mine(site::holding const& it) const;

    std::shared_ptr<session> const client_;
    bool const recursive_;
    std::string const owner_;  ///< of a recursive mutex: counts per owner, not per thread
    std::shared_ptr<site> const site_;
    std::shared_ptr<core::line> const line_;  ///< shared; the pattern of its own ones otherwise
    bool const fast_;                         ///< the fast lane may be tried
};

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
