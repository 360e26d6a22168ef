// What is behind a client: its loop, and what its objects of one name share.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/client.hpp>

#include "api/holder_table.hpp"
#include "api/name_tables.hpp"
#include "core/engine.hpp"
#include "runtime/loop.hpp"
#include "seam/claim.hpp"

namespace holdfast {
inline namespace v1 {
namespace detail {

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

    /// See seam::capabilities.
    [[nodiscard]] std::chrono::milliseconds longest_lease() const noexcept {
        return longest_lease_;
    }

    /// The lease that the URL asks for where the options keep the default.
    [[nodiscard]] lock_options with_defaults(lock_options options) const;

    // What objects of one name share. They throw errc::closed in the child of a fork.

    /// The one queue of this client for these terms, or a new one where they are not shared.
    [[nodiscard]] std::shared_ptr<core::wait_queue> queue_for(core::terms terms);
    /// See name_tables.
    [[nodiscard]] std::shared_ptr<holder_table> holders_of(std::string_view name);
    void forget_holders(std::string_view name) noexcept { tables_->forget_holders(name); }
    [[nodiscard]] std::shared_ptr<permit_table> permits_of(std::string_view name);

    /// Runs a task to its end and throws what goes wrong; false when `stop` ended it.
    bool run(core::task_call::body what, std::chrono::nanoseconds timeout,
             std::stop_token const& stop);

    /// One round trip, in the client's patience and in `most`; throws what goes wrong.
    [[nodiscard]] seam::reply ask(seam::request what,
                                  std::chrono::nanoseconds most = std::chrono::nanoseconds::max());

    /// Adds what only this client knows: the threads that wait in its queues.
    void add_local_waiters(std::vector<lock_info>& infos);

    void close() noexcept;

private:
    [[nodiscard]] claim_info describe(core::terms const& asked,
                                      runtime::local_waiter const& who) const;

    std::string url_;
    std::chrono::milliseconds patience_;
    std::optional<std::chrono::milliseconds> lease_;
    std::chrono::milliseconds longest_lease_{0};
    std::unique_ptr<runtime::loop> loop_;
    std::unique_ptr<name_tables> tables_;
    seam::identity self_;
};

/// The calling thread, as claims and holdings name it.
[[nodiscard]] seam::actor_id this_thread() noexcept;

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
