#include "runtime/loop.hpp"

#include <functional>
#include <utility>

namespace holdfast::runtime {

namespace {

using base::boot_clock;
using base::lock_guard;
using core::engine;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

base::instant deadline_of(nanoseconds timeout, base::instant now) {
    return timeout == nanoseconds::max() ? base::never : base::after(now, timeout);
}

constexpr auto no_step = [](engine const&) { return true; };

}  // namespace

waiter::waiter(loop& of) noexcept : role_{of.runner_.driver()} {}

loop::loop(make_store const& make, engine::settings settings, log_function log)
    : generation_{fork_generation()}, runner_{make, std::move(settings), std::move(log)} {}

loop::~loop() = default;

/// Tells a waiter of a stop, between two of its steps. Made and destroyed without the loop's mutex, which
/// the callback takes: it may run at once, and its end is waited for.
class loop::stop_watch {
public:
    stop_watch(loop& where, waiter& self, std::stop_token const& stop) {
        if (!stop.stop_possible()) return;
        callback_.emplace(stop, [&where, &self] {
            lock_guard const guard{where.runner_.mutex};
            self.stopped = true;
            where.runner_.driver().wake(self);
        });
    }

private:
    std::optional<std::stop_callback<std::function<void()>>> callback_;
};

// --- calls that are waited for -----------------------------------------------------------------

void loop::acquire(core::acquire_call& call, waiter& self, nanoseconds timeout,
                   std::stop_token const& stop) {
    stop_watch const listening{*this, self, stop};
    lock_guard const guard{runner_.mutex};
    runner_.start_threads();
    begin(call, self, timeout, stop.stop_possible());
    finish(call, self);
}

bool loop::queue(core::acquire_call& call, waiter& self, nanoseconds timeout,
                 std::stop_token const& stop) {
    stop_watch const listening{*this, self, stop};
    lock_guard const guard{runner_.mutex};
    runner_.start_threads();
    begin(call, self, timeout, stop.stop_possible());
    if (self.done) {
        runner_.after_event();
        return false;
    }
    runner_.wait_until_done(self, base::never, [&](engine& engine) {
        if (self.stopped && !self.done) engine.withdraw(call, boot_clock::now());
        return !call.in_line;
    });
    return !self.done;
}

void loop::finish(core::acquire_call& call, waiter& self, std::stop_token const& stop) {
    stop_watch const listening{*this, self, stop};
    lock_guard const guard{runner_.mutex};
    finish(call, self);
}

void loop::begin(core::acquire_call& call, waiter& self, nanoseconds timeout, bool stoppable) {
    call.takes_offers = true;
    auto const now = boot_clock::now();
    runner_.engine()->begin(call, now, deadline_of(timeout, now));
    // A stop must be heard between two requests to a store that does not answer.
    if (runner_.sending().never_blocks() || !stoppable) runner_.send_own(self);
}

void loop::finish(core::acquire_call& call, waiter& self) {
    if (self.done) return runner_.after_event();
    runner_.wait_until_done(self, base::never, [&](engine& engine) {
        if (std::exchange(self.offered, false)) engine.take_offer(call, boot_clock::now());
        if (self.stopped && !self.done) engine.withdraw(call, boot_clock::now());
        return true;
    });
}

void loop::run(core::task_call& call, waiter& self, std::stop_token const& stop) {
    stop_watch const listening{*this, self, stop};
    lock_guard const guard{runner_.mutex};
    runner_.start_threads();
    runner_.engine()->begin(call, boot_clock::now());
    runner_.wait_until_done(self, base::never, [&](engine& engine) {
        if (self.stopped && !self.done) engine.stop(call, boot_clock::now());
        return true;
    });
}

void loop::run(core::operation_call& call, waiter& self) {
    lock_guard const guard{runner_.mutex};
    runner_.start_threads();
    runner_.engine()->begin(call, boot_clock::now());
    runner_.wait_until_done(self, base::never, no_step);
}

release_outcome loop::release(std::shared_ptr<core::hold_state> const& held, nanoseconds patience) {
    waiter self{*this};
    core::release_call call{self};
    lock_guard const guard{runner_.mutex};
    auto const now = boot_clock::now();
    runner_.engine()->release(held, now, &call);
    runner_.wait_until_done(self, base::after(now, patience), no_step);
    runner_.engine()->withdraw(call);
    auto const outcome = call.outcome.value_or(release_outcome::unknown);
    if (!held->outcome) held->outcome = outcome;
    return outcome;
}

void loop::renew(core::hold_state& held, std::optional<milliseconds> lease, nanoseconds patience) {
    waiter self{*this};
    core::renew_call call{self};
    lock_guard const guard{runner_.mutex};
    auto const now = boot_clock::now();
    runner_.engine()->renew(held, lease, call, now);
    runner_.wait_until_done(self, base::after(now, patience), no_step);
    runner_.engine()->withdraw(call);
}

// --- calls whose end comes by callback ---------------------------------------------------------

void loop::require_threads() {
    lock_guard const guard{runner_.mutex};
    runner_.start_threads();
}

// After `close` the completion is run here, for there is no thread for it any more.
template <class Feed>
void loop::begin_by_callback(Feed what) {
    std::vector<notifier::job> refused;
    {
        lock_guard const guard{runner_.mutex};
        runner_.feed_and_drive(std::move(what));
        refused = runner_.take_refused();
    }
    notifier::run_here(std::move(refused));
}

void loop::begin(core::acquire_call& call, nanoseconds timeout) {
    require_threads();
    begin_by_callback([&](engine& engine, base::instant now) {
        engine.begin(call, now, deadline_of(timeout, now));
    });
}

void loop::withdraw(core::acquire_call& call) {
    lock_guard const guard{runner_.mutex};
    runner_.feed([&](engine& engine, base::instant now) { engine.withdraw(call, now); });
}

void loop::begin(core::task_call& call) {
    require_threads();
    begin_by_callback([&](engine& engine, base::instant now) { engine.begin(call, now); });
}

void loop::stop(core::task_call& call) {
    lock_guard const guard{runner_.mutex};
    runner_.feed([&](engine& engine, base::instant now) { engine.stop(call, now); });
}

void loop::begin_release(std::shared_ptr<core::hold_state> const& held, core::release_call& call) {
    begin_by_callback([&](engine& engine, base::instant now) { engine.release(held, now, &call); });
}

// --- what nobody waits for ---------------------------------------------------------------------

namespace {

// Its answer is of no interest. The engine has let go of it when it is completed.
class unattended final : public core::completion {
public:
    unattended(loop& on, seam::request what) : on_{on}, call{std::move(what), *this} {}
    void completed() noexcept override {
        on_.post([this] { delete this; });
    }

private:
    loop& on_;

public:
    core::operation_call call;
};

}  // namespace

void loop::run_later(seam::request what, nanoseconds patience) {
    require_threads();
    auto request = std::make_unique<unattended>(*this, std::move(what));
    begin_by_callback([&](engine& engine, base::instant now) {
        auto& call = request.release()->call;  // it deletes itself
        call.deadline = base::after(now, patience);
        engine.begin(call, now);
    });
}

void loop::unwatch(seam::cell_key const& key) noexcept {
    lock_guard const guard{runner_.mutex};
    runner_.feed([&](engine& engine, base::instant now) { engine.unwatch(key, now); });
}

void loop::release_later(std::shared_ptr<core::hold_state> const& held) noexcept {
    lock_guard const guard{runner_.mutex};
    runner_.feed([&](engine& engine, base::instant now) { engine.release(held, now); });
}

void loop::consume_later(std::shared_ptr<core::hold_state> const& held) noexcept {
    lock_guard const guard{runner_.mutex};
    runner_.feed([&](engine& engine, base::instant now) { engine.consume(held, now); });
}

void loop::release_biased(core::wait_queue& queue, std::uint64_t generation) noexcept {
    lock_guard const guard{runner_.mutex};
    runner_.feed(
        [&](engine& engine, base::instant now) { engine.release(queue, generation, now); });
}

void loop::abandon_parked(core::wait_queue& queue) noexcept {
    lock_guard const guard{runner_.mutex};
    runner_.feed([&](engine& engine, base::instant now) { engine.abandon_parked(queue, now); });
}

std::optional<seam::convert> loop::weaken(core::hold_state& held, core::terms_ptr to) {
    lock_guard const guard{runner_.mutex};
    return runner_.feed(
        [&](engine& engine, base::instant now) { return engine.weaken(held, std::move(to), now); });
}

// --- the engine's state, read or tidied under its mutex -------------------------------------------------------------

void loop::drop_biased(core::wait_queue& queue, std::uint64_t generation) noexcept {
    lock_guard const guard{runner_.mutex};
    queue.bias->drop(generation);
}

std::vector<std::vector<local_waiter>> loop::local_waiters(
    std::span<std::shared_ptr<core::wait_queue> const> queues) {
    std::vector<std::vector<local_waiter>> out(queues.size());
    lock_guard const guard{runner_.mutex};
    auto const now = boot_clock::now();
    for (std::size_t i = 0; i < queues.size(); ++i) {
        auto const& queue = *queues[i];
        // One of them is at the store already when the queue's claim waits there.
        bool at_store = queue.current != nullptr && queue.current->in_store_line;
        for (auto const& call : queue.waiting)
            if (!std::exchange(at_store, false)) out[i].push_back({call.actor, now - call.began});
    }
    return out;
}

core::metrics loop::counters() {
    lock_guard const guard{runner_.mutex};
    return runner_.engine()->counters();
}

}  // namespace holdfast::runtime
