// How a caller of the loop waits: included by the loop's own sources only.
#pragma once

#include <functional>
#include <optional>

#include "runtime/loop.hpp"

namespace holdfast::runtime {

template <class Step>
void loop::wait_until_done(guard& held, waiter& self, base::instant until, Step step) {
    while (!self.done && step() && !self.done) {
        if (until != base::never && base::boot_clock::now() >= until) break;
        if (engine_.todo.requests.empty() || sending_) {
            wait(held, self, until);
        } else {
            send_next(held);
        }
    }
    leave_rest(held);
    pass_seat();  // it may have been woken to take the seat, and does not need it
}

// Waits until the call of `self` is done. Between two steps a stop is heard, which wakes it.
template <class Step>
void loop::wait_or_stop(guard& held, waiter& self, std::stop_token const& stop, Step step) {
    std::optional<std::stop_callback<std::function<void()>>> on_stop;
    if (stop.stop_possible()) {
        held.unlock();  // the callback may run at once, and takes the lock
        on_stop.emplace(stop, [&] {
            std::lock_guard const inner{mutex_};
            self.stopped = true;
            wake(self);
        });
        held.lock();
    }
    wait_until_done(held, self, base::never, step);
    after_event(held);
    held.unlock();
    on_stop.reset();  // waits for a callback under way, which needs the lock
    held.lock();
}

}  // namespace holdfast::runtime
