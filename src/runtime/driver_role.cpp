#include "runtime/driver_role.hpp"

#include <utility>

namespace holdfast::runtime {

namespace {

using base::boot_clock;
using std::chrono::nanoseconds;

// How long the I/O thread leaves the role to callers, who come back again and again.
constexpr std::chrono::milliseconds linger{5};

}  // namespace

void waiter::completed() noexcept {
    done = true;
    role_.wake(*this);
}

void waiter::nudged() noexcept {
    offered = true;
    role_.wake(*this);
}

void waiter::queued() noexcept { role_.wake(*this); }

bool driver_role::wait(base::mutex& held, waiter& self, base::instant until) {
    if (!driven_) {
        self.driving = true;
        drive(held, until);
        self.driving = false;
        pass_on();
        return true;
    }
    if (io_thread_drives_ && !wanted_) {
        wanted_ = true;
        store_.interrupt();
    }
    sleepers_.push_back(self);
    if (until == base::never) {
        self.woken.wait(held);
    } else {
        (void)self.woken.wait_for(held, until - boot_clock::now());
    }
    sleepers_.erase(sleepers_.iterator_to(self));
    return false;
}

bool driver_role::io_thread_turn(base::mutex& held) {
    bool const by_caller = std::exchange(wanted_, false) && !sleepers_.empty();
    if (by_caller || driven_ || boot_clock::now() < left_at_ + linger) {
        bool const nobody = !driven_;
        base::unlocked const meanwhile{held};
        if (nobody) store_.flush();
        io_alarm_.wait();  // whoever leaves the role sets it
        return false;
    }
    io_thread_drives_ = true;
    drive(held, base::never);
    (void)wake_one();
    io_thread_drives_ = false;
    return true;
}

void driver_role::drive(base::mutex& held, base::instant until) {
    driven_ = true;
    {
        base::unlocked const meanwhile{held};
        store_.drive(until);
    }
    driven_ = false;
    left_.notify_all();
}

void driver_role::pass_on() noexcept {
    if (driven_) return;
    (void)wake_one();
    if (!io_thread_drives_) leave_to_callers();  // also where the woken one gets no time to run
}

void driver_role::leave(base::mutex& held) {
    pass_on();
    if (driven_ || !sleepers_.empty()) return;
    base::unlocked const meanwhile{held};
    store_.flush();
}

// The I/O thread's alarm is moved rather than the I/O thread woken, and not at every turn.
void driver_role::leave_to_callers() noexcept {
    left_at_ = boot_clock::now();
    if (io_wakes_at_ >= left_at_ + linger) return;
    io_wakes_at_ = left_at_ + 2 * linger;
    io_alarm_.set(io_wakes_at_);
}

void driver_role::fill() noexcept {
    if (driven_) return;
    left_at_ = base::instant::min();
    io_alarm_.ring();
}

void driver_role::wake(waiter& whom) noexcept {
    if (whom.driving) {
        store_.interrupt();
    } else {
        whom.woken.notify_one();
    }
}

bool driver_role::wake_one() noexcept {
    if (sleepers_.empty()) return false;
    sleepers_.front().woken.notify_one();
    return true;
}

void driver_role::wake_io_thread() noexcept {
    if (io_thread_drives_) {
        store_.interrupt();
    } else {
        io_alarm_.ring();
    }
}

void driver_role::dismiss() noexcept {
    store_.interrupt();
    io_alarm_.ring();
}

void driver_role::await_nobody(base::mutex& held, nanoseconds most) {
    auto const end = base::after(boot_clock::now(), most);
    while (driven_ || finishing_ > 0) {
        auto const left = end - boot_clock::now();
        if (left <= nanoseconds::zero()) return;
        (void)left_.wait_for(held, left);
    }
}

}  // namespace holdfast::runtime
