#include "runtime/loop.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/quiet_thread.hpp"

namespace holdfast::runtime {

namespace {

using base::boot_clock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// How long the courier leaves the driver's seat to callers who come back again and again.
constexpr milliseconds linger{5};

base::instant deadline_of(nanoseconds timeout, base::instant now) {
    return timeout == nanoseconds::max() ? base::never : base::after(now, timeout);
}

}  // namespace

void waiter::completed() noexcept {
    done = true;
    loop_.wake(*this);
}

void waiter::nudged() noexcept {
    offered = true;
    loop_.wake(*this);
}

loop::loop(make_store const& make, core::engine::settings settings, log_function log)
    : store_{make(*this)},
      engine_{[&] {
          settings.abilities = store_->abilities();
          return settings;
      }()},
      instant_{engine_.abilities().instant},
      generation_{fork_generation()},
      log_{std::move(log)},
      fork_watch_{std::make_unique<fork_watch>(*store_)} {}

loop::~loop() = default;

// --- callers -----------------------------------------------------------------------------------

template <class Step>
void loop::wait_until_done(guard& held, waiter& self, base::instant until, Step step) {
    while (!self.done && step() && !self.done) {
        if (until != base::never && boot_clock::now() >= until) break;
        if (engine_.todo.requests.empty() || sending_) {
            wait(held, self, until);
        } else {
            send_next(held);
        }
    }
    leave_rest();
    pass_seat();  // it may have been woken to take the seat, and does not need it
}

void loop::acquire(core::acquire_call& call, waiter& self, nanoseconds timeout,
                   std::stop_token const& stop) {
    call.takes_offers = true;
    guard held{mutex_};
    auto const now = boot_clock::now();
    engine_.begin(call, now, deadline_of(timeout, now));
    // A stop must be heard between two requests to a store that does not answer.
    if (instant_ || !stop.stop_possible()) pump(held, &self);
    if (!self.done) {
        std::optional<std::stop_callback<std::function<void()>>> on_stop;
        held.unlock();  // the callback may run at once, and takes the lock
        if (stop.stop_possible()) {
            on_stop.emplace(stop, [&] {
                std::lock_guard const inner{mutex_};
                self.stopped = true;
                wake(self);
            });
        }
        held.lock();
        wait_until_done(held, self, base::never, [&] {
            if (std::exchange(self.offered, false)) engine_.take_offer(call, boot_clock::now());
            if (self.stopped && !self.done) engine_.withdraw(call, boot_clock::now());
            return true;
        });
        after_event(held);
        held.unlock();
        on_stop.reset();  // waits for a callback under way, which needs the lock
        return;
    }
    after_event(held);
}

void loop::run(core::operation_call& call, waiter& self) {
    guard held{mutex_};
    engine_.begin(call, boot_clock::now());
    wait_until_done(held, self, base::never, [] { return true; });
    after_event(held);
}

namespace {

// Its answer is of no interest. The engine has let go of it when it is completed.
class unattended final : public core::completion {
public:
    unattended(notifier& on, seam::request what) : on_{on}, call{std::move(what), *this} {}
    void completed() noexcept override {
        on_.post([this] { delete this; });
    }

private:
    notifier& on_;

public:
    core::operation_call call;
};

}  // namespace

void loop::run_later(seam::request what, nanoseconds patience) {
    guard held{mutex_};
    auto const now = boot_clock::now();
    auto* const it = new unattended{notifier_, std::move(what)};
    it->call.deadline = base::after(now, patience);
    engine_.begin(it->call, now);
    send_in_background(now);
    after_event(held);
}

release_outcome loop::release(std::shared_ptr<core::grant> const& held_grant,
                              nanoseconds patience) {
    waiter self{*this};
    core::release_call call{self};
    guard held{mutex_};
    auto const now = boot_clock::now();
    engine_.release(held_grant, now, &call);
    wait_until_done(held, self, base::after(now, patience), [] { return true; });
    engine_.withdraw(call);
    auto const outcome = call.outcome.value_or(release_outcome::unknown);
    held_grant->outcome = outcome;
    after_event(held);
    return outcome;
}

void loop::release_later(std::shared_ptr<core::grant> const& held_grant) noexcept {
    guard held{mutex_};
    auto const now = boot_clock::now();
    engine_.release(held_grant, now);
    send_in_background(now);
    after_event(held);
}

void loop::release_lane(core::line& its, std::uint64_t generation) noexcept {
    guard held{mutex_};
    auto const now = boot_clock::now();
    engine_.release(its, generation, now);
    send_in_background(now);
    after_event(held);
}

void loop::begin_release(std::shared_ptr<core::grant> const& held_grant, core::release_call& call) {
    guard held{mutex_};
    auto const now = boot_clock::now();
    engine_.release(held_grant, now, &call);
    send_in_background(now);
    after_event(held);
}

// For requests that nobody waits for: the calling thread must not wait for the store either.
void loop::send_in_background(base::instant now) {
    if (instant_) return pump_instantly(now);
    if (engine_.todo.requests.empty() || sending_) return;
    start_threads();
    wake_courier();
}

void loop::renew(core::grant& held_grant, std::optional<milliseconds> lease, nanoseconds patience) {
    waiter self{*this};
    core::renew_call call{self};
    guard held{mutex_};
    auto const now = boot_clock::now();
    engine_.renew(held_grant, lease, call, now);
    wait_until_done(held, self, base::after(now, patience), [] { return true; });
    engine_.withdraw(call);
    after_event(held);
}

std::optional<seam::convert> loop::weaken(core::grant& held_grant, core::terms_ptr to) {
    guard held{mutex_};
    auto const now = boot_clock::now();
    auto request = engine_.weaken(held_grant, std::move(to), now);
    send_in_background(now);
    after_event(held);
    return request;
}

void loop::begin(core::acquire_call& call, nanoseconds timeout) {
    guard held{mutex_};
    auto const now = boot_clock::now();
    engine_.begin(call, now, deadline_of(timeout, now));
    send_in_background(now);
    start_threads();  // somebody must drive while it waits
    after_event(held);
}

void loop::withdraw(core::acquire_call& call) {
    guard held{mutex_};
    auto const now = boot_clock::now();
    engine_.withdraw(call, now);
    send_in_background(now);
    after_event(held);
}

core::metrics loop::counters() {
    guard const held{mutex_};
    return engine_.counters();
}

// --- performing --------------------------------------------------------------------------------

// Sends what the engine wants sent. Another sender may be at it: then it does ours too. A sender
// whose own call is done leaves the rest to the next one.
void loop::pump(guard& held, waiter const* self) {
    while (!engine_.todo.requests.empty() && !sending_ && !(self ? self->done : stopping_))
        send_next(held);
    if (self != nullptr) leave_rest();
}

void loop::send_next(guard& held) {
    if (instant_) return pump_instantly(boot_clock::now());
    sending_ = true;
    auto next = std::move(engine_.todo.requests.front());
    engine_.todo.requests.erase(engine_.todo.requests.begin());
    held.unlock();
    auto answer = store_->send(next.id, std::move(next.what));
    held.lock();
    sending_ = false;
    if (answer) engine_.on_reply(next.id, *answer, boot_clock::now());
}

void loop::leave_rest() {
    if (engine_.todo.requests.empty() || sending_) return;
    if (instant_) return pump_instantly(boot_clock::now());
    if (!waiters_.empty()) return wake(waiters_.front());
    start_threads();
    wake_courier();
}

void loop::pump_instantly(base::instant now) {
    while (!engine_.todo.requests.empty()) {
        scratch_.swap(engine_.todo.requests);
        for (auto& [id, what] : scratch_)
            if (auto const answer = store_->send(id, std::move(what)))
                engine_.on_reply(id, *answer, now);
        scratch_.clear();
    }
}

// What is for the user goes to the notifier.
void loop::hand_out() {
    auto& todo = engine_.todo;
    for (auto& grant : todo.losses)
        notifier_.post([grant = std::move(grant)] { grant->announce_loss(); });
    for (auto& question : todo.questions) {
        notifier_.post([this, question = std::move(question)] {
            auto const delay = question.policy_of->retry(question.about);
            guard held{mutex_};
            auto const now = boot_clock::now();
            engine_.answer_retry(question.ticket, delay, now);
            send_in_background(now);
            after_event(held);
        });
    }
    for (auto& words : todo.warnings)
        log_(log_level::warning, std::move(words));
    for (auto& key : todo.changes)
        if (changed_) notifier_.post([this, key = std::move(key)] { changed_(key); });
    todo.losses.clear();
    todo.questions.clear();
    todo.warnings.clear();
    todo.changes.clear();
}

// After the engine was fed: hand out what is for the user, and see that the timekeeper wakes in time.
void loop::after_event(guard&) {
    hand_out();
    if (closer_ != nullptr && engine_.idle()) wake(*closer_);
    auto const due = engine_.next_due();
    if (due < wake_at_) {
        start_threads();
        wake_at_ = due;
        time_alarm_.ring();
    }
}

// --- waiting and driving -----------------------------------------------------------------------

void loop::wait(guard& held, waiter& self, base::instant until) {
    hand_out();
    if (!driven_) {
        after_event(held);
        ++drives_;
        drive(held, &self.driving, until);
        return;
    }
    if (courier_drives_ && !seat_wanted_) {
        seat_wanted_ = true;
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

// Drives the store once, with the lock given up meanwhile; then offers the seat to the next.
void loop::drive(guard& held, bool* driving, base::instant until) {
    driven_ = true;
    if (driving != nullptr) *driving = true;
    held.unlock();
    store_->drive(until);
    held.lock();
    driven_ = false;
    if (driving != nullptr) *driving = false;
    pass_seat();
}

// Somebody must drive as long as notices may come: the next waiter, else the courier in a while.
void loop::pass_seat() noexcept {
    if (driven_) return;
    if (!waiters_.empty()) {
        wake(waiters_.front());
    } else if (courier_asleep_) {
        courier_alarm_.ring();
    }
}

void loop::wake(waiter& whom) noexcept {
    if (whom.driving) {
        store_->interrupt();
    } else {
        whom.woken.notify_one();
    }
}

void loop::wake_courier() noexcept {
    if (courier_drives_) {
        store_->interrupt();
    } else {
        courier_alarm_.ring();
    }
}

void loop::on_reply(seam::request_id id, seam::reply answer) {
    guard held{mutex_};
    engine_.on_reply(id, answer, boot_clock::now());
    after_event(held);
}

void loop::on_notice(seam::notice what) {
    guard held{mutex_};
    engine_.on_notice(what, boot_clock::now());
    after_event(held);
}

// --- threads -----------------------------------------------------------------------------------

void loop::start_threads() {
    if (timekeeper_.joinable() || stopping_) return;
    timekeeper_ = start_quietly([this] { keep_time(); });
    courier_ = start_quietly([this] { carry(); });
}

void loop::keep_time() {
    guard held{mutex_};
    while (!stopping_) {
        auto const now = boot_clock::now();
        engine_.on_time(now);
        if (instant_) pump_instantly(now);
        hand_out();
        if (!engine_.todo.requests.empty()) wake_courier();
        auto const until = wake_at_ = engine_.next_due();
        held.unlock();
        time_alarm_.wait(until);
        held.lock();
    }
}

void loop::carry() {
    guard held{mutex_};
    std::uint64_t seen = 0;
    while (!stopping_) {
        pump(held, nullptr);
        after_event(held);
        if (stopping_) break;
        bool const moved = std::exchange(seen, drives_) != drives_;
        bool const leave_seat = std::exchange(seat_wanted_, false) || driven_ || moved;
        if (leave_seat) {
            // Somebody else drives, or did a moment ago and is likely to come back. One who sits
            // there for long gives a sign when he leaves.
            courier_asleep_ = driven_ && !moved;
            auto const until = courier_asleep_ ? base::never : boot_clock::now() + linger;
            pass_seat();
            held.unlock();
            courier_alarm_.wait(until);
            held.lock();
            courier_asleep_ = false;
            continue;
        }
        if (!engine_.todo.requests.empty() && !sending_) continue;
        courier_drives_ = true;
        drive(held, nullptr, base::never);
        courier_drives_ = false;
    }
}

// --- the end -----------------------------------------------------------------------------------

void loop::close(nanoseconds patience) noexcept {
    {
        guard held{mutex_};
        if (std::exchange(closing_, true)) return;
        auto const now = boot_clock::now();
        engine_.close(now);
        if (instant_) pump_instantly(now);
        waiter self{*this};
        closer_ = &self;
        wait_until_done(held, self, base::after(now, patience), [&] { return !engine_.idle(); });
        closer_ = nullptr;
        hand_out();
        stopping_ = true;
        store_->interrupt();
        time_alarm_.ring();
        courier_alarm_.ring();
    }
    if (timekeeper_.joinable()) timekeeper_.join();
    if (courier_.joinable()) courier_.join();
    notifier_.stop();
    fork_watch_.reset();
    store_->shut();
}

}  // namespace holdfast::runtime
