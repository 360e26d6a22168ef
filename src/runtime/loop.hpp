// The loop of one client: runs its calls on whichever thread is at hand.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "core/engine.hpp"
#include "runtime/engine_runner.hpp"
#include "runtime/forked.hpp"
#include "runtime/notifier.hpp"
#include "runtime/waiter.hpp"
#include "seam/store.hpp"

namespace holdfast::runtime {

/// A call that waits in a queue of this client, unknown to the store.
struct local_waiter {
    seam::actor_id actor{};
    std::chrono::nanoseconds age{};
};

/// Each function begins something, and waits for it or not. A call that needs threads starts them: it throws
/// std::system_error, and has done nothing, when the system has no thread to give.
///
/// Thread-safety: all members may be called from any thread. They lock the loop's mutex, which nobody outside
/// src/runtime sees: who calls them must hold no mutex that user code, a completion or another call may want.
class loop final {
public:
    using log_function = engine_runner::log_function;
    using make_store = engine_runner::make_store;

    loop(make_store const& make, core::engine::settings settings, log_function log);
    loop(loop const&) = delete;
    loop& operator=(loop const&) = delete;
    ~loop();

    /// Runs one acquire to its end: granted, busy, failed, or stopped.
    void acquire(core::acquire_call& call, waiter& self, std::chrono::nanoseconds timeout,
                 std::stop_token const& stop);
    /// The first part of an acquire: until the store has the claim in its line. Then true: the call belongs to the
    /// engine until `finish` or `withdraw`. False when it has ended before.
    [[nodiscard]] bool queue(core::acquire_call& call, waiter& self,
                             std::chrono::nanoseconds timeout, std::stop_token const& stop);
    /// And the rest of it.
    void finish(core::acquire_call& call, waiter& self, std::stop_token const& stop);
    /// Runs one operation to its end.
    void run(core::operation_call& call, waiter& self);
    /// Runs one task to its end, or until it is stopped.
    void run(core::task_call& call, waiter& self, std::stop_token const& stop);
    /// Begins a task whose completion comes by callback; it must outlive its completion.
    void begin(core::task_call& call);
    void stop(core::task_call& call);
    /// See core::engine::unwatch.
    void unwatch(seam::cell_key const& key) noexcept;
    /// Begins an operation that nobody waits for.
    void run_later(seam::request what, std::chrono::nanoseconds patience);
    [[nodiscard]] release_outcome release(std::shared_ptr<core::hold_state> const& held,
                                          std::chrono::nanoseconds patience);
    /// Enqueues the release; does not wait for the store.
    void release_later(std::shared_ptr<core::hold_state> const& held) noexcept;
    /// The same for a permit that is used up with it.
    void consume_later(std::shared_ptr<core::hold_state> const& held) noexcept;
    /// The same for what was taken up in a queue's biased hold.
    void release_biased(core::wait_queue& queue, std::uint64_t generation) noexcept;
    /// For the thread inside a queue's biased hold, after the engine has made a regular hold of it: the biased hold
    /// is nobody's from here on.
    void drop_biased(core::wait_queue& queue, std::uint64_t generation) noexcept;
    /// See core::engine::abandon_parked.
    void abandon_parked(core::wait_queue& queue) noexcept;
    void renew(core::hold_state& held, std::optional<std::chrono::milliseconds> lease,
               std::chrono::nanoseconds patience);

    /// See core::engine::weaken.
    [[nodiscard]] std::optional<seam::convert> weaken(core::hold_state& held, core::terms_ptr to);

    /// Begins an acquire whose completion comes by callback; it must outlive its completion.
    void begin(core::acquire_call& call, std::chrono::nanoseconds timeout);
    void withdraw(core::acquire_call& call);
    void begin_release(std::shared_ptr<core::hold_state> const& held, core::release_call& call);
    /// For a completion; see engine_runner::post.
    void post(notifier::job what, bool anywhere = false) {
        runner_.post(std::move(what), anywhere);
    }
    /// The same for who holds no lock of ours. After `close` it runs on the calling thread.
    void post_or_run(notifier::job what) {
        notifier::run_here(runner_.post_at_once(std::move(what)));
    }
    /// The same from anywhere. After `close` it is dropped.
    void post_or_drop(notifier::job what) { (void)runner_.post_at_once(std::move(what)); }

    /// Who waits in each of the queues, all at one moment.
    [[nodiscard]] std::vector<std::vector<local_waiter>> local_waiters(
        std::span<std::shared_ptr<core::wait_queue> const> queues);
    [[nodiscard]] core::metrics counters();
    [[nodiscard]] bool has_biased_holds() const noexcept { return runner_.has_biased_holds(); }

    /// See seam::store::presence.
    [[nodiscard]] base::descriptor presence() noexcept { return runner_.store().presence(); }

    /// Ends all calls, settles all claims, joins the threads. Once. Takes `patience` at most, and what a
    /// request that cannot be interrupted takes.
    void close(std::chrono::nanoseconds patience) noexcept { runner_.close(patience); }

    /// Whether this is the process that made the loop.
    [[nodiscard]] bool at_home() const noexcept { return generation_ == fork_generation(); }

private:
    friend class waiter;
    class stop_watch;

    void begin(core::acquire_call& call, waiter& self, std::chrono::nanoseconds timeout,
               bool stoppable) HOLDFAST_REQUIRES(runner_.mutex);
    void finish(core::acquire_call& call, waiter& self) HOLDFAST_REQUIRES(runner_.mutex);
    void require_threads() HOLDFAST_EXCLUDES(runner_.mutex);
    template <class Feed>
    void begin_by_callback(Feed what) HOLDFAST_EXCLUDES(runner_.mutex);

    std::uint64_t const generation_;
    engine_runner runner_;
};

}  // namespace holdfast::runtime
