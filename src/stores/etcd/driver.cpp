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
constexpr std::chrono::milliseconds farewell_time{500};
constexpr std::chrono::seconds longest_end{10};
constexpr int most_events = 64;  ///< in one turn

seam::store_time store_now() {
    return seam::store_time{std::chrono::duration_cast<std::chrono::microseconds>(
        base::boot_clock::now().time_since_epoch())};
}

gpr_timespec deadline_in(std::chrono::microseconds span) {
    return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                        gpr_time_from_micros(span.count(), GPR_TIMESPAN));
}

std::chrono::microseconds left_until(base::instant when) {
    auto const now = base::boot_clock::now();
    if (when <= now) return {};
    return std::min(std::chrono::ceil<std::chrono::microseconds>(when - now), longest_wait);
}

template <class... Types>
struct overloaded : Types... {
    using Types::operator()...;
};
template <class... Types>
overloaded(Types...) -> overloaded<Types...>;

}  // namespace

std::unique_ptr<compare::driver> make_driver(settings to, log_function log,
                                             compare::driver_events& events) {
    if (grpc_was_forked()) return std::make_unique<refusing_driver>(forked_error(), events);
    return std::make_unique<driver>(std::move(to), std::move(log), events);
}

driver::driver(settings to, log_function log, compare::driver_events& events)
    : settings_{std::move(to)}, keys_{settings_.prefix}, log_{std::move(log)}, events_{events} {
    note_use_of_grpc();
    core_ = std::make_unique<core>(settings_, listen());
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
    while (on.link.busy() || on.watching.busy() || on.wake.pending) {
        void* tag = nullptr;
        bool ok = false;
        if (on.queue.AsyncNext(&tag, &ok, deadline_in(left_until(end))) ==
            grpc::CompletionQueue::GOT_EVENT) {
            static_cast<completion*>(tag)->complete(ok);
        } else if (!std::exchange(cancelled, true)) {
            on.link.cancel_all();
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
                if (std::exchange(lost_, false)) tell(told_doubt{"the connection to etcd is back"});
                core_->watching.on_ready();
                look_after_sessions();
            },
        .on_lost =
            [this](base::error const& why) {
                lost_ = true;
                tell(told_doubt{why.text});
                core_->watching.on_lost();
            },
        .on_unreachable = [this](base::error const& why) { core_->watching.on_unreachable(why); },
        .on_version = [this](std::string const& version) { warn_of(version); }};
}

compare::driver_traits driver::traits() const {
    return {.clock = false,
            .pushes = true,
            .letter_bytes = 16'000,
            .writes = 64,
            .shortest_lease = std::chrono::seconds{1}};
}

void driver::warn_of(std::string const& version) {
    if (warned_ || keeps_promises(version)) return;
    warned_ = true;
    tell(told_words{log_level::warning, weak_version_words(version, settings_.shown())});
}

void driver::tell(compare::ticket which, compare::outcome what) {
    tell(told_outcome{which, std::move(what), {.now = store_now()}});
}

void driver::tell(compare::ticket which, fault const& trouble) {
    if (trouble.certain) return tell(which, compare::rejected{trouble.error});
    tell(which, compare::unknown{trouble.error});
}

bool driver::deliver() {
    std::vector<told> out;
    {
        base::lock_guard const guard{mutex_};
        out.swap(outbox_);
    }
    for (auto& each : out)
        std::visit(
            overloaded{
                [&](told_outcome& of) {
                    events_.on_outcome(of.which, std::move(of.what), of.when);
                },
                [&](told_letter& of) { events_.on_letter(of.to, std::move(of.body), of.written); },
                [&](told_gap&) { events_.on_gap(); },
                [&](told_doubt& of) { events_.on_doubt(std::move(of.why)); },
                [&](told_words& of) { log_(of.level, std::move(of.text)); },
                [&](compare::name_key& of) { events_.on_changed(std::move(of)); },
                [&](compare::session_id& of) { events_.on_session_end(of); },
            },
            each);
    return !out.empty();
}

void driver::drive(base::instant until) {
    do {
        take_events(interrupted_ ? base::instant{} : until);
        if (deliver() || interrupted_.exchange(false)) return;
    } while (base::boot_clock::now() < until);
}

// Waits for the first event only.
void driver::take_events(base::instant until) {
    {
        base::lock_guard const guard{mutex_};
        if (!outbox_.empty()) until = {};
    }
    for (int taken = 0; taken < most_events; ++taken) {
        void* tag = nullptr;
        bool ok = false;
        auto const wait = taken == 0 ? left_until(until) : std::chrono::microseconds{};
        if (core_->queue.AsyncNext(&tag, &ok, deadline_in(wait)) !=
            grpc::CompletionQueue::GOT_EVENT)
            return;
        base::lock_guard const guard{mutex_};
        static_cast<completion*>(tag)->complete(ok);
    }
}

void driver::wake() noexcept {
    if (!core_->wake.pending.exchange(true))
        core_->wake.alarm.Set(&core_->queue, gpr_now(GPR_CLOCK_MONOTONIC), core_->wake.tag());
}

void driver::interrupt() noexcept {
    interrupted_ = true;
    wake();
}

void driver::shut() noexcept {
    base::lock_guard const guard{mutex_};
    core_->link.shut();
    core_->watching.on_lost();
}

}  // namespace holdfast::stores::etcd
