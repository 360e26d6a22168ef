#include "runtime/loop.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "runtime/loop_wait.hpp"
#include "runtime/quiet_thread.hpp"

namespace holdfast::runtime {

namespace {

using base::boot_clock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// How long the I/O thread leaves the driver role to callers, who come back again and again.
constexpr milliseconds linger{5};

}  // namespace

void waiter::completed() noexcept {
    done = true;
    loop_.wake(*this);
}

void waiter::nudged() noexcept {
    offered = true;
    loop_.wake(*this);
}

void waiter::queued() noexcept { loop_.wake(*this); }

loop::loop(make_store const& make, core::engine::settings settings, log_function log)
    : store_{make(*this)},
      engine_{[&] {
          settings.abilities = store_->abilities();
          if (settings.abilities.lanes)
              settings.lane_of = [this](std::string_view name) { return store_->lane_of(name); };
          return settings;
      }()},
      instant_{engine_.abilities().instant},
      prompt_{engine_.abilities().prompt},
      generation_{fork_generation()},
      log_{std::move(log)},
      fork_watch_{std::make_unique<fork_watch>(*store_)} {}

loop::~loop() = default;

// --- performing --------------------------------------------------------------------------------

// Sends what the engine wants sent. Another sender may be at it: then it does ours too. A sender
// whose own call is done leaves the rest to the next one.
void loop::pump(guard& held, waiter const* self) {
    if (prompt_) return send_all(held);
    while (!engine_.todo.requests.empty() && !sending_ && !(self ? self->done : stopping_))
        send_next(held);
    if (self != nullptr) leave_rest(held);
}

void loop::send_next(guard& held) {
    if (instant_) return pump_instantly(boot_clock::now());
    if (prompt_) return send_all(held);
    sending_ = true;
    auto next = engine_.todo.requests.pop();
    held.unlock();
    auto answer = store_->send(next.id, std::move(next.what));
    held.lock();
    sending_ = false;
    if (answer) engine_.on_reply(next.id, *answer, boot_clock::now());
}

// To a store that takes requests without delay, whoever is at hand sends all there are.
void loop::send_all(guard& held) {
    while (!engine_.todo.requests.empty() && !sending_ && !stopping_) {
        sending_ = true;
        engine_.todo.requests.pop_all(scratch_);
        held.unlock();
        std::vector<std::pair<seam::request_id, seam::reply>> answers;
        for (auto& [id, what] : scratch_)
            if (auto answer = store_->send(id, std::move(what)))
                answers.emplace_back(id, std::move(*answer));
        held.lock();
        scratch_.clear();
        sending_ = false;
        for (auto const& [id, answer] : answers)
            engine_.on_reply(id, answer, boot_clock::now());
    }
}

void loop::leave_rest(guard& held) {
    if (engine_.todo.requests.empty() || sending_) return;
    if (instant_) return pump_instantly(boot_clock::now());
    if (prompt_) return send_all(held);
    if (!waiters_.empty()) return wake(waiters_.front());
    try_to_start_threads();
    wake_io_thread();
}

void loop::pump_instantly(base::instant now) {
    while (!engine_.todo.requests.empty()) {
        engine_.todo.requests.pop_all(scratch_);
        for (auto& [id, what] : scratch_)
            if (auto const answer = store_->send(id, std::move(what)))
                engine_.on_reply(id, *answer, now);
        scratch_.clear();
    }
}

// A policy that throws has nothing more to say: the acquire ends as if it had returned nothing.
std::optional<milliseconds> loop::ask_policy(core::engine::question const& what) {
    try {
        return what.policy_of->retry(what.about);
    } catch (std::exception const& why) {
        log_(log_level::error, std::string{"a retry policy threw: "} + why.what());
    } catch (...) {
        log_(log_level::error, "a retry policy threw");
    }
    return std::nullopt;
}

// What is for the user goes to the notifier.
void loop::hand_out() {
    auto& todo = engine_.todo;
    std::vector<notifier::job> losses;  // first: what comes after may be somebody else's grant
    for (auto& grant : todo.losses)
        losses.push_back([grant = std::move(grant)] { grant->announce_loss(); });
    if (!losses.empty()) loss_notifier_.post(losses);
    for (auto& question : todo.questions) {
        post([this, question = std::move(question)] {
            auto const delay = ask_policy(question);
            guard held{mutex_};
            auto const now = boot_clock::now();
            engine_.answer_retry(question.ticket, delay, now);
            send_in_background(held, now);
            after_event(held);
        });
    }
    for (auto& words : todo.warnings)
        log_(log_level::warning, std::move(words));
    todo.losses.clear();
    todo.questions.clear();
    todo.warnings.clear();
    if (!jobs_.empty()) notifier_.post(jobs_);
}

// After the engine was fed: hand out what is for the user, and see that the timer thread wakes in time.
void loop::after_event(guard&) {
    hand_out();
    if (closer_ != nullptr && engine_.idle()) wake(*closer_);
    auto const due = engine_.next_due();
    if (due >= wake_at_ || stopping_) return;  // who stops joins the threads without the lock
    try_to_start_threads();
    if (!timer_thread_.joinable()) return;
    wake_at_ = due;
    time_alarm_.ring();
}

// --- waiting and driving -----------------------------------------------------------------------

void loop::wait(guard& held, waiter& self, base::instant until) {
    hand_out();
    if (!driven_) {
        after_event(held);
        drive(held, &self.driving, until);
        return;
    }
    if (io_thread_drives_ && !driver_role_wanted_) {
        driver_role_wanted_ = true;
        store_->interrupt();
    }
    after_event(held);
    waiters_.push_back(self);
    if (until == base::never) {
        self.woken.wait(held);
    } else {
        self.woken.wait_for(held, until - boot_clock::now());
    }
    waiters_.erase(waiters_.iterator_to(self));
}

// Drives the store once, with the lock given up meanwhile; then offers the driver role to the next.
void loop::drive(guard& held, bool* driving, base::instant until) {
    driven_ = true;
    if (driving != nullptr) *driving = true;
    held.unlock();
    store_->drive(until);
    held.lock();
    driven_ = false;
    if (driving != nullptr) *driving = false;
    if (stopping_) driver_left_.notify_all();
    after_event(held);
    pass_driver_role();
}

// Somebody must drive as long as notices may come: the next waiter, else the I/O thread in a while.
void loop::pass_driver_role() noexcept {
    if (driven_) return;
    if (!waiters_.empty()) wake(waiters_.front());
    if (!io_thread_drives_) leave_driver_role();  // also where the woken one gets no time to run
}

// The I/O thread's alarm is moved rather than the I/O thread woken, and not at every turn.
void loop::leave_driver_role() noexcept {
    driver_left_at_ = boot_clock::now();
    if (io_thread_wakes_ >= driver_left_at_ + linger) return;
    io_thread_wakes_ = driver_left_at_ + 2 * linger;
    io_alarm_.set(io_thread_wakes_);
}

void loop::wake(waiter& whom) noexcept {
    if (whom.driving) {
        store_->interrupt();
    } else {
        whom.woken.notify_one();
    }
}

void loop::wake_io_thread() noexcept {
    if (io_thread_drives_) {
        store_->interrupt();
    } else {
        io_alarm_.ring();
    }
}

// What comes of these is handed out when the store has told all it has, which a store that does not
// block does at once: see `drive`.
void loop::on_reply(seam::request_id id, seam::reply answer) {
    guard held{mutex_};
    engine_.on_reply(id, answer, boot_clock::now());
    if (!prompt_) after_event(held);
}

void loop::on_notice(seam::notice what) {
    guard held{mutex_};
    engine_.on_notice(what, boot_clock::now());
    if (!prompt_) after_event(held);
}

// --- threads -----------------------------------------------------------------------------------

void loop::start_threads() {
    if (stopping_ || io_thread_.joinable()) return;
    if (!timer_thread_.joinable()) timer_thread_ = start_quietly([this] { run_timer_thread(); });
    io_thread_ = start_quietly([this] { run_io_thread(); });
}

// For what has begun already. Whatever happens next tries again.
void loop::try_to_start_threads() noexcept {
    try {
        start_threads();
    } catch (std::system_error const&) {}
}

void loop::run_timer_thread() {
    guard held{mutex_};
    while (!stopping_) {
        auto const now = boot_clock::now();
        engine_.on_time(now);
        if (instant_) pump_instantly(now);
        hand_out();
        if (closer_ != nullptr && engine_.idle()) wake(*closer_);
        if (!engine_.todo.requests.empty()) wake_io_thread();
        auto const until = wake_at_ = engine_.next_due();
        held.unlock();
        time_alarm_.wait(until);
        held.lock();
    }
}

void loop::run_io_thread() {
    guard held{mutex_};
    while (!stopping_) {
        pump(held, nullptr);
        after_event(held);
        if (stopping_) break;
        bool const wanted = std::exchange(driver_role_wanted_, false) && !waiters_.empty();
        if (wanted || driven_ || boot_clock::now() < driver_left_at_ + linger) {
            // Whoever leaves the driver role sets the alarm.
            held.unlock();
            io_alarm_.wait();
            held.lock();
            continue;
        }
        if (!engine_.todo.requests.empty() && !sending_) continue;
        io_thread_drives_ = true;
        drive(held, nullptr, base::never);
        io_thread_drives_ = false;
    }
}

// --- the end -----------------------------------------------------------------------------------

void loop::close(nanoseconds patience) noexcept {
    auto const end = base::after(boot_clock::now(), patience);
    {
        guard held{mutex_};
        if (std::exchange(closing_, true)) return;
        auto const now = boot_clock::now();
        engine_.close(now);
        if (instant_) pump_instantly(now);
        waiter self{*this};
        closer_ = &self;
        wait_until_done(held, self, end, [&] { return !engine_.idle(); });
        closer_ = nullptr;
        hand_out();
        stopping_ = true;
        store_->interrupt();
        time_alarm_.ring();
        io_alarm_.ring();
    }
    if (timer_thread_.joinable()) timer_thread_.join();
    if (io_thread_.joinable()) io_thread_.join();
    await_no_driver(end);
    loss_notifier_.stop();
    notifier_.stop();
    fork_watch_.reset();
    store_->shut();
}

// A caller whose call has ended may still be on its way out of the store, which must not be shut under
// it. What cleans up behind a caller has a deadline of its own, for which nobody waits here.
void loop::await_no_driver(base::instant end) {
    guard held{mutex_};
    constexpr std::chrono::seconds a_moment{1};  // also when the patience is used up
    driver_left_.wait_for(held, std::max<nanoseconds>(end - boot_clock::now(), a_moment),
                          [this] { return !driven_; });
}

}  // namespace holdfast::runtime
