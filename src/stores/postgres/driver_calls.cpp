// The calls of the driver.
#include <algorithm>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "stores/postgres/driver.hpp"

namespace holdfast::stores::postgres {

namespace {

constexpr std::chrono::seconds sweep_every{60};
constexpr int most_sweeps = 60;  ///< in one turn: as many names as there can be in a minute
constexpr std::size_t most_contended = 4096;  ///< names that are remembered

std::vector<std::uint64_t> places_in(std::string_view words) {
    std::vector<std::uint64_t> out;
    while (!words.empty()) {
        auto const end = words.find(',');
        out.push_back(base::parse_number(words.substr(0, end)).value_or(0));
        words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
    }
    return out;
}

// Whether somebody has joined whom the step's client has not seen. A place may be lower than those that were seen: it
// is drawn before others can see who has it.
bool somebody_joined(compare::step const& what, std::vector<std::uint64_t> known,
                     rows const& standing) {
    if (standing.size() == 0) return false;
    if (standing.size() >= statements::most_behind) return true;
    known.insert(known.end(), what.seen_places.begin(), what.seen_places.end());
    for (int row = 0; row < standing.size(); ++row)
        if (std::ranges::find(known, static_cast<std::uint64_t>(standing.number(row, 0))) ==
            known.end())
            return true;
    return false;
}

}  // namespace

// --- sessions ----------------------------------------------------------------------------------

void driver::open(compare::ticket which, compare::session_id id, std::chrono::milliseconds lease,
                  std::string body) {
    guard const held{mutex_};
    if (!enter(which)) return;
    messages_.start();
    messages_.expect_letters(id);
    ask(which, {statements_.open(id, lease, messages_.channel(), std::move(body))},
        [this, which](answer const& found) {
            auto const& row = found.results.front();
            compare::opened const out{
                compare::generation{static_cast<std::uint64_t>(row.number(0, 2))},
                std::chrono::milliseconds{row.number(0, 3)}, store_time_of(row.number(0, 4))};
            messages_.post_when_heard(
                [which, out, when = read_time(row)](auto& to) { to.on_outcome(which, out, when); });
        });
}

void driver::keep(compare::ticket which, std::vector<compare::session_id> ids) {
    guard const held{mutex_};
    if (!enter(which)) return;
    ask(which, {statements_.keep(ids)}, [this, which, ids](answer const& found) {
        auto const& row = found.results.front();
        auto const when = read_time(row);
        std::set<compare::session_id> alive;
        for (int i = 0; i < row.size(); ++i)
            if (!row.is_null(i, 2))
                alive.insert(compare::session_id{static_cast<std::uint64_t>(row.number(i, 2))});
        std::vector<compare::kept> out;
        for (auto const id : ids)
            out.push_back(
                {id, alive.contains(id) ? compare::kept::state::alive : compare::kept::state::dead,
                 when.now});
        for (auto const& each : out)
            if (each.found == compare::kept::state::dead) messages_.forget_letters(each.id);
        tell(which, std::move(out), when);
    });
    if (now_ < sweep_at_) return;
    // One client in a minute does it for all.
    sweep_at_ = now_ + sweep_every;
    send({tables_.sweep_turn()}, [this](answer const& found) {
        if (found.lost || found.failed() != nullptr || found.results.front().size() == 0) return;
        sweep(most_sweeps);
    });
}

void driver::raise(compare::ticket which, compare::session_id id) {
    guard const held{mutex_};
    if (!enter(which)) return;
    ask(which, {statements_.raise(id)}, [this, which, id](answer const& found) {
        auto const& row = found.results.front();
        if (row.is_null(0, 2)) {
            messages_.forget_letters(id);
            return tell(which, compare::fenced{}, read_time(row));
        }
        tell(which,
             compare::raised{compare::generation{static_cast<std::uint64_t>(row.number(0, 2))}},
             read_time(row));
    });
}

void driver::close(compare::session_id id) noexcept {
    guard const held{mutex_};
    messages_.forget_letters(id);
    if (shut_ || abandoned_ || !connections_.is_up()) return;
    now_ = base::boot_clock::now();
    send({statements_.close(id)}, [](answer const&) {});
}

// Names that are used once leave as much behind as there were of them.
void driver::sweep(int turns) {
    send(tables_.sweep(), [this, turns](answer const& found) {
        bool const full = std::ranges::any_of(found.results, [](rows const& each) {
            return each.changed() >= schema::swept_at_once;
        });
        if (full && turns > 1 && !shut_) sweep(turns - 1);
    });
}

// --- names -------------------------------------------------------------------------------------

void driver::look(compare::ticket which, std::vector<compare::name_query> what,
                  std::vector<compare::session_id> expired, view_reader then) {
    std::vector<statement> all;
    bool const again = !expired.empty();
    bool const at_once = looks_alike(what);
    if (again) all.push_back(statements_.reap(expired));
    if (at_once) all.push_back(statements_.look(what));
    for (std::size_t i = 0; i < what.size() && !at_once; ++i)
        all.push_back(statements_.look(what[i]));
    // One transaction, in which each of them sees what is committed by then.
    for (std::size_t i = 0; i + 1 < all.size(); ++i)
        all[i].joined();
    ask(which, std::move(all),
        [this, which, what = std::move(what), again, at_once,
         then = std::move(then)](answer const& found) {
            std::vector<viewed> seen;
            if (at_once) seen = read_views(found.results.back(), what);
            for (std::size_t i = 0; i < what.size() && !at_once; ++i)
                seen.push_back(read_view(found.results[i + (again ? 1 : 0)], what[i]));
            std::vector<compare::view> out;
            std::vector<compare::session_id> over;
            for (auto& one : seen) {
                out.push_back(std::move(one.found));
                over.insert(over.end(), one.expired.begin(), one.expired.end());
            }
            if (!over.empty() && !again) return look(which, what, over, then);
            then(std::move(out), read_time(found.results.back()));
        });
}

void driver::fetch(compare::ticket which, compare::query what) {
    guard const held{mutex_};
    if (!enter(which)) return;
    if (what.names.empty()) what.names.emplace_back();
    look(which, std::move(what.names), {},
         [this, which](std::vector<compare::view> found, compare::reading when) {
             if (found.size() == 1 && found.front().key.name.empty()) found.clear();
             tell(which, compare::views{std::move(found)}, when);
         });
}

void driver::list(compare::ticket which, compare::listing what) {
    guard const held{mutex_};
    if (!enter(which)) return;
    ask(which, {statements_.list(what)}, [this, which](answer const& found) {
        auto const& row = found.results.front();
        compare::names out;
        for (int i = 1; i < row.size(); ++i)
            out.found.emplace_back(row.bytes(i, 2));
        tell(which, std::move(out), read_time(row));
    });
}

void driver::watch(compare::ticket which, compare::name_key key) {
    guard const held{mutex_};
    if (!enter(which)) return;
    messages_.start();
    messages_.watch(key);
    ask(which, {statements_.watch(key, messages_.channel())}, [this, which](answer const& found) {
        messages_.post_when_heard([which, when = read_time(found.results.front())](auto& to) {
            to.on_outcome(which, compare::in_force{}, when);
        });
    });
}

void driver::unwatch(compare::name_key key) noexcept {
    guard const held{mutex_};
    if (!messages_.unwatch(key) || shut_ || abandoned_) return;
    now_ = base::boot_clock::now();
    if (connections_.is_up())
        send({statements_.unwatch(key, messages_.channel())}, [](answer const&) {});
}

void driver::watch_session(compare::session_id id) {
    guard const held{mutex_};
    watched_sessions_[id] = base::boot_clock::now();
    poller_.wake();
}

void driver::unwatch_session(compare::session_id id) noexcept {
    guard const held{mutex_};
    watched_sessions_.erase(id);
}

// --- steps -------------------------------------------------------------------------------------

void driver::commit(compare::ticket which, compare::step what) {
    guard const held{mutex_};
    if (!enter(which)) return;
    std::vector<statement> all{statements_.step(what)};
    if (what.nobody_behind) all.push_back(statements_.look_behind(what.key));
    // From after the end of the step's transaction: what joined the line is there for all to see.
    if (contended_.contains(what.key)) all.push_back(statements_.look(what.otherwise));
    ask(which, std::move(all), [this, which, what = std::move(what)](answer found) {
        on_stepped(which, what, std::move(found));
    });
}

void driver::on_stepped(compare::ticket which, compare::step const& what, answer found) {
    auto const& row = found.results.front();
    auto const when = read_time(row);
    bool const guarded = row.number(0, 2) != 0;
    bool const carried_out = !row.is_null(0, 3);
    if (!guarded)
        return tell(which, compare::fenced{what.not_after && when.now > *what.not_after}, when);
    if (!what.append_otherwise.empty()) {
        if (contended_.size() >= most_contended) contended_.clear();
        carried_out ? void(contended_.erase(what.key)) : void(contended_.insert(what.key));
    }
    carried_out ? on_first_branch(which, what, found) : on_second_branch(which, what, found);
}

void driver::on_first_branch(compare::ticket which, compare::step const& what,
                             answer const& found) {
    auto const& row = found.results.front();
    compare::committed out{compare::stamp{static_cast<std::uint64_t>(row.number(0, 3))},
                           {},
                           places_in(row.bytes(0, 4))};
    if (!what.nobody_behind || !somebody_joined(what, out.places, found.results[1]))
        return tell(which, std::move(out), read_time(row));
    look(which, {what.otherwise}, {},
         [this, which, out](std::vector<compare::view> behind, compare::reading when) mutable {
             out.behind = std::move(behind.front());
             tell(which, std::move(out), when);
         });
}

void driver::on_second_branch(compare::ticket which, compare::step const& what,
                              answer const& found) {
    auto const then = [this, which](std::vector<compare::view> seen, compare::reading when) {
        tell(which, compare::missed{std::move(seen.front())}, when);
    };
    std::size_t const at = what.nobody_behind ? 2 : 1;
    if (found.results.size() <= at) return look(which, {what.otherwise}, {}, then);
    auto one = read_view(found.results[at], what.otherwise);
    if (!one.expired.empty()) return look(which, {what.otherwise}, one.expired, then);
    then({std::move(one.found)}, read_time(found.results[at]));
}

}  // namespace holdfast::stores::postgres
