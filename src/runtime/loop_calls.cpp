// The loop's part that callers see: each begins something, and waits for it or not.
#include <optional>
#include <utility>

#include "runtime/loop_wait.hpp"

namespace holdfast::runtime {

namespace {

using base::boot_clock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

base::instant deadline_of(nanoseconds timeout, base::instant now) {
    return timeout == nanoseconds::max() ? base::never : base::after(now, timeout);
}

}  // namespace

void loop::acquire(core::acquire_call& call, waiter& self, nanoseconds timeout,
                   std::stop_token const& stop) {
    stop_watch const listening{*this, self, stop};
    guard held{mutex_};
    start_threads();
    begin(held, call, self, timeout, stop.stop_possible());
    finish(held, call, self);
}

void loop::queue(core::acquire_call& call, waiter& self, nanoseconds timeout,
                 std::stop_token const& stop) {
    stop_watch const listening{*this, self, stop};
    guard held{mutex_};
    start_threads();
    begin(held, call, self, timeout, stop.stop_possible());
    if (!self.done)
        wait_until_done(held, self, base::never, [&] {
            if (self.stopped && !self.done) engine_.withdraw(call, boot_clock::now());
            return !call.in_line;
        });
    after_event(held);
}

void loop::finish(core::acquire_call& call, waiter& self, std::stop_token const& stop) {
    stop_watch const listening{*this, self, stop};
    guard held{mutex_};
    finish(held, call, self);
}

void loop::begin(guard& held, core::acquire_call& call, waiter& self, nanoseconds timeout,
                 bool stoppable) {
    call.takes_offers = true;
    auto const now = boot_clock::now();
    engine_.begin(call, now, deadline_of(timeout, now));
    // A stop must be heard between two requests to a store that does not answer.
    if (instant_ || prompt_ || !stoppable) pump(held, &self);
}

void loop::finish(guard& held, core::acquire_call& call, waiter& self) {
    if (self.done) return after_event(held);
    wait_until_done(held, self, base::never, [&] {
        if (std::exchange(self.offered, false)) engine_.take_offer(call, boot_clock::now());
        if (self.stopped && !self.done) engine_.withdraw(call, boot_clock::now());
        return true;
    });
    after_event(held);
}

void loop::run(core::task_call& call, waiter& self, std::stop_token const& stop) {
    stop_watch const listening{*this, self, stop};
    guard held{mutex_};
    start_threads();
    engine_.begin(call, boot_clock::now());
    wait_until_done(held, self, base::never, [&] {
        if (self.stopped && !self.done) engine_.stop(call, boot_clock::now());
        return true;
    });
    after_event(held);
}

void loop::begin(core::task_call& call) {
    guard held{mutex_};
    start_threads();
    auto const now = boot_clock::now();
    engine_.begin(call, now);
    send_in_background(held, now);
    want_driver();
    after_event(held);
}

void loop::stop(core::task_call& call) {
    guard held{mutex_};
    auto const now = boot_clock::now();
    engine_.stop(call, now);
    send_in_background(held, now);
    after_event(held);
}

void loop::unwatch(seam::cell_key const& key) noexcept {
    guard held{mutex_};
    auto const now = boot_clock::now();
    engine_.unwatch(key, now);
    send_in_background(held, now);
    after_event(held);
}

void loop::run(core::operation_call& call, waiter& self) {
    guard held{mutex_};
    start_threads();
    engine_.begin(call, boot_clock::now());
    wait_until_done(held, self, base::never, [] { return true; });
    after_event(held);
}

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
    guard held{mutex_};
    start_threads();
    auto const now = boot_clock::now();
    auto* const request = new unattended{*this, std::move(what)};
    request->call.deadline = base::after(now, patience);
    engine_.begin(request->call, now);
    send_in_background(held, now);
    after_event(held);
}

release_outcome loop::release(std::shared_ptr<core::hold_state> const& held_grant,
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

void loop::release_later(std::shared_ptr<core::hold_state> const& held_grant) noexcept {
    guard held{mutex_};
    auto const now = boot_clock::now();
    engine_.release(held_grant, now);
    send_in_background(held, now);
    after_event(held);
}

void loop::consume_later(std::shared_ptr<core::hold_state> const& held_grant) noexcept {
    guard held{mutex_};
    auto const now = boot_clock::now();
    engine_.consume(held_grant, now);
    send_in_background(held, now);
    after_event(held);
}

void loop::release_biased(core::wait_queue& queue, std::uint64_t generation) noexcept {
    guard held{mutex_};
    auto const now = boot_clock::now();
    engine_.release(queue, generation, now);
    send_in_background(held, now);
    after_event(held);
}

void loop::abandon_parked(core::wait_queue& queue) noexcept {
    guard held{mutex_};
    auto const now = boot_clock::now();
    engine_.abandon_parked(queue, now);
    send_in_background(held, now);
    after_event(held);
}

void loop::begin_release(std::shared_ptr<core::hold_state> const& held_grant,
                         core::release_call& call) {
    guard held{mutex_};
    auto const now = boot_clock::now();
    engine_.release(held_grant, now, &call);
    send_in_background(held, now);
    want_driver();
    after_event(held);
}

// Somebody waits who does not drive by himself: a seat that is left to callers must not stay empty.
void loop::want_driver() {
    try_to_start_threads();
    if (driven_) return;
    driver_left_at_ = base::instant::min();
    io_alarm_.ring();
}

// For requests that nobody waits for: the calling thread must not wait for the store either.
void loop::send_in_background(guard& held, base::instant now) {
    if (instant_) return pump_instantly(now);
    if (engine_.todo.requests.empty() || sending_) return;
    try_to_start_threads();  // somebody must read the answer
    if (prompt_) return send_all(held);
    wake_io_thread();
}

void loop::renew(core::hold_state& held_grant, std::optional<milliseconds> lease,
                 nanoseconds patience) {
    waiter self{*this};
    core::renew_call call{self};
    guard held{mutex_};
    auto const now = boot_clock::now();
    engine_.renew(held_grant, lease, call, now);
    wait_until_done(held, self, base::after(now, patience), [] { return true; });
    engine_.withdraw(call);
    after_event(held);
}

std::optional<seam::convert> loop::weaken(core::hold_state& held_grant, core::terms_ptr to) {
    guard held{mutex_};
    auto const now = boot_clock::now();
    auto request = engine_.weaken(held_grant, std::move(to), now);
    send_in_background(held, now);
    after_event(held);
    return request;
}

void loop::begin(core::acquire_call& call, nanoseconds timeout) {
    guard held{mutex_};
    start_threads();
    auto const now = boot_clock::now();
    engine_.begin(call, now, deadline_of(timeout, now));
    send_in_background(held, now);
    want_driver();
    after_event(held);
}

void loop::withdraw(core::acquire_call& call) {
    guard held{mutex_};
    auto const now = boot_clock::now();
    engine_.withdraw(call, now);
    send_in_background(held, now);
    after_event(held);
}

void loop::post_at_once(notifier::job what) {
    std::vector<notifier::job> one;
    one.push_back(std::move(what));
    notifier_.post(one);
}

core::metrics loop::counters() {
    guard const held{mutex_};
    return engine_.counters();
}

}  // namespace holdfast::runtime
