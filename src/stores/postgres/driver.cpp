#include "stores/postgres/driver.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "stores/postgres/fault.hpp"

namespace holdfast::stores::postgres {

namespace {

constexpr net::poller::tag about_hearing = 1U << 16;
constexpr int most_sweeps = 60;  ///< in one turn: as many names as there can be in a minute

base::error const shut_error{errc::closed, "the store is shut"};

// One of its statements has removed as much as it may.
bool is_full(answer const& swept, std::int64_t most) {
    return std::ranges::any_of(swept.results,
                               [most](rows const& each) { return each.changed() >= most; });
}

}  // namespace

driver::driver(settings wanted, compare::driver_events& events, compare::log_function log)
    : sql::driver{wanted.server, events, std::move(log)},
      settings_{std::move(wanted)},
      tables_{settings_.prefix},
      statements_{settings_.prefix},
      connections_{settings_.connections,
                   [this](net::poller::tag about, connection::owner& tell) {
                       return std::make_unique<connection>(settings_, tables_, poller_, about,
                                                           tell);
                   },
                   {.on_down =
                        [this](base::error const& why) {
                            mutex_.assert_held();
                            on_down(why);
                        },
                    .on_up =
                        [this](connection const& which) {
                            mutex_.assert_held();
                            on_up();
                            if (std::exchange(met_, true) && which.has_made_tables())
                                messages_.start_over();
                        }}},
      messages_{settings_,
                tables_,
                statements_,
                poller_,
                about_hearing,
                now_,
                out_,
                {.send =
                     [this](std::vector<statement> what, std::function<void(answer)> done) {
                         mutex_.assert_held();
                         send(std::move(what), std::move(done));
                     },
                 .is_down = [this] { return is_down(); }}} {}

compare::driver_traits driver::traits() const {
    compare::driver_traits out;
    out.pushes = messages_.pushes();
    out.letter_bytes = letter_room;
    out.ballots = true;
    return out;
}

// --- driving -----------------------------------------------------------------------------------

void driver::tend() {
    connections_.tend(now_);
    messages_.tend();
    look_at_sessions();
}

void driver::take(std::span<net::poller::event const> events) {
    for (auto const& each : events)
        if (each.about == about_hearing) messages_.advance();
    connections_.take(events, now_);
}

base::instant driver::next_due() const noexcept {
    return std::min({connections_.due(), messages_.due(), sessions_due()});
}

void driver::cut() noexcept {
    connections_.cut(shut_error);
    messages_.cut(shut_error);
}

void driver::abandon() noexcept {
    connections_.abandon();
    messages_.abandon();
}

// --- exchanges ---------------------------------------------------------------------------------

void driver::ask(sql::call which, std::vector<statement> what, reader read) {
    send(std::move(what), [this, which, read = std::move(read)](answer found) {
        mutex_.assert_held();
        if (found.lost || found.failed() != nullptr) return fail(which, found);
        read(std::move(found));
    });
}

void driver::fail(sql::call const& which, answer const& found) {
    if (found.lost) return fail_call(which, *found.lost, !found.sent);
    auto const* const bad = found.failed();
    auto const why = explain(bad->state(), bad->words(), settings_);
    // What came before in the same exchange may have been carried out.
    fail_call(which, why, bad == &found.results.front() && bad->surely_failed());
    if (bad->state() != "42P01") return;
    forget_ballots();
    connections_.cut(why);
}

// Who may not make tables can use one that somebody else has made.
void driver::make_ballots(sql::call which, std::function<void()> then) {
    ask(which, {tables_.look_for_ballots()}, [this, which, then](answer const& found) {
        mutex_.assert_held();
        if (found.results.front().number(0, 0) != 0) return then();
        ask(which, tables_.ballots_creation(), [then](answer const&) { then(); });
    });
}

// --- keeping it small --------------------------------------------------------------------------

void driver::send_sweep(bool in_passing) {
    if (has_ballots()) send(tables_.sweep_ballots(), [](answer const&) {});
    send({tables_.sweep_turn()}, [this, in_passing](answer const& found) {
        mutex_.assert_held();
        if (found.lost || found.failed() != nullptr || found.results.front().size() == 0) return;
        in_passing ? sweep_in_passing() : sweep(most_sweeps);
    });
}

// Names that are used once leave as much behind as there were of them.
void driver::sweep(int turns) {
    send(tables_.sweep(), [this, turns](answer const& found) {
        mutex_.assert_held();
        if (is_full(found, schema::swept_at_once) && turns > 1 && !is_shut()) sweep(turns - 1);
    });
}

void driver::sweep_in_passing() {
    send(tables_.sweep_in_passing(), [this](answer const& found) {
        mutex_.assert_held();
        if (is_full(found, schema::swept_in_passing))
            send({tables_.sweep_soon()}, [](answer const&) {});
    });
}

}  // namespace holdfast::stores::postgres
