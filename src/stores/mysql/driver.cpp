#include "stores/mysql/driver.hpp"

#include <algorithm>
#include <utility>

#include "stores/mysql/fault.hpp"

namespace holdfast::stores::mysql {

using namespace std::chrono_literals;

namespace {

// Between two questions for mail: while something is waited for, and while there is only a session.
constexpr std::chrono::milliseconds shortest_pause = 2ms;
constexpr std::chrono::milliseconds longest_pause = 50ms;
constexpr std::chrono::milliseconds idle_pause = 250ms;
constexpr std::uint64_t most_turns = 8;  ///< whoever is further back asks as if it were the eighth
constexpr std::size_t most_read = 16;    ///< letters that are left in the table for a time
constexpr auto after_trouble = 500ms;
constexpr std::chrono::milliseconds look_at_least_every = 2s;  ///< at a watched session
constexpr int most_tries = 20;

base::error const shut_error{errc::closed, "the store is shut"};

}  // namespace

driver::driver(settings wanted, compare::driver_events& events, log_function log)
    : settings_{std::move(wanted)},
      tables_{settings_.prefix},
      events_{events},
      log_{std::move(log)},
      chance_{base::entropy()},
      pool_{settings_,
            tables_,
            poller_,
            {[this](base::error const& why) {
                 if (shut_ || std::exchange(down_, true)) return;
                 words_.emplace_back(log_level::warning, why.text);
                 post([text = why.text](auto& to) { to.on_doubt(text); });
             },
             [this](connection const& which) {
                 if (which.is_galera() && !std::exchange(said_galera_, true))
                     words_.emplace_back(log_level::warning,
                                         "the server " + settings_.server +
                                             " is a node of a Galera cluster: locks exclude each "
                                             "other only while all clients use the same node");
                 if (!std::exchange(down_, false)) return;
                 auto const text = "the server " + settings_.server + " is reached again";
                 words_.emplace_back(log_level::info, text);
                 post([text](auto& to) { to.on_doubt(text); });
                 post([](auto& to) { to.on_gap(); });
             }}} {}

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
        if (!shut_) {
            pool_.tend(now_);
            look_at_sessions();
            ask_for_mail();
        }
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
        pool_.take(events, now_);
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

base::instant driver::next_due() const noexcept {
    auto out = std::min(pool_.due(), asking_ ? base::never : mail_at_);
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
    pool_.cut(shut_error);
    deliveries_.clear();
}

// A thread of the parent may have been at work at the moment of the fork: then nothing is touched.
void driver::abandon_in_child() noexcept {
    abandoned_ = true;
    guard const held{mutex_, std::try_to_lock};
    if (held) pool_.abandon();
}

// --- exchanges ---------------------------------------------------------------------------------

bool driver::enter(compare::ticket which) {
    now_ = base::boot_clock::now();
    if (!shut_ && !abandoned_) return true;
    tell(which, compare::rejected{shut_error}, {});
    return false;
}

void driver::send(std::string text, std::function<void(answer)> done) {
    pool_.send({std::move(text), std::move(done)}, now_);
    poller_.wake_by(next_due());
    if (!deliveries_.empty()) poller_.wake();
}

void driver::ask(compare::ticket which, std::string text, reader read, int tries) {
    auto const copy = text;
    send(copy, [this, which, text = std::move(text), read = std::move(read), tries](answer found) {
        if (found.undone && may_be_sent_again(found.error) && tries < most_tries)
            return ask(which, text, read, tries + 1);
        if (found.lost || found.error != 0) return fail(which, found);
        read(found);
    });
}

void driver::tell(compare::ticket which, compare::outcome what, compare::reading when) {
    post([which, what = std::move(what), when](auto& to) { to.on_outcome(which, what, when); });
}

void driver::fail(compare::ticket which, answer const& found) {
    auto const why = found.lost ? *found.lost : explain(found.error, found.words, settings_);
    bool const certain = found.lost ? !found.sent : found.undone;
    certain ? tell(which, compare::rejected{why}, {}) : tell(which, compare::unknown{why}, {});
    if (found.error == no_such_table || found.error == no_such_sequence) pool_.cut(why);
}

// --- mail --------------------------------------------------------------------------------------

void driver::hasten() {
    waiting_ = true;
    mail_pause_ = shortest_pause;
    mail_at_ = std::min(mail_at_, now_ + shortest_pause);
}

void driver::ask_for_mail() {
    if (now_ < mail_at_ || asking_) return;
    auto const to = addresses();
    std::vector<compare::name_key> watched;
    for (auto const& [key, seen] : watched_)
        if (seen) watched.push_back(key);
    mail_at_ = base::never;
    if (to.empty() && watched.empty()) return;
    asking_ = true;
    // What was read is removed along with others, since that is a write of its own.
    bool const remove = read_.size() >= most_read || !waiting_;
    send(
        packets::mail(to, read_, remove, watched),
        [this, watched, removed = remove ? read_ : std::set<std::uint64_t>{}](answer const& found) {
            asking_ = false;
            if (found.lost || found.error != 0) {
                mail_at_ = now_ + after_trouble;
                return;
            }
            for (auto const id : removed)
                read_.erase(id);
            on_mail(found, watched);
        });
}

std::vector<compare::session_id> driver::addresses() const {
    std::vector<compare::session_id> out;
    for (auto const& [id, known] : own_)
        if (now_ < known.until) out.push_back(id);
    return out;
}

bool driver::take_letters(std::vector<row> const& found) {
    bool news = false;
    for (auto const& each : found) {
        if (!read_.insert(number_in(each[0])).second) continue;
        news = true;
        post([to = compare::session_id{number_in(each[1])}, body = *each[3],
              written = compare::stamp{number_in(each[2])}](auto& events) {
            events.on_letter(to, body, written);
        });
    }
    return news;
}

void driver::on_mail(answer const& found, std::vector<compare::name_key> const& watched) {
    bool news = take_letters(found.results[0]);
    std::map<compare::name_key, compare::stamp> stamps;
    if (found.results.size() > 2)
        for (auto const& each : found.results[2])
            stamps[{*each[0], each[1] == "1"}] = compare::stamp{number_in(each[2])};
    for (auto const& key : watched) {
        auto const known = watched_.find(key);
        if (known == watched_.end() || !known->second || *known->second == stamps[key]) continue;
        news = true;
        known->second = stamps[key];
        post([key](auto& events) { events.on_changed(key); });
    }
    bool const asked_soon = mail_at_ != base::never;
    auto const standing = number_in(found.results[1].at(0)[0]);
    bool const moving = std::exchange(standing_, standing) != standing;
    waiting_ = asked_soon || !watched_.empty() || standing != 0;
    // The nearer, the more often, as long as the line moves.
    if (news || asked_soon || moving)
        mail_pause_ = shortest_pause * std::clamp<std::uint64_t>(standing, 1, most_turns);
    else
        mail_pause_ = std::min<std::chrono::microseconds>(longest_pause, mail_pause_ * 5 / 4);
    std::chrono::microseconds const pause = waiting_ ? mail_pause_ : idle_pause;
    // With jitter, so that many clients do not ask at once.
    auto const spread = static_cast<std::uint64_t>(pause.count()) / 4 + 1;
    mail_at_ = now_ + pause + std::chrono::microseconds{chance_.below(spread)};
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
    send(packets::look_at(ids), [this, ids](answer const& found) {
        bool const known = !found.lost && found.error == 0;
        std::map<compare::session_id, std::chrono::microseconds> left;
        for (std::size_t i = 0; known && i < found.results[0].size(); ++i)
            left.emplace(compare::session_id{number_in(found.results[0][i][0])},
                         number_in(found.results[0][i][1]));
        for (auto const id : ids) {
            auto const entry = watched_sessions_.find(id);
            if (entry == watched_sessions_.end()) continue;
            auto const lives = left.find(id);
            if (!known) {
                entry->second = now_ + after_trouble;
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

}  // namespace holdfast::stores::mysql
