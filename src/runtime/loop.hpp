// The loop of one client: performs what its engine wants, on whichever thread is at hand.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include <boost/intrusive/list.hpp>

#include "base/alarm.hpp"
#include "core/engine.hpp"
#include "runtime/forked.hpp"
#include "runtime/notifier.hpp"
#include "runtime/waiter.hpp"
#include "seam/store.hpp"

namespace holdfast::runtime {

/// Who does what:
///
/// * A calling thread feeds the engine and sends what comes of it. When it must wait, it drives the
///   store itself if nobody else does: a round trip then costs no change of threads.
/// * The timer thread thread only tells the engine the time. It never sends and never blocks on the
///   store, so that a loss is told in time whatever the store does.
/// * The I/O thread thread sends what nobody waits for and drives the store while no caller does.
/// * The loss thread thread tells holders of their loss, so that no other user code delays it.
/// * The notifier thread runs all other user code.
///
/// All are started when first needed; a call that needs them throws std::system_error, and has done
/// nothing, when the system has no thread to give. Thread-safety: all members may be called from any thread.
class loop final : public seam::event_sink {
public:
    using log_function = std::function<void(log_level, std::string)>;
    using make_store = std::function<std::unique_ptr<seam::store>(seam::event_sink&)>;

    loop(make_store const& make, core::engine::settings settings, log_function log);
    ~loop();

    /// Runs one acquire to its end: granted, busy, failed, or stopped.
    void acquire(core::acquire_call& call, waiter& self, std::chrono::nanoseconds timeout,
                 std::stop_token const& stop);
    /// The first part of an acquire: until the store has the claim in its line, or the call is done.
    void queue(core::acquire_call& call, waiter& self, std::chrono::nanoseconds timeout,
               std::stop_token const& stop);
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
    /// See core::engine::abandon_lane.
    void abandon_parked(core::wait_queue& queue) noexcept;
    void renew(core::hold_state& held, std::optional<std::chrono::milliseconds> lease,
               std::chrono::nanoseconds patience);

    /// See core::engine::weaken.
    [[nodiscard]] std::optional<seam::convert> weaken(core::hold_state& held, core::terms_ptr to);

    /// Begins an acquire whose completion comes by callback; it must outlive its completion.
    void begin(core::acquire_call& call, std::chrono::nanoseconds timeout);
    void withdraw(core::acquire_call& call);
    void begin_release(std::shared_ptr<core::hold_state> const& held, core::release_call& call);
    /// For a completion that runs under the loop's lock: has `what` run on the notifier thread.
    void post(notifier::job what) { jobs_.push_back(std::move(what)); }
    /// The same from anywhere, with the lock or without it.
    void post_at_once(notifier::job what);

    /// Guards the engine, and what the session keeps beside it.
    [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }
    [[nodiscard]] core::metrics counters();
    [[nodiscard]] bool has_biased_holds() const noexcept { return engine_.abilities().parks; }

    /// See seam::store::presence.
    [[nodiscard]] base::descriptor presence() noexcept { return store_->presence(); }

    /// Ends all calls, settles all claims, joins the threads. Once. Takes `patience` at most, and what a
    /// request that cannot be interrupted takes.
    void close(std::chrono::nanoseconds patience) noexcept;

    /// Whether this is the process that made the loop.
    [[nodiscard]] bool at_home() const noexcept { return generation_ == fork_generation(); }

private:
    friend class waiter;
    class stop_watch;
    using guard = std::unique_lock<std::mutex>;

    // event_sink: on the thread that drives
    void on_reply(seam::request_id id, seam::reply answer) override;
    void on_notice(seam::notice what) override;

    void pump(guard& held, waiter const* self);
    void send_next(guard& held);
    void send_all(guard& held);
    void leave_rest(guard& held);
    void pump_instantly(base::instant now);
    void hand_out();
    [[nodiscard]] std::optional<std::chrono::milliseconds> ask_policy(
        core::engine::question const& what);
    void send_in_background(guard& held, base::instant now);
    void after_event(guard& held);
    void wait(guard& held, waiter& self, base::instant until);
    void begin(guard& held, core::acquire_call& call, waiter& self,
               std::chrono::nanoseconds timeout, bool stoppable);
    void finish(guard& held, core::acquire_call& call, waiter& self);
    template <class Step>
    void wait_until_done(guard& held, waiter& self, base::instant until, Step step);
    void drive(guard& held, bool* driving, base::instant until);
    void pass_driver_role() noexcept;
    void leave_driver_role() noexcept;
    void want_driver();
    void wake(waiter& whom) noexcept;
    void wake_io_thread() noexcept;
    void start_threads();
    void try_to_start_threads() noexcept;
    void await_no_driver(base::instant end);
    void run_timer_thread();
    void run_io_thread();

    std::mutex mutex_;
    std::unique_ptr<seam::store> store_;
    core::engine engine_;
    bool const instant_;
    bool const prompt_;
    std::uint64_t const generation_;
    log_function log_;
    notifier notifier_;
    notifier loss_notifier_;

    // guarded by mutex_
    std::vector<notifier::job> jobs_;              ///< for the notifier, when the event is over
    std::vector<core::engine::outgoing> scratch_;  ///< while somebody is sending: that thread's
    boost::intrusive::list<waiter> waiters_;       ///< blocked, not driving
    bool driven_{false};                           ///< somebody is inside store::drive
    bool io_thread_drives_{false};
    waiter* closer_{nullptr};         ///< waits for the engine to be idle
    bool driver_role_wanted_{false};  ///< a caller would rather drive than the I/O thread
    bool sending_{false};             ///< somebody is sending: others leave their requests to it
    bool closing_{false};
    bool stopping_{false};
    base::instant driver_left_at_{
        base::instant::min()};  ///< when a caller last left the driver role
    base::instant io_thread_wakes_{
        base::instant::min()};            ///< at the latest, and looks for the driver role
    base::instant wake_at_{base::never};  ///< when the timer thread wakes by itself
    std::thread timer_thread_;
    std::thread io_thread_;

    std::condition_variable driver_left_;  ///< while the loop stops

    base::alarm time_alarm_;
    base::alarm io_alarm_;
    std::unique_ptr<fork_watch> fork_watch_;
};

}  // namespace holdfast::runtime
