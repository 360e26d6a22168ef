// What is behind the latch, the barrier, the condition and the election: their terms and the client.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>

#include "api/session.hpp"
#include "base/mutex.hpp"
#include "core/barrier.hpp"
#include "core/latch.hpp"

namespace holdfast {
inline namespace v1 {
namespace detail {

// Thread-safety of all: their members may be used from any thread at once.

class latch_handle {
public:
    latch_handle(std::shared_ptr<session> client, std::string_view name,
                 std::optional<std::uint32_t> count);
    ~latch_handle();
    latch_handle(latch_handle const&) = delete;
    latch_handle& operator=(latch_handle const&) = delete;

    [[nodiscard]] core::latch_terms_ptr terms() const {
        base::lock_guard const guard{mutex_};
        return terms_;
    }
    /// After a reset, unless the count was left to others.
    void set_count(std::uint32_t count);

    std::shared_ptr<session> const client;
    std::string const name;

private:
    mutable base::mutex mutex_;
    core::latch_terms_ptr terms_ HOLDFAST_GUARDED_BY(mutex_);
};

class barrier_handle {
public:
    barrier_handle(std::shared_ptr<session> client, std::string_view name, std::uint32_t parties);
    ~barrier_handle();
    barrier_handle(barrier_handle const&) = delete;
    barrier_handle& operator=(barrier_handle const&) = delete;

    std::shared_ptr<session> const client;
    core::barrier_terms_ptr const terms;
};

class condition_handle {
public:
    condition_handle(std::shared_ptr<session> client, std::string_view name);

    void notify(std::uint32_t most);
    /// The queue of one waiter.
    [[nodiscard]] std::shared_ptr<core::wait_queue> queue() const {
        return std::make_shared<core::wait_queue>(terms);
    }

    std::shared_ptr<session> const client;
    core::terms_ptr const terms;
};

class election_handle {
public:
    election_handle(std::shared_ptr<session> client, std::string_view name, lock_options options);

    /// The queue of one candidate.
    [[nodiscard]] std::shared_ptr<core::wait_queue> queue(std::string_view value) const;
    /// A term that was won; remembered for `resign`.
    [[nodiscard]] lease as_lease(std::shared_ptr<core::hold_state> held);
    [[nodiscard]] std::shared_ptr<hold> last_term() const;
    /// Throws errc::unsupported where the store has no elections. Asks it once, for no longer than `most`.
    void require_support(std::chrono::nanoseconds most);

    std::shared_ptr<session> const client;
    std::string const name;

private:
    lock_options const options_;
    mutable base::mutex mutex_;
    std::weak_ptr<hold> last_ HOLDFAST_GUARDED_BY(mutex_);
    std::atomic<bool> supported_{false};  ///< as far as is known
};

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
