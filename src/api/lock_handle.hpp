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

/// Which lock a handle is for. All are of one kind, and exclude each other by their modes.
enum class flavour { plain, recursive, shared };

/// A legal name as it is; else throws errc::bad_name.
[[nodiscard]] std::string checked_name(std::string_view name);

/// How one acquire of a lock ended: the hold, or none with the reason.
struct acquired {
    core::verdict outcome{core::verdict::pending};
    std::shared_ptr<core::hold_state> held{};
};

/// Runs one acquire on a queue to its end; throws its error.
[[nodiscard]] acquired acquire_on(session& client, std::shared_ptr<core::wait_queue> queue,
                                  bool wait, std::chrono::nanoseconds timeout,
                                  std::stop_token const& stop);

/// Thread-safety: all members may be called from any thread at once.
class lock_handle {
public:
    lock_handle(std::shared_ptr<session> client, std::string_view name, lock_options options,
                flavour which);
    ~lock_handle();
    lock_handle(lock_handle const&) = delete;
    lock_handle& operator=(lock_handle const&) = delete;

    [[nodiscard]] std::string const& name() const noexcept { return holders_->name(); }
    [[nodiscard]] std::shared_ptr<session> const& client() const noexcept { return client_; }

    // By thread. `lock` throws `timed_out` when a retry policy ended the wait.
    void lock();
    [[nodiscard]] bool lock(std::stop_token stop);
    [[nodiscard]] bool try_lock(bool wait, std::chrono::nanoseconds timeout);
    void unlock();
    [[nodiscard]] std::shared_ptr<core::hold_state> held_by_this_thread() const;

    // By lease; likewise.
    [[nodiscard]] lease acquire();
    [[nodiscard]] std::optional<lease> acquire(std::stop_token stop);
    [[nodiscard]] std::optional<lease> try_acquire(bool wait, std::chrono::nanoseconds timeout,
                                                   std::stop_token stop);

    /// Of the shared side: makes a reader of a writer's lease.
    void downgrade(lease& held);

    /// The queue of the next acquire: shared, or its own.
    [[nodiscard]] std::shared_ptr<core::wait_queue> queue() const;
    /// A hold of this handle as a lease.
    [[nodiscard]] lease as_lease(std::shared_ptr<core::hold_state> held);
    /// A hold that was entered again, as one more lease of it.
    [[nodiscard]] lease as_nested_lease(std::shared_ptr<core::hold_state> held);
    /// Throws errc::bad_option for a mutex that counts per thread: a coroutine is none.
    void require_no_thread() const;
    /// The hold that a recursive mutex has already for this caller, counted once more.
    [[nodiscard]] std::shared_ptr<core::hold_state> enter_again();

private:
    [[nodiscard]] acquired lock(bool wait, std::chrono::nanoseconds timeout, std::stop_token stop);
    [[nodiscard]] core::verdict acquire(lease& into, bool wait, std::chrono::nanoseconds timeout,
                                        std::stop_token stop);
    [[noreturn]] void policy_ended() const;
    [[nodiscard]] acquired get(bool wait, std::chrono::nanoseconds timeout,
                               std::stop_token const& stop);
    [[nodiscard]] bool lock_fast();
    [[nodiscard]] bool unlock_fast();
    void leave_biased();
    void put_aside(core::wait_queue& through, std::uint64_t generation);
    /// The caller, as the table of holders knows it.
    [[nodiscard]] holder caller() const noexcept { return {this_thread(), owner_, mode()}; }
    [[nodiscard]] claim_mode mode() const noexcept { return queue_->terms->spec->mode; }
    [[nodiscard]] bool waits_for_itself() const;

    std::shared_ptr<session> const client_;
    bool const recursive_;
    std::string const owner_;  ///< of a recursive mutex: counts per owner, not per thread
    std::shared_ptr<holder_table> holders_;
    std::shared_ptr<core::wait_queue> const
        queue_;        ///< shared; the pattern of its own ones otherwise
    bool const fast_;  ///< the biased hold may be tried
};

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
