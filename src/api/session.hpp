// What is behind a client: its loop, and the local knowledge of who holds what.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <holdfast/client.hpp>

#include "core/engine.hpp"
#include "runtime/loop.hpp"
#include "seam/claim.hpp"

namespace holdfast {
inline namespace v1 {
namespace detail {

/// The holds of one name that belong to threads or owners, rather than to leases alone.
struct holder_table {
    struct holding {
        seam::actor_id thread{};
        std::string owner{};  ///< of a recursive mutex with an explicit owner; else empty
        claim_mode mode{claim_mode::exclusive};
        std::shared_ptr<core::hold_state> grant;
        int count{1};
    };
    std::string name;
    std::vector<holding> holdings{};

    /// The thread that holds the name through a queue's biased hold; what follows is that thread's.
    std::atomic<seam::actor_id> biased_owner{};
    core::wait_queue* biased_queue{nullptr};
    core::biased_hold::slot const* biased_slot{nullptr};
};

struct permit_table;

/// Thread-safety: all members may be called from any thread at once.
class session {
public:
    session(std::string_view url, client_options options);
    ~session();
    session(session const&) = delete;
    session& operator=(session const&) = delete;

    /// Throws errc::closed in the child of a fork.
    void require_usable() const;
    [[nodiscard]] bool at_home() const noexcept { return loop_->at_home(); }

    [[nodiscard]] runtime::loop& loop() noexcept { return *loop_; }
    [[nodiscard]] std::string const& url() const noexcept { return url_; }
    [[nodiscard]] std::chrono::milliseconds patience() const noexcept { return patience_; }

    /// The lease that the URL asks for where the options keep the default.
    [[nodiscard]] lock_options with_defaults(lock_options options) const;

    // What objects of one name share. They throw errc::closed in the child of a fork.

    /// The one queue of this client for these terms, or a new one where they are not shared.
    [[nodiscard]] std::shared_ptr<core::wait_queue> queue_for(core::terms terms);
    [[nodiscard]] std::shared_ptr<holder_table> holders_of(std::string_view name);
    /// Forgets the table when nobody uses it any more.
    void forget_holders(std::string_view name) noexcept;
    /// Stays while permits are out, also when no semaphore object does: another may release them.
    [[nodiscard]] std::shared_ptr<permit_table> permits_of(std::string_view name);

    /// Runs a task to its end and throws what goes wrong; false when `stop` ended it.
    bool run(core::task_call::body what, std::chrono::nanoseconds timeout,
             std::stop_token const& stop);

    /// One round trip; throws what goes wrong.
    [[nodiscard]] seam::reply ask(seam::request what);

    /// Adds what only this client knows: the threads that wait in its queues.
    void add_local_waiters(std::vector<lock_info>& infos);

    void close() noexcept;

private:
    std::string url_;
    std::chrono::milliseconds patience_;
    std::optional<std::chrono::milliseconds> lease_;
    std::unique_ptr<runtime::loop> loop_;
    seam::identity self_;

    // guarded by the loop's mutex
    std::unordered_multimap<std::size_t, std::weak_ptr<core::wait_queue>>
        queues_;  ///< by hash of the name
    std::map<std::string, std::weak_ptr<holder_table>, std::less<>> holder_tables_;
    std::map<std::string, std::shared_ptr<permit_table>, std::less<>> permits_;
    std::size_t swept_at_{64};
};

/// The calling thread, as claims and holdings name it.
[[nodiscard]] seam::actor_id this_thread() noexcept;

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
