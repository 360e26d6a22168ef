#include "stores/postgres/driver.hpp"

#include <algorithm>
#include <utility>

#include "stores/postgres/fault.hpp"

namespace holdfast::stores::postgres {

using namespace std::chrono_literals;

namespace {

constexpr net::poller::tag about_hearing = 1U << 16;
constexpr std::chrono::milliseconds look_at_least_every{2'000};  ///< at a watched session
constexpr std::chrono::milliseconds look_again_after_trouble{500};

base::error const shut_error{errc::closed, "the store is shut"};

}  // namespace

driver::driver(settings wanted, compare::driver_events& events, log_function log)
    : settings_{std::move(wanted)},
      tables_{settings_.prefix},
      statements_{settings_.prefix},
      events_{events},
      log_{std::move(log)},
      connections_{settings_,
                   tables_,
                   poller_,
                   {[this](base::error const& why) {
                        if (shut_ || std::exchange(down_, true)) return;
                        words_.emplace_back(log_level::warning, why.text);
                        post([text = why.text](auto& to) { to.on_doubt(text); });
                    },
                    [this] {
                        if (!std::exchange(down_, false)) return;
                        auto const text = "the server " + settings_.server + " is reached again";
                        words_.emplace_back(log_level::info, text);
                        post([text](auto& to) { to.on_doubt(text); });
                    }}},
      messages_{settings_,
                tables_,
                statements_,
                poller_,
                about_hearing,
                now_,
                {.send =
                     [this](std::vector<statement> what, std::function<void(answer)> done) {
                         send(std::move(what), std::move(done));
                     },
                 .post = [this](event what) { post(std::move(what)); },
                 .warn =
                     [this](std::string text) {
                         words_.emplace_back(log_level::warning, std::move(text));
                     },
                 .is_down = [this] { return down_; }}} {}

driver::~driver() = default;

compare::driver_traits driver::traits() const {
    compare::driver_traits out;
    out.pushes = messages_.pushes();
    out.letter_bytes = letter_room;
    return out;
}

// --- driving -----------------------------------------------------------------------------------

void driver::drive(base::instant until) {
    if (abandoned_) return;
    guard held{mutex_};
    drive(held, until);
    poller_.wake_by(next_due());
}

void driver::drive(guard& held, base::instant until) {
    for (bool looked = false;; looked = true) {
        poller_.forget_wakes();
        now_ = base::boot_clock::now();
        tend();
        if (deliver(held)) {
            interrupted_ = false;  // whoever called while the events were told: this is the return
            return;
        }
        if (interrupted_.exchange(false) || (looked && now_ >= until) || shut_) return;
        poller_.wake_by(std::min(until, next_due()));
        held.unlock();
        auto const events = poller_.wait(looked || now_ < until ? base::never : now_);
        held.lock();
        now_ = base::boot_clock::now();
        for (auto const& each : events)
            if (each.about == about_hearing) messages_.advance();
        connections_.take(events, now_);
    }
}

bool driver::deliver(guard& held) {
    if (deliveries_.empty() && words_.empty()) return false;
    auto const events = std::exchange(deliveries_, {});
    auto words = std::exchange(words_, {});
    held.unlock();
    for (auto& [level, text] : words)
        log_(level, std::move(text));
    for (auto const& each : events)
        each(events_);
    held.lock();
    return !events.empty();
}

void driver::tend() {
    if (shut_) return;
    connections_.tend(now_);
    messages_.tend();
    look_at_sessions();
}

base::instant driver::next_due() const noexcept {
    auto out = std::min(connections_.due(), messages_.due());
    for (auto const& [id, when] : watched_sessions_)
        out = std::min(out, when);
    return out;
}

void driver::interrupt() noexcept {
    if (abandoned_) return;
    interrupted_ = true;
    poller_.wake();
}

void driver::shut() noexcept {
    if (abandoned_) return;
    guard const held{mutex_};
    if (std::exchange(shut_, true)) return;
    connections_.cut(shut_error);
    messages_.cut(shut_error);
    deliveries_.clear();
}

// A thread of the parent may have been at work at the moment of the fork: then nothing is touched.
void driver::abandon_in_child() noexcept {
    abandoned_ = true;
    guard const held{mutex_, std::try_to_lock};
    if (!held) return;
    connections_.abandon();
    messages_.abandon();
}

// --- exchanges ---------------------------------------------------------------------------------

bool driver::enter(compare::ticket which) {
    now_ = base::boot_clock::now();
    if (!shut_ && !abandoned_) return true;
    tell(which, compare::rejected{shut_error}, {});
    return false;
}

void driver::send(std::vector<statement> what, std::function<void(answer)> done) {
    connections_.send({std::move(what), std::move(done)}, now_);
    poller_.wake_by(next_due());
    if (!deliveries_.empty()) poller_.wake();
}

void driver::ask(compare::ticket which, std::vector<statement> what, reader read) {
    send(std::move(what), [this, which, read = std::move(read)](answer found) {
        if (found.lost || found.failed() != nullptr) return fail(which, found);
        read(std::move(found));
    });
}

void driver::tell(compare::ticket which, compare::outcome what, compare::reading when) {
    post([which, what = std::move(what), when](auto& to) { to.on_outcome(which, what, when); });
}

void driver::fail(compare::ticket which, answer const& found) {
    if (found.lost) {
        if (!found.sent) return tell(which, compare::rejected{*found.lost}, {});
        return tell(which, compare::unknown{*found.lost}, {});
    }
    auto const* const bad = found.failed();
    auto const why = explain(bad->state(), bad->words(), settings_);
    // What came before in the same exchange may have been carried out.
    bool const certain = bad == &found.results.front() && bad->surely_failed();
    certain ? tell(which, compare::rejected{why}, {}) : tell(which, compare::unknown{why}, {});
    if (bad->state() == "42P01") connections_.cut(why);
}

// --- sessions that are watched -----------------------------------------------------------------

void driver::look_at_sessions() {
    std::vector<compare::session_id> ids;
    for (auto& [id, when] : watched_sessions_) {
        if (now_ < when) continue;
        ids.push_back(id);
        when = base::never;
    }
    if (ids.empty()) return;
    send({statements_.reap(ids), statements_.look_at(ids)}, [this, ids](answer const& found) {
        bool const known = !found.lost && found.failed() == nullptr;
        std::map<compare::session_id, std::chrono::microseconds> left;
        for (int row = 0; known && row < found.results.back().size(); ++row)
            left.emplace(compare::session_id{static_cast<std::uint64_t>(
                             found.results.back().number(row, 2))},
                         found.results.back().number(row, 3));
        for (auto const id : ids) {
            auto const entry = watched_sessions_.find(id);
            if (entry == watched_sessions_.end()) continue;
            auto const lives = left.find(id);
            if (!known) {
                entry->second = now_ + look_again_after_trouble;
            } else if (lives == left.end()) {
                watched_sessions_.erase(entry);
                post([id](auto& to) { to.on_session_end(id); });
            } else {
                // Up to a millisecond later, so that it is over by then.
                entry->second = now_ + std::clamp<std::chrono::microseconds>(
                                           lives->second + 1ms, 5ms, look_at_least_every);
            }
        }
    });
}

}  // namespace holdfast::stores::postgres
