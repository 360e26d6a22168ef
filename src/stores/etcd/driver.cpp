#include "stores/etcd/driver.hpp"

#include <algorithm>
#include <utility>

#include <grpc/support/time.h>

#include "stores/etcd/forks.hpp"
#include "stores/etcd/refusing_driver.hpp"
#include "stores/etcd/versions.hpp"

namespace holdfast::stores::etcd {

namespace {

// gRPC's clock stands still while the machine sleeps, so nobody waits longer than this by it.
constexpr std::chrono::microseconds longest_wait = std::chrono::seconds{5};
constexpr std::chrono::milliseconds farewell_time{2000};
constexpr std::chrono::seconds longest_end{10};
constexpr int most_events = 64;  ///< in one turn

// gRPC rounds up to whole milliseconds, so who does not want to wait has a deadline of the past.
gpr_timespec deadline_in(std::chrono::microseconds span) {
    if (span == span.zero()) return gpr_time_0(GPR_CLOCK_MONOTONIC);
    return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                        gpr_time_from_micros(span.count(), GPR_TIMESPAN));
}

std::chrono::microseconds left_until(base::instant when) {
    auto const now = base::boot_clock::now();
    if (when <= now) return {};
    return std::min(std::chrono::ceil<std::chrono::microseconds>(when - now), longest_wait);
}

}  // namespace

std::unique_ptr<compare::driver> make_driver(settings to, compare::log_function log,
                                             compare::driver_events& events) {
    if (grpc_was_forked()) return std::make_unique<refusing_driver>(forked_error(), events);
    return std::make_unique<driver>(std::move(to), std::move(log), events);
}

driver::driver(settings to, compare::log_function log, compare::driver_events& events)
    : settings_{std::move(to)}, keys_{settings_.prefix}, log_{std::move(log)}, events_{events} {
    note_use_of_grpc();
    core_ = std::make_unique<core>(settings_, keys_, listen(), out_);
}

driver::~driver() {
    if (!abandoned_) shut();
    // What cannot be ended is left as it is: gRPC allows nothing else.
    if (abandoned_ || !finish()) static_cast<void>(core_.release());
}

// What was cancelled ends at once, and may have to be asked how it ended: only then the queue is closed. Farewells
// have a moment to arrive.
bool driver::finish() {
    auto& on = *core_;
    bool cancelled = false;
    auto end = base::boot_clock::now() + farewell_time;
    while (on.calls.busy() || on.watching.busy() || on.wake.pending) {
        void* tag = nullptr;
        bool ok = false;
        if (on.queue.AsyncNext(&tag, &ok, deadline_in(left_until(end))) ==
            grpc::CompletionQueue::GOT_EVENT) {
            static_cast<completion*>(tag)->complete(ok);
        } else if (!std::exchange(cancelled, true)) {
            on.calls.cancel_all();
            end = base::boot_clock::now() + longest_end;
        } else {
            return false;
        }
    }
    on.queue.Shutdown();
    return true;
}

connection::listeners driver::listen() {
    return {
        .on_ready =
            [this] {
                mutex_.assert_held();
                if (std::exchange(lost_, false)) out_.doubt("the connection to etcd is back");
                core_->watching.on_ready();
                core_->subscribed.on_ready(base::boot_clock::now());
            },
        .on_lost =
            [this](base::error const& why) {
                mutex_.assert_held();
                lost_ = true;
                out_.doubt(why.text);
                core_->watching.on_lost();
            },
        .on_unreachable = [this](base::error const& why) { core_->watching.on_unreachable(why); },
        .on_version =
            [this](std::string const& version) {
                mutex_.assert_held();
                if (keeps_promises(version) || std::exchange(warned_, true)) return;
                out_.log(log_level::warning, weak_version_words(version, settings_.shown()));
            }};
}

compare::driver_traits driver::traits() const {
    return {.clock = false,
            .pushes = true,
            .letter_bytes = 16'000,
            .writes = 64,
            .ordered_appends = false,  // they share a revision
            .shortest_lease = std::chrono::seconds{1}};
}

bool driver::deliver() {
    std::vector<compare::outbox::told> out;
    {
        base::lock_guard const guard{mutex_};
        out = out_.take();
    }
    bool const some = !out.empty();
    compare::pass_on(std::move(out), events_, log_);
    return some;
}

void driver::drive(base::instant until) {
    do {
        take_events(until);
        bool const delivered = deliver();
        // Both at once often: whoever is told what it waits for interrupts, and this turn ends anyway.
        if (interrupted_.exchange(false) || delivered) return;
    } while (base::boot_clock::now() < until);
}

// Waits for the first event only. Whoever has a reason for it not to wait leaves that where it is found below, and
// then looks whether it waits.
void driver::take_events(base::instant until) {
    waiting_ = true;
    {
        base::lock_guard const guard{mutex_};
        auto const now = base::boot_clock::now();
        core_->watching.on_time(now);
        core_->subscribed.look_after_sessions(now);
        bool const may_wait = out_.is_empty() && !interrupted_;
        // What another thread sends meanwhile is not waited for longer than it may take.
        auto const soon = now + settings_.timeout / 2;
        until = may_wait ? std::min({until, core_->calls.next_end(), core_->watching.next_time(),
                                     core_->subscribed.next_look(), soon})
                         : base::instant{};
    }
    for (int taken = 0; taken < most_events; ++taken) {
        void* tag = nullptr;
        bool ok = false;
        auto const wait = taken == 0 ? left_until(until) : std::chrono::microseconds{};
        auto const got = core_->queue.AsyncNext(&tag, &ok, deadline_in(wait));
        waiting_ = false;
        base::lock_guard const guard{mutex_};
        // Only now: an answer may have lain in the socket for as long as nobody looked.
        if (got != grpc::CompletionQueue::GOT_EVENT)
            return core_->calls.expire(base::boot_clock::now());
        static_cast<completion*>(tag)->complete(ok);
        if (!core_->calls.busy()) return;  // a look for more costs as much as a wait
    }
}

// An alarm of gRPC's costs two changes of thread.
void driver::wake() noexcept {
    if (waiting_ && !core_->wake.pending.exchange(true))
        core_->wake.alarm.Set(&core_->queue, gpr_now(GPR_CLOCK_MONOTONIC), core_->wake.tag());
}

void driver::interrupt() noexcept {
    interrupted_ = true;
    wake();
}

// gRPC may write farewells only while somebody looks, and nobody does from now on.
void driver::shut() noexcept {
    {
        base::lock_guard const guard{mutex_};
        core_->calls.shut();
        core_->watching.on_lost();
    }
    auto const end = base::boot_clock::now() + farewell_time;
    for (bool more = !abandoned_; more;) {
        {
            base::lock_guard const guard{mutex_};
            if (!core_->calls.busy()) return;
        }
        void* tag = nullptr;
        bool ok = false;
        more = core_->queue.AsyncNext(&tag, &ok, deadline_in(left_until(end))) ==
               grpc::CompletionQueue::GOT_EVENT;
        base::lock_guard const guard{mutex_};
        more ? static_cast<completion*>(tag)->complete(ok) : core_->calls.cancel_all();
    }
}

}  // namespace holdfast::stores::etcd
