#include "stores/mysql/driver.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "stores/mysql/fault.hpp"

namespace holdfast::stores::mysql {

namespace {

constexpr int most_tries = 20;
constexpr int most_sweeps = 120;  ///< in one turn: as many names as there can be in a minute

base::error const shut_error{errc::closed, "the store is shut"};

}  // namespace

driver::driver(settings wanted, compare::driver_events& events, compare::log_function log)
    : sql::driver{wanted.server, events, std::move(log)},
      settings_{std::move(wanted)},
      tables_{settings_.prefix},
      pool_{settings_.connections,
            [this](net::poller::tag about, connection::owner& tell) {
                return std::make_unique<connection>(settings_, tables_, poller_, about, tell);
            },
            {.on_down =
                 [this](base::error const& why) {
                     mutex_.assert_held();
                     on_down(why);
                 },
             .on_up =
                 [this](connection const& which) {
                     mutex_.assert_held();
                     if (which.is_galera() && !std::exchange(said_galera_, true))
                         out_.log(log_level::warning,
                                  "the server " + settings_.server +
                                      " is a node of a Galera cluster: locks exclude each other "
                                      "only while all clients use the same node");
                     bool const back = on_up();
                     if (!(which.is_fresh() && is_another_life(which)) && !back) return;
                     mailbox_.forget_letters();
                     out_.gap();
                 }}},
      mailbox_{out_,
               now_,
               {.send =
                    [this](std::string text, std::function<void(answer)> done) {
                        mutex_.assert_held();
                        send(std::move(text), std::move(done));
                    },
                .is_up = [this] { return pool_.is_up(); },
                .timeout = settings_.timeout,
                .durable = durable_}} {}

// A server may have crashed, or lost its tables, while a connection that nobody uses still seems to be there.
bool driver::is_another_life(connection const& found) {
    auto const before = std::exchange(life_, found.life());
    return before && (before->is_before(found.life()) || found.has_made_tables());
}

// --- driving -----------------------------------------------------------------------------------

void driver::tend() {
    pool_.tend(now_);
    look_at_sessions();
    mailbox_.tend();
}

base::instant driver::next_due() const noexcept {
    return std::min({pool_.due(), mailbox_.due(), sessions_due()});
}

void driver::cut() noexcept { pool_.cut(shut_error); }

// --- exchanges ---------------------------------------------------------------------------------

void driver::ask(sql::call which, std::string text, reader read, int tries) {
    auto const copy = text;
    send(copy, [this, which, text = std::move(text), read = std::move(read), tries](answer found) {
        mutex_.assert_held();
        if (found.undone && may_be_sent_again(found.error) && tries < most_tries)
            return ask(which, text, read, tries + 1);
        if (found.lost || found.error != 0) return fail(which, found);
        read(found);
    });
}

void driver::fail(sql::call const& which, answer const& found) {
    auto const why = found.lost ? *found.lost : explain(found.error, found.words, settings_);
    fail_call(which, why, found.lost ? !found.sent : found.undone);
    if (found.error != no_such_table && found.error != no_such_sequence) return;
    forget_ballots();
    pool_.cut(why);
}

// --- what is on the disk -----------------------------------------------------------------------

void driver::add_doubtful(std::vector<grant>& to, sql::viewed const& seen) const {
    for (auto const id : seen.named) {
        grant found{seen.found.key, id, seen.found.written};
        if (mailbox_.is_own(id) && !durable_.contains(found)) to.push_back(std::move(found));
    }
}

// Nothing is written when the sessions are dead by now: then nobody believes that it holds by them either.
void driver::prove(sql::call which, std::vector<grant> const& seen, std::function<void()> then) {
    if (seen.empty()) return then();
    std::vector<compare::session_id> own;
    for (auto const& each : seen)
        own.push_back(each.to);
    ask(which, packets::prove(own),
        [this, which, seen, seen_at = now_, then = std::move(then)](answer const& found) {
            mutex_.assert_held();
            bool const written = number_in(found.first()[0]) != 0;
            // A server that has crashed in between may have lost what was seen.
            if (found.connected >= seen_at)
                return fail_call(which,
                                 {errc::store_unavailable,
                                  "the server " + settings_.server + " was reached anew meanwhile"},
                                 false);
            if (written)
                for (auto const& each : seen)
                    durable_.add(each);
            then();
        });
}

// --- steps -------------------------------------------------------------------------------------

// Whoever joins the line is expected to miss again, and others are not.
void driver::send_step(compare::ticket which, sql::shared_step what, bool along, int tries) {
    bool const both = along && !what->append_otherwise.empty();
    auto text = packets::first_branch(*what);
    if (both) text += ";" + packets::second_branch(*what, true);
    send(std::move(text), [this, which, what, along, both, tries](answer const& found) {
        mutex_.assert_held();
        // The first branch has told that nothing came of it, and the second one was undone.
        bool const undone = found.undone || (!found.results.empty() && !found.first()[2]);
        if (undone && may_be_sent_again(found.error) && tries < most_tries)
            return send_step(which, what, along, tries + 1);
        if (found.lost || found.error != 0) return fail(which, found);
        auto const& told = found.first();
        sql::stepped out{.guarded = number_in(told[1]) != 0, .when = time_in(found)};
        if (told[2]) {
            out.written = compare::stamp{number_in(told[2])};
            out.joined_unseen = number_in(told[3]) != 0;
            if (what->head)
                for (auto const id : what->head->sessions)
                    if (mailbox_.is_own(id)) durable_.add({what->key, id, *out.written});
            if (!what->append.empty()) mailbox_.hasten();
        } else if (out.guarded && both) {
            out = second_branch_in(found, 1, *what);
        }
        on_branches(which, what, std::move(out));
    });
}

void driver::send_second_branch(compare::ticket which, sql::shared_step const& what) {
    ask(which, packets::second_branch(*what, false), [this, which, what](answer const& found) {
        mutex_.assert_held();
        on_branches(which, what, second_branch_in(found, 0, *what));
    });
}

void driver::on_branches(compare::ticket which, sql::shared_step const& what, sql::stepped found) {
    std::vector<grant> doubtful;
    if (found.otherwise) add_doubtful(doubtful, *found.otherwise);
    prove({which, !what->append_otherwise.empty()}, doubtful,
          [this, which, what, found = std::move(found)] {
              mutex_.assert_held();
              on_stepped(which, what, found);
          });
}

sql::stepped driver::second_branch_in(answer const& found, std::size_t result,
                                      compare::step const& what) {
    sql::stepped out{.guarded = true};
    if (!what.append_otherwise.empty()) {
        out = {.guarded = number_in(found.first(result)[1]) != 0, .when = time_in(found, result)};
        if (!out.guarded) return out;
        mailbox_.hasten();
        ++result;
    }
    out.when = time_of_view(found, result);
    out.otherwise = read_view(found, result, what.otherwise);
    return out;
}

// Who may not make tables can use one that somebody else has made.
void driver::make_ballots(sql::call which, std::function<void()> then) {
    send(packets::look_for_ballots(), [this, which, then](answer const& found) {
        mutex_.assert_held();
        if (found.error == no_such_table)
            return ask(which, schema::ballots_creation(), [then](answer const&) { then(); });
        if (found.lost || found.error != 0) return fail(which, found);
        then();
    });
}

// --- keeping it small --------------------------------------------------------------------------

// One behind the other: a second connection is not worth it.
void driver::send_sweep(bool in_passing) {
    if (!has_ballots()) return take_sweep_turn(in_passing);
    send(packets::sweep_ballots(), [this, in_passing](answer const& found) {
        mutex_.assert_held();
        if (!found.lost && !is_shut()) take_sweep_turn(in_passing);
    });
}

void driver::take_sweep_turn(bool in_passing) {
    send(packets::sweep_turn(), [this, in_passing](answer const& turn) {
        mutex_.assert_held();
        if (!turn.lost && turn.error == 0 && !turn.rows(0).empty()) sweep(most_sweeps, in_passing);
    });
}

// What a session has left is found when the session is gone. Names that are used once leave as much behind as there
// were of them; who sweeps in passing leaves them to the next, which need not wait for a minute.
void driver::sweep(int turns, bool in_passing) {
    send(packets::find_leftovers(), [this, turns, in_passing](answer const& found) {
        mutex_.assert_held();
        if (found.lost || found.error != 0 || is_shut()) return;
        bool const more =
            !found.rows(0).empty() || std::ranges::any_of(found.results, [](auto const& rows) {
                return rows.size() >= packets::swept_at_once;
            });
        send(packets::sweep(found), [this, more, turns, in_passing](answer const& swept) {
            mutex_.assert_held();
            if (!more || swept.lost || swept.error != 0 || is_shut()) return;
            if (in_passing) return send(packets::sweep_soon(), [](answer const&) {});
            if (turns > 1) sweep(turns - 1, false);
        });
    });
}

}  // namespace holdfast::stores::mysql
