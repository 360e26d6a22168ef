// The engine of one client under its lock, joined with what performs its actions.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "core/engine_visit.hpp"
#include "runtime/driver_role.hpp"
#include "runtime/forked.hpp"
#include "runtime/loop_threads.hpp"
#include "runtime/sender.hpp"
#include "runtime/waiter.hpp"
#include "seam/store.hpp"

namespace holdfast::runtime {

/// Who does what:
///
/// * A calling thread feeds the engine and sends what comes of it. When it must wait, it drives the
///   store itself if nobody else does: a round trip then costs no change of threads.
/// * The timer thread tells the engine the time. It sends to an instant store only and never blocks on
///   one, so that a loss is told in time whatever the store does.
/// * The I/O thread sends what nobody waits for and drives the store while no caller does.
/// * User code runs on two threads of its own.
///
/// Belongs to the loop, whose functions are the calls that it runs.
///
/// Thread-safety: one mutex, *the loop's*, guards the engine, the sending and the driver role; whoever feeds the
/// engine holds it. It is given up during store::send (instant stores aside) and store::drive, and never held
/// while user code runs. While it is held, only the mutexes of the store, of the notifiers and of core::hold_state
/// are taken; none of those is held when it is taken.
class engine_runner final : public seam::event_sink {
public:
    using log_function = std::function<void(log_level, std::string)>;
    using make_store = std::function<std::unique_ptr<seam::store>(seam::event_sink&)>;

    engine_runner(make_store const& make, core::engine::settings settings, log_function log);

    base::mutex mutex;

    /// For one event; callers are told at its end.
    [[nodiscard]] core::engine_visit engine() noexcept HOLDFAST_REQUIRES(mutex) {
        return core::engine_visit{engine_};
    }
    [[nodiscard]] sender& sending() noexcept HOLDFAST_REQUIRES(mutex) { return sender_; }
    /// For a waiter, which is told of its completion under the mutex.
    [[nodiscard]] driver_role& driver() noexcept HOLDFAST_NO_THREAD_SAFETY_ANALYSIS {
        return driver_;
    }
    [[nodiscard]] seam::store& store() noexcept { return *store_; }
    [[nodiscard]] bool has_biased_holds() const noexcept { return biased_; }

    /// See loop_threads::start.
    void start_threads() HOLDFAST_REQUIRES(mutex) { threads_.start(); }

    /// Has `what(engine, now)` feed the engine, sends what comes of it without waiting for the store, and hands out
    /// the rest.
    template <class Feed>
    auto feed(Feed what) HOLDFAST_REQUIRES(mutex);
    /// The same for a call whose end comes by callback: somebody must drive.
    template <class Feed>
    void feed_and_drive(Feed what) HOLDFAST_REQUIRES(mutex);
    /// Sends what is there as long as `self` is not done: the first steps of its call. Leaves the rest to others.
    void send_own(waiter const& self) HOLDFAST_REQUIRES(mutex);
    /// Sends and waits until `self` is done, or that moment has come, or `step(engine)`, which is asked before each
    /// turn, is false.
    template <class Step>
    void wait_until_done(waiter& self, base::instant until, Step step) HOLDFAST_REQUIRES(mutex);
    /// After the engine was fed: hands out what is for the user, and sees that the time is told when it is due.
    void after_event() HOLDFAST_REQUIRES(mutex);

    /// By completions, under the mutex: has `what` run on the notifier thread. What may run `anywhere` neither waits nor
    /// runs user code nor ends the client: it is run by the thread that has read the answer, when all answers that have come
    /// are read and no mutex is held.
    void post(notifier::job what, bool anywhere = false);
    /// What completions have posted and nobody runs, because the client was closed. Whoever has fed the engine
    /// runs it without the mutex: it may do what it likes, and so may the end of what it owns.
    [[nodiscard]] std::vector<notifier::job> take_refused() noexcept HOLDFAST_REQUIRES(mutex) {
        return std::exchange(jobs_, {});
    }
    /// By anybody, with the mutex or without it. Returns what nobody runs, because the client was closed.
    [[nodiscard]] std::vector<notifier::job> post_at_once(notifier::job what);

    /// See loop::close.
    void close(std::chrono::nanoseconds patience) noexcept HOLDFAST_EXCLUDES(mutex);

private:
    // event_sink: on the thread that drives
    void on_reply(seam::request_id id, seam::reply answer) override;
    void on_notice(seam::notice what) override;

    void hand_out() HOLDFAST_REQUIRES(mutex);
    void after_drive() HOLDFAST_REQUIRES(mutex);
    void answer_retry(core::engine::question const& what) HOLDFAST_EXCLUDES(mutex);
    [[nodiscard]] std::optional<std::chrono::milliseconds> ask_policy(
        core::engine::question const& what);
    void tell_closer() HOLDFAST_REQUIRES(mutex);
    void send_in_background(base::instant now) HOLDFAST_REQUIRES(mutex);
    void leave_rest() HOLDFAST_REQUIRES(mutex);
    void wait(waiter& self, base::instant until) HOLDFAST_REQUIRES(mutex);
    [[nodiscard]] base::instant tell_time();
    void perform_io();

    std::unique_ptr<seam::store> store_;
    core::engine engine_ HOLDFAST_GUARDED_BY(mutex);
    bool const biased_;
    bool const prompt_;
    log_function log_;
    driver_role driver_ HOLDFAST_GUARDED_BY(mutex);
    sender sender_ HOLDFAST_GUARDED_BY(mutex);
    loop_threads threads_;
    /// For the notifier, when the event is over; refused ones stay.
    std::vector<notifier::job> jobs_ HOLDFAST_GUARDED_BY(mutex);
    /// For the thread that drives, when it comes back.
    std::vector<notifier::job> drivers_jobs_ HOLDFAST_GUARDED_BY(mutex);
    /// That thread feeds the engine, and will come back soon.
    bool driver_feeds_ HOLDFAST_GUARDED_BY(mutex){false};
    /// Waits for the engine to be idle.
    waiter* closer_ HOLDFAST_GUARDED_BY(mutex){nullptr};
    bool closing_ HOLDFAST_GUARDED_BY(mutex){false};
    std::unique_ptr<fork_watch> fork_watch_;
};

template <class Feed>
auto engine_runner::feed(Feed what) {
    auto const now = base::boot_clock::now();
    if constexpr (std::is_void_v<decltype(what(engine_, now))>) {
        what(*engine(), now);
        send_in_background(now);
        after_event();
    } else {
        auto out = what(*engine(), now);
        send_in_background(now);
        after_event();
        return out;
    }
}

template <class Feed>
void engine_runner::feed_and_drive(Feed what) {
    feed(std::move(what));
    threads_.try_to_start();
    driver_.fill();
}

template <class Step>
void engine_runner::wait_until_done(waiter& self, base::instant until, Step step) {
    auto const goes_on = [&] {
        mutex.assert_held();
        return step(*engine());
    };
    while (!self.done && goes_on() && !self.done) {
        if (until != base::never && base::boot_clock::now() >= until) break;
        if (sender_.has_work()) {
            sender_.send_some(mutex);
        } else {
            wait(self, until);
        }
    }
    leave_rest();
    driver_.leave(mutex);
    after_event();
}

}  // namespace holdfast::runtime
