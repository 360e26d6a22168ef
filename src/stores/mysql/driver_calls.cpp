// The calls of the driver, in packets of MySQL.
#include <set>
#include <string>
#include <utility>

#include "stores/compare/store_times.hpp"
#include "stores/mysql/driver.hpp"

namespace holdfast::stores::mysql {

// --- sessions ----------------------------------------------------------------------------------

void driver::open(compare::ticket which, compare::session_id id, std::chrono::milliseconds lease,
                  std::string body) {
    base::lock_guard const guard{mutex_};
    if (!enter(which)) return settle();
    ask(which, packets::open(id, lease, body), [this, which, id](answer const& found) {
        mutex_.assert_held();
        if (found.rows(0).empty())
            return out_.fail(which, {errc::store_unavailable, "the session has ended already"},
                             true);
        auto const& made = found.first();
        std::chrono::milliseconds const given{number_in(made[2])};
        mailbox_.expect_letters(id, given);
        out_.tell(which,
                  compare::opened{compare::generation{number_in(made[1])}, given,
                                  microseconds_in(made[3])},
                  time_in(found));
    });
    settle();
}

// With the letters that are there: whoever renews knows what was said before.
void driver::send_signs_of_life(compare::ticket which,
                                std::vector<compare::session_id> const& ids) {
    ask(which, packets::keep(ids, mailbox_.addresses()), [this, which, ids](answer const& found) {
        mutex_.assert_held();
        auto const when = time_in(found, 1);
        std::set<compare::session_id> alive;
        for (auto const& each : found.rows(2))
            alive.insert(compare::session_id{number_in(each[0])});
        mailbox_.take_letters(found.rows(0), !alive.empty());
        for (auto const id : alive)
            mailbox_.prolong(id);
        on_kept(which, ids, alive, {}, when);
    });
}

void driver::raise(compare::ticket which, compare::session_id id) {
    base::lock_guard const guard{mutex_};
    if (!enter(which)) return settle();
    ask(which, packets::raise(id), [this, which, id](answer const& found) {
        mutex_.assert_held();
        auto const& current = found.first()[1];
        if (!current) {
            forget(id);
            return out_.tell(which, compare::fenced{}, time_in(found));
        }
        out_.tell(which, compare::raised{compare::generation{number_in(current)}}, time_in(found));
    });
    settle();
}

void driver::close(compare::session_id id) noexcept {
    base::lock_guard const guard{mutex_};
    forget(id);
    if (!enter() || !pool_.is_up()) return;
    send(packets::close(id), [](answer const&) {});
    settle();
}

void driver::send_look_at(std::vector<compare::session_id> ids) {
    auto text = packets::look_at(ids);
    send(std::move(text), [this, ids = std::move(ids)](answer const& found) {
        mutex_.assert_held();
        if (found.lost || found.error != 0) return watched().were_found(ids, std::nullopt, now_);
        compare::watched_sessions::left living;
        for (auto const& each : found.rows(0))
            living.emplace(compare::session_id{number_in(each[0])}, number_in(each[1]));
        watched().were_found(ids, living, now_);
    });
}

// --- names -------------------------------------------------------------------------------------

void driver::send_look(sql::call which, std::vector<compare::name_query> what,
                       std::vector<compare::session_id> reaped, viewed_reader then) {
    std::string text;
    if (!reaped.empty()) text = packets::reap(reaped);
    for (auto const& each : what)
        text += (text.empty() ? "" : ";") + packets::look(each);
    ask(which, std::move(text),
        [this, which, what = std::move(what), then = std::move(then)](answer const& found) {
            mutex_.assert_held();
            std::vector<sql::viewed> seen;
            std::vector<grant> doubtful;
            for (std::size_t i = 0; i < what.size(); ++i) {
                seen.push_back(read_view(found, i, what[i]));
                add_doubtful(doubtful, seen.back());
            }
            auto const when = time_of_view(found, what.size() - 1);
            prove(which, doubtful, [then, seen = std::move(seen), when] { then(seen, when); });
        });
}

void driver::list(compare::ticket which, compare::listing what) {
    base::lock_guard const guard{mutex_};
    if (!enter(which)) return settle();
    ask(which, packets::list(what), [this, which](answer const& found) {
        mutex_.assert_held();
        compare::names out;
        for (auto const& each : found.rows(1))
            out.found.push_back(text_in(each[0]));
        out_.tell(which, std::move(out), time_in(found));
    });
    settle();
}

void driver::watch(compare::ticket which, compare::name_key key) {
    base::lock_guard const guard{mutex_};
    if (!enter(which)) return settle();
    mailbox_.watch(key);
    ask(which, packets::change_of(key), [this, which, key](answer const& found) {
        mutex_.assert_held();
        mailbox_.was_seen(key, compare::stamp{number_in(found.first()[1])});
        out_.tell(which, compare::in_force{}, time_in(found));
    });
    settle();
}

void driver::unwatch(compare::name_key key) noexcept {
    base::lock_guard const guard{mutex_};
    mailbox_.unwatch(key);
}

}  // namespace holdfast::stores::mysql
