// The calls of the driver, in the words of PostgreSQL.
#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "stores/postgres/driver.hpp"

namespace holdfast::stores::postgres {

namespace {

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

compare::session_id session_in(rows const& from, int row, int column) {
    return compare::session_id{static_cast<std::uint64_t>(from.number(row, column))};
}

compare::stamp stamp_in(rows const& from, int column) {
    return compare::stamp{static_cast<std::uint64_t>(from.number(0, column))};
}

}  // namespace

// --- sessions ----------------------------------------------------------------------------------

void driver::open(compare::ticket which, compare::session_id id, std::chrono::milliseconds lease,
                  std::string body) {
    base::lock_guard const guard{mutex_};
    if (!enter(which)) return settle();
    messages_.start();
    messages_.expect_letters(id);
    ask(which, {statements_.open(id, lease, messages_.channel(), std::move(body))},
        [this, which](answer const& found) {
            mutex_.assert_held();
            auto const& row = found.results.front();
            compare::opened const out{stamp_in(row, 2), std::chrono::milliseconds{row.number(0, 3)},
                                      compare::store_time_of(row.number(0, 4))};
            messages_.tell_when_heard({which, out, read_time(row)});
        });
    settle();
}

void driver::send_signs_of_life(compare::ticket which,
                                std::vector<compare::session_id> const& ids) {
    ask(which, {statements_.keep(ids)}, [this, which, ids](answer const& found) {
        mutex_.assert_held();
        auto const& row = found.results.front();
        auto const when = read_time(row);
        std::set<compare::session_id> alive;
        for (int i = 0; i < row.size(); ++i)
            if (!row.is_null(i, 2)) alive.insert(session_in(row, i, 2));
        std::vector<compare::session_id> over;
        std::ranges::copy_if(ids, std::back_inserter(over),
                             [&](auto id) { return !alive.contains(id); });
        if (over.empty()) return on_kept(which, ids, alive, {}, when);
        end_for_good({which, true}, over,
                     [this, which, ids, alive, when](std::set<compare::session_id> const& left) {
                         mutex_.assert_held();
                         on_kept(which, ids, alive, left, when);
                     });
    });
}

// A sign of life that was in time may still be under way, and would wake the dead.
void driver::end_for_good(sql::call which, std::vector<compare::session_id> const& ids,
                          std::function<void(std::set<compare::session_id> const&)> then) {
    ask(which, {statements_.reap(ids), statements_.look_at(ids)},
        [then = std::move(then)](answer const& found) {
            std::set<compare::session_id> left;
            auto const& row = found.results.back();
            for (int i = 0; i < row.size(); ++i)
                left.insert(session_in(row, i, 2));
            then(left);
        });
}

void driver::raise(compare::ticket which, compare::session_id id) {
    base::lock_guard const guard{mutex_};
    if (!enter(which)) return settle();
    ask(which, {statements_.raise(id)}, [this, which, id](answer const& found) {
        mutex_.assert_held();
        auto const& row = found.results.front();
        if (!row.is_null(0, 2))
            return out_.tell(which, compare::raised{stamp_in(row, 2)}, read_time(row));
        end_for_good(which, {id}, [this, which, id, when = read_time(row)](auto const& left) {
            mutex_.assert_held();
            if (!left.empty())
                return fail_call(
                    which, {errc::store_unavailable, "the session was over, and is not any more"},
                    true);
            forget(id);
            out_.tell(which, compare::fenced{}, when);
        });
    });
    settle();
}

void driver::close(compare::session_id id) noexcept {
    base::lock_guard const guard{mutex_};
    forget(id);
    if (!enter() || !connections_.is_up()) return;
    send({statements_.close(id)}, [](answer const&) {});
    settle();
}

void driver::send_look_at(std::vector<compare::session_id> ids) {
    std::vector<statement> both{statements_.reap(ids), statements_.look_at(ids)};
    send(std::move(both), [this, ids = std::move(ids)](answer const& found) {
        mutex_.assert_held();
        if (found.lost || found.failed() != nullptr)
            return watched().were_found(ids, std::nullopt, now_);
        compare::watched_sessions::left living;
        auto const& row = found.results.back();
        for (int i = 0; i < row.size(); ++i)
            living.emplace(session_in(row, i, 2), row.number(i, 3));
        watched().were_found(ids, living, now_);
    });
}

// --- names -------------------------------------------------------------------------------------

void driver::send_look(sql::call which, std::vector<compare::name_query> what,
                       std::vector<compare::session_id> reaped, viewed_reader then) {
    std::vector<statement> all;
    std::size_t const first = reaped.empty() ? 0 : 1;
    bool const at_once = looks_alike(what);
    if (!reaped.empty()) all.push_back(statements_.reap(reaped));
    if (at_once) all.push_back(statements_.look(what));
    for (std::size_t i = 0; i < what.size() && !at_once; ++i)
        all.push_back(statements_.look(what[i]));
    // One transaction, in which each of them sees what is committed by then.
    for (std::size_t i = 0; i + 1 < all.size(); ++i)
        all[i].joined();
    ask(which, std::move(all),
        [what = std::move(what), first, at_once, then = std::move(then)](answer const& found) {
            std::vector<sql::viewed> seen;
            if (at_once) seen = read_views(found.results.back(), what);
            for (std::size_t i = 0; i < what.size() && !at_once; ++i)
                seen.push_back(read_view(found.results[i + first], what[i]));
            then(std::move(seen), read_time(found.results.back()));
        });
}

void driver::list(compare::ticket which, compare::listing what) {
    base::lock_guard const guard{mutex_};
    if (!enter(which)) return settle();
    ask(which, {statements_.list(what)}, [this, which](answer const& found) {
        mutex_.assert_held();
        auto const& row = found.results.front();
        compare::names out;
        for (int i = 1; i < row.size(); ++i)
            out.found.emplace_back(row.bytes(i, 2));
        out_.tell(which, std::move(out), read_time(row));
    });
    settle();
}

void driver::watch(compare::ticket which, compare::name_key key) {
    base::lock_guard const guard{mutex_};
    if (!enter(which)) return settle();
    messages_.start();
    messages_.watch(key);
    ask(which, {statements_.watch(key, messages_.channel())}, [this, which](answer const& found) {
        mutex_.assert_held();
        messages_.tell_when_heard({which, compare::in_force{}, read_time(found.results.front())});
    });
    settle();
}

void driver::unwatch(compare::name_key key) noexcept {
    base::lock_guard const guard{mutex_};
    if (!messages_.unwatch(key) || !enter() || !connections_.is_up()) return;
    send({statements_.unwatch(key, messages_.channel())}, [](answer const&) {});
    settle();
}

// --- steps -------------------------------------------------------------------------------------

void driver::send_step(compare::ticket which, sql::shared_step what, bool along) {
    std::vector<statement> all;
    // In one transaction with the step, which sees all that was granted before it got the lock.
    if (what->ballot) all.push_back(statements_.lock_name(what->key).joined());
    auto const first = all.size();
    all.push_back(statements_.step(*what));
    if (what->nobody_behind) all.push_back(statements_.look_behind(what->key));
    // From after the end of the step's transaction: what joined the line is there for all to see.
    if (along) all.push_back(statements_.look(what->otherwise));
    ask(which, std::move(all), [this, which, what, along, first](answer const& found) {
        mutex_.assert_held();
        auto const& row = found.results[first];
        sql::stepped out{.guarded = row.number(0, 2) != 0, .when = read_time(row)};
        if (!row.is_null(0, 3)) {
            out.written = stamp_in(row, 3);
            out.places = places_in(row.bytes(0, 4));
            out.joined_unseen =
                what->nobody_behind && somebody_joined(*what, out.places, found.results[first + 1]);
        } else if (out.guarded && along) {
            out.otherwise = read_view(found.results.back(), what->otherwise);
            out.when = read_time(found.results.back());
        }
        on_stepped(which, what, std::move(out));
    });
}

}  // namespace holdfast::stores::postgres
