// The holds of one name that belong to threads or owners, rather than to leases alone.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/options.hpp>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "core/biased_hold.hpp"
#include "core/hold_state.hpp"
#include "core/wait_queue.hpp"
#include "seam/claim.hpp"

namespace holdfast {
inline namespace v1 {
namespace detail {

/// Who holds, or asks: a thread, or an owner whose name counts for all threads.
struct holder {
    seam::actor_id thread{};
    std::string_view owner{};  ///< of a recursive mutex with an explicit owner; else empty
    claim_mode mode{claim_mode::exclusive};
};

/// Shared by all lock objects of one name and client.
///
/// A hold is remembered after the engine has granted it and forgotten before it is released, each by the thread to
/// which it belongs. The engine may lose it at any moment: what is found here is asked for its state before it
/// counts as held.
///
/// Thread-safety: all members may be called from any thread at once. No other mutex is taken while that of the
/// table is held, and the loop's is not held when it is taken.
class holder_table {
public:
    using hold_ptr = std::shared_ptr<core::hold_state>;

    explicit holder_table(std::string_view name) : name_{name} {}
    holder_table(holder_table const&) = delete;
    holder_table& operator=(holder_table const&) = delete;

    [[nodiscard]] std::string const& name() const noexcept { return name_; }

    void add(holder const& who, hold_ptr hold);
    /// What `who` got last; nothing when it holds nothing.
    [[nodiscard]] hold_ptr find(holder const& who) const;
    /// What `who` holds and has not lost, counted once more.
    [[nodiscard]] hold_ptr enter_again(holder const& who, base::instant now);
    /// Whether the thread holds the name as itself, in whatever mode.
    [[nodiscard]] bool is_held_by(seam::actor_id thread, base::instant now) const;

    /// Counts down what `who` got last. Empty when it holds nothing; the hold when it is to be released, else null.
    [[nodiscard]] std::optional<hold_ptr> leave(holder const& who);
    /// Counts down this hold: true when it is to be released.
    [[nodiscard]] bool leave(hold_ptr const& hold);

    /// The hold of a thread through a queue's biased hold, which is noted without a mutex: what is in it is that
    /// thread's.
    class biased_entry {
    public:
        [[nodiscard]] bool belongs_to(seam::actor_id thread) const noexcept {
            return owner_.load(std::memory_order_relaxed) == thread;
        }
        [[nodiscard]] core::wait_queue& queue() const noexcept { return *queue_; }
        [[nodiscard]] core::biased_hold::slot const& slot() const noexcept { return *slot_; }

        /// False while another thread is in it: one that has lost its hold, and has not unlocked it yet.
        [[nodiscard]] bool enter(seam::actor_id thread, core::wait_queue& queue,
                                 core::biased_hold::slot const& slot) noexcept {
            seam::actor_id nobody{};
            if (!owner_.compare_exchange_strong(nobody, thread, std::memory_order_acquire))
                return false;
            queue_ = &queue;
            slot_ = &slot;
            return true;
        }
        /// Before the next thread can enter.
        void leave() noexcept { owner_.store({}, std::memory_order_release); }

    private:
        std::atomic<seam::actor_id> owner_{};
        core::wait_queue* queue_{nullptr};
        core::biased_hold::slot const* slot_{nullptr};
    };
    biased_entry biased;

private:
    struct holding {
        seam::actor_id thread;
        std::string owner;
        claim_mode mode;
        hold_ptr hold;
        int count{1};

        [[nodiscard]] bool belongs_to(holder const& who) const noexcept;
    };
    using holdings = std::vector<holding>;

    std::string const name_;
    mutable base::mutex mutex_;
    holdings holdings_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
