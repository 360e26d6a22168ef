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
    pass_driver_role();  // it may have been woken to take the driver role, and does not need it
}

/// Tells a waiter of a stop, between two of its steps. Made and destroyed without the loop's lock, which
/// the callback takes: it may run at once, and its end is waited for.
class loop::stop_watch {
public:
    stop_watch(loop& where, waiter& self, std::stop_token const& stop) {
        if (!stop.stop_possible()) return;
        callback_.emplace(stop, [&where, &self] {
            std::lock_guard const held{where.mutex_};
            self.stopped = true;
            where.wake(self);
        });
    }

private:
    std::optional<std::stop_callback<std::function<void()>>> callback_;
};

}  // namespace holdfast::runtime
