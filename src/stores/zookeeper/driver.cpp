#include "stores/zookeeper/driver.hpp"

#include <algorithm>
#include <mutex>
#include <span>
#include <utility>

#include "stores/zookeeper/times.hpp"

namespace holdfast::stores::zookeeper {

driver::driver(settings to, log_function log, compare::driver_events& events)
    : settings_{std::move(to)},
      paths_{settings_.root},
      log_{std::move(log)},
      events_{events},
      chance_{base::entropy()} {}

driver::~driver() {
    if (abandoned_) {
        static_cast<void>(common_.release());
        for (auto& [id, each] : own_)
            static_cast<void>(each.release());
        for (auto& each : over_)
            static_cast<void>(each.release());
        return;
    }
    shut();
}

compare::driver_traits driver::traits() const {
    return {.clock = false,
            .pushes = true,
            .letter_bytes = 16'000,
            .writes = 48,
            .ordered_appends = true,
            .shortest_lease = std::chrono::milliseconds{100}};
}

// --- driving -----------------------------------------------------------------------------------

void driver::drive(base::instant until) {
    if (abandoned_) return;
    base::lock_guard const guard{mutex_};
    drive_locked(until);
    poller_.wake_by(next_due());
}

void driver::drive_locked(base::instant until) {
    for (bool again = false;; again = true) {
        poller_.forget_wakes();
        tend();
        if (deliver()) {
            interrupted_ = false;  // whoever called while the events were told: this is the return
            return;
        }
        auto const now = base::boot_clock::now();
        if (interrupted_.exchange(false) || (again && now >= until) || shut_) return;
        poller_.wake_by(std::min(until, next_due()));
        std::span<net::poller::event const> events;
        {
            base::unlocked const released{mutex_};
            events = poller_.wait(again || now < until ? base::never : now);
        }
        for (auto const& each : events) {
            if (common_ && common_->tag() == each.about) common_->process(each.kinds);
            for (auto const& [id, session] : own_)
                if (session->life->tag() == each.about) {
                    session->life->process(each.kinds);
                    break;
                }
        }
    }
}

bool driver::deliver() {
    if (deliveries_.empty()) return false;
    auto const events = std::exchange(deliveries_, {});
    base::unlocked const released{mutex_};
    for (auto const& each : events)
        each(events_);
    return true;
}

void driver::tend() {
    auto const now = base::boot_clock::now();
    std::exchange(over_, {}).clear();
    if (shut_) return;
    if (gap_ && common_->is_expired()) static_cast<void>(common());
    if (common_) common_->tend(now);
    std::vector<compare::session_id> all;
    for (auto const& [id, session] : own_)
        all.push_back(id);
    for (auto const id : all)
        tend(id, now);
    if (common_ && common_->is_connected())
        for (auto const& key : std::exchange(to_watch_, {}))
            if (names_.contains(key)) watch_head(key);
    std::vector<compare::session_id> due;
    for (auto& [id, when] : sessions_)
        if (now >= when) {
            when = base::never;
            due.push_back(id);
        }
    for (auto const id : due)
        look_at_watched(id);
    if (common_) common_->tend(now);
}

void driver::tend(compare::session_id id, base::instant now) {
    auto const living = [&] {
        auto const found = own_.find(id);
        return found == own_.end() ? nullptr : found->second.get();
    };
    if (auto const* const session = living()) session->life->tend(now);
    auto* const session = living();
    if (session == nullptr) return;
    bool const unkept = session->open && now >= session->began + session->lease;
    if (session->life->is_expired() || unkept) return end(id);
    if (!session->open) return;
    if (!session->hears && common_ && common_->is_connected()) await_letter(id);
    if (now < session->next_beat) return;
    beat(*session, {});
    session->life->tend(now);
}

base::instant driver::next_due() const noexcept {
    if (!over_.empty()) return {};
    auto out = common_ ? common_->due() : base::never;
    for (auto const& [id, session] : own_) {
        out = std::min(out, session->life->due());
        if (session->open)
            out = std::min({out, session->next_beat, session->began + session->lease});
    }
    for (auto const& [id, when] : sessions_)
        out = std::min(out, when);
    return out;
}

// After a call: what it has sent may have to be followed up, by whoever drives.
void driver::settle() {
    auto const now = base::boot_clock::now();
    if (common_) common_->tend(now);
    poller_.wake_by(next_due());
    if (!deliveries_.empty() || !over_.empty()) poller_.wake();
}

void driver::interrupt() noexcept {
    if (abandoned_) return;
    interrupted_ = true;
    poller_.wake();
}

void driver::shut() noexcept {
    if (abandoned_) return;
    base::lock_guard const guard{mutex_};
    if (std::exchange(shut_, true)) return;
    // Farewells: the common session last, which may have something on its way.
    std::exchange(over_, {}).clear();
    std::exchange(own_, {}).clear();
    common_.reset();
    deliveries_.clear();
}

void driver::abandon_in_child() noexcept {
    abandoned_ = true;
    if (!mutex_.try_lock()) return;
    base::lock_guard const guard{mutex_, std::adopt_lock};
    if (common_) common_->abandon();
    for (auto const& [id, session] : own_)
        session->life->abandon();
}

void driver::doubt(std::string why) {
    post([this, why = std::move(why)](auto& to) {
        log_(log_level::warning, why);
        to.on_doubt(why);
    });
}

void driver::tell(compare::ticket which, compare::outcome what) {
    post([which, what = std::move(what), now = store_time_of(base::boot_clock::now())](auto& to) {
        to.on_outcome(which, what, {.now = now});
    });
}

void driver::tell(compare::ticket which, fault const& trouble) {
    if (trouble.certain) return tell(which, compare::rejected{trouble.error});
    tell(which, compare::unknown{trouble.error});
}

fault driver::judge(answer const& from) const {
    return zookeeper::judge(from.code, from.sent, settings_);
}

}  // namespace holdfast::stores::zookeeper
