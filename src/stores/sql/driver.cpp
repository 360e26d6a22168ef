#include "stores/sql/driver.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::stores::sql {

namespace {

constexpr std::chrono::seconds sweep_every{60};
/// Of clients that live too shortly to sweep in the course of their renewals, one in so many does so at its end,
constexpr std::uint64_t one_sweeps_in = 8;
/// and stays for so long at most.
constexpr std::chrono::milliseconds longest_farewell{250};

std::vector<compare::session_id> to_be_reaped(std::vector<viewed> const& seen) {
    std::vector<compare::session_id> out;
    for (auto const& each : seen) {
        out.insert(out.end(), each.expired.begin(), each.expired.end());
        // Those that are not told are asked for, as if they were over.
        out.insert(out.end(), each.untold.begin(), each.untold.end());
    }
    return out;
}

std::vector<compare::view> views_of(std::vector<viewed>&& seen) {
    std::vector<compare::view> out;
    for (auto& each : seen)
        out.push_back(std::move(each.found));
    return out;
}

}  // namespace

// --- the server --------------------------------------------------------------------------------

bool driver::on_down(base::error const& why) {
    forget_ballots();  // whoever comes back may be another one
    if (is_shut() || std::exchange(down_, true)) return false;
    out_.log(log_level::warning, why.text);
    out_.doubt(why.text);
    return true;
}

bool driver::on_up() {
    if (!std::exchange(down_, false)) return false;
    auto const text = "the server " + server_ + " is reached again";
    out_.log(log_level::info, text);
    out_.doubt(text);
    return true;
}

// --- sessions ----------------------------------------------------------------------------------

void driver::keep(compare::ticket which, std::vector<compare::session_id> ids) {
    base::lock_guard const guard{mutex_};
    if (!enter(which)) return settle();
    send_signs_of_life(which, ids);
    // One client in a minute does it for all.
    if (now_ >= sweep_at_) {
        sweep_at_ = now_ + sweep_every;
        send_sweep(false);
    }
    settle();
}

// Who is gone before its first sign of life would never sweep, and a name for each of a crowd of such clients would fill the
// tables. All its locks are given back by now, so nobody waits for this; and mostly somebody else has had the turn.
void driver::wind_up() {
    bool const was_short = sweep_at_ == base::instant{};
    if (!leaves_something_ || !was_short || !chance_.one_in(one_sweeps_in)) return;
    auto const end = now_ + longest_farewell;
    auto const is_idle = [this] { return !is_busy(); };
    if (!take_until(is_idle, end) || !is_connected()) return;
    send_sweep(true);
    take_until(is_idle, end);
}

void driver::on_kept(compare::ticket which, std::vector<compare::session_id> const& ids,
                     std::set<compare::session_id> const& alive,
                     std::set<compare::session_id> const& undecided, compare::reading when) {
    using state = compare::kept::state;
    std::vector<compare::kept> out;
    for (auto const id : ids) {
        auto const found = alive.contains(id)       ? state::alive
                           : undecided.contains(id) ? state::unknown
                                                    : state::dead;
        if (found == state::dead) forget(id);
        out.push_back({id, found, when.now});
    }
    out_.tell(which, std::move(out), when);
}

void driver::watch_session(compare::session_id id) {
    base::lock_guard const guard{mutex_};
    watched_.add(id, base::boot_clock::now());
    poller_.wake();
}

void driver::unwatch_session(compare::session_id id) noexcept {
    base::lock_guard const guard{mutex_};
    watched_.remove(id);
}

void driver::look_at_sessions() {
    if (auto ids = watched_.take_due(now_); !ids.empty()) send_look_at(std::move(ids));
}

// --- looks -------------------------------------------------------------------------------------

void driver::fetch(compare::ticket which, compare::query what) {
    base::lock_guard const guard{mutex_};
    if (!enter(which)) return settle();
    bool const nothing = what.names.empty();  // whether the server is there is asked all the same
    if (nothing) what.names.emplace_back();
    bool const votes = std::ranges::any_of(what.names, &compare::name_query::ballot);
    with_ballots(which, votes, [this, which, nothing, names = std::move(what.names)] {
        mutex_.assert_held();
        look(which, names,
             [this, which, nothing](std::vector<compare::view> found, compare::reading when) {
                 mutex_.assert_held();
                 if (nothing) found.clear();
                 out_.tell(which, compare::views{std::move(found)}, when);
             });
    });
    settle();
}

void driver::with_ballots(call which, bool needed, std::function<void()> then) {
    if (!needed || ballots_) return then();
    make_ballots(which, [this, then = std::move(then)] {
        mutex_.assert_held();
        ballots_ = true;
        then();
    });
}

void driver::look(call which, std::vector<compare::name_query> what, view_reader then) {
    auto const copy = what;
    send_look(which, copy, {},
              [this, which, what = std::move(what), then = std::move(then)](
                  std::vector<viewed> seen, compare::reading when) {
                  mutex_.assert_held();
                  if (!to_be_reaped(seen).empty()) return look_again(which, what, seen, then);
                  then(views_of(std::move(seen)), when);
              });
}

void driver::look_again(call which, std::vector<compare::name_query> what,
                        std::vector<viewed> const& seen, view_reader then) {
    for (std::size_t i = 0; i < what.size(); ++i) {
        auto& named = what[i].sessions;
        named.insert(named.end(), seen[i].untold.begin(), seen[i].untold.end());
    }
    send_look(which, std::move(what), to_be_reaped(seen),
              [then = std::move(then)](std::vector<viewed> closer, compare::reading when) {
                  then(views_of(std::move(closer)), when);
              });
}

}  // namespace holdfast::stores::sql
