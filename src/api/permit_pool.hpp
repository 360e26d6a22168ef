// What is behind a semaphore: the permits that a client holds without a lease.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>

#include "api/lock_handle.hpp"
#include "api/session.hpp"
#include "base/mutex.hpp"

namespace holdfast {
inline namespace v1 {
namespace detail {

/// The permits of one name that one client holds without a lease, whichever object acquired them.
struct permit_table {
    struct batch {
        std::shared_ptr<core::hold_state> held;
        std::uint32_t permits;
        std::unique_ptr<std::stop_callback<std::function<void()>>> on_loss;
    };
    base::mutex mutex{};
    std::list<batch> held HOLDFAST_GUARDED_BY(mutex){};
    std::stop_source lost HOLDFAST_GUARDED_BY(mutex){};
};

/// Thread-safety: all members may be called from any thread at once.
class permit_pool {
public:
    permit_pool(std::shared_ptr<session> client, std::string_view name, std::uint32_t limit,
                lock_options options);

    [[nodiscard]] std::string const& name() const noexcept { return name_; }
    [[nodiscard]] std::shared_ptr<session> const& client() const noexcept { return client_; }

    /// Runs one acquire; the hold when it was granted. Throws `timed_out` when a retry policy ended
    /// a wait that has no other way to say so.
    [[nodiscard]] std::shared_ptr<core::hold_state> get(std::uint32_t n, bool wait,
                                                        std::chrono::nanoseconds timeout,
                                                        std::stop_token const& stop);
    /// The queue of one acquire of n permits.
    [[nodiscard]] std::shared_ptr<core::wait_queue> queue(std::uint32_t n) const;

    void keep(std::shared_ptr<core::hold_state> held, std::uint32_t n);
    void release(std::uint32_t n);
    [[nodiscard]] std::stop_token lost();
    [[nodiscard]] seam::adjusted adjust(std::optional<std::uint32_t> current);

private:
    [[nodiscard]] core::terms_ptr terms_for(std::uint32_t n) const;
    void shrink(std::shared_ptr<core::hold_state> const& held, std::uint32_t to);

    std::shared_ptr<session> const client_;
    std::string const name_;
    std::uint32_t const limit_;
    lock_options const options_;
    core::terms_ptr const single_;
    std::shared_ptr<permit_table> const holders_;
};

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
