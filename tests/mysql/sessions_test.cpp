// Sessions of a driver while its statements are held up by locks.
#include <fstream>

#include "mysql/driver_fixture.hpp"
#include "stores/compare/store_times.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::mysql_tests {
namespace {

// Two signs of life are under way on two connections; the one that began later is carried out first.
TEST(mysql_sessions, a_late_sign_of_life_does_not_set_the_end_back) {
    party one;
    mysql::schema const tables{"holdfast_"};
    auto const mine = words_of(one.session);
    sql_connection later;
    later.run(
        "SET time_zone = '+00:00'; START TRANSACTION; SELECT 1 FROM holdfast_session WHERE "
        "id = " +
        mine + " FOR UPDATE");
    auto const earlier = one.self.next_ticket();
    one.self.driver().keep(earlier, {one.session});
    ASSERT_TRUE(one.self.drive_until(somebody_waits_for_a_lock));
    later.run("DO SLEEP(0.1)");
    later.run(tables.filled(mysql::packets::keep({one.session}, {}), false));
    auto const expiry = "SELECT expires FROM holdfast_session WHERE id = " + mine;
    auto const end = mysql::number_in(later.run(expiry).first()[0]);
    later.run("COMMIT");
    auto const kept = expect<std::vector<compare::kept>>(one.self.outcome_of(earlier));
    ASSERT_EQ(kept.size(), 1U);
    EXPECT_EQ(kept[0].found, compare::kept::state::alive);
    EXPECT_GE(mysql::number_in(later.run(expiry).first()[0]), end);
}

// Whoever answers that a session is dead has ended it for good: a sign of life that is late may still come.
TEST(mysql_sessions, a_session_that_is_told_to_be_dead_is_gone) {
    for (bool const raised : {false, true}) {
        party one;
        auto const mine = " WHERE id = " + words_of(one.session);
        server().ask("UPDATE holdfast_session SET expires = 1" + mine);
        if (raised)
            (void)expect<compare::fenced>(one.self.raise(one.session));
        else
            EXPECT_EQ(expect<std::vector<compare::kept>>(one.self.keep({one.session})).at(0).found,
                      compare::kept::state::dead);
        EXPECT_EQ(server().ask("SELECT COUNT(*) FROM holdfast_session" + mine), "0\n");
    }
}

// The time is looked at when the step has its lock.
TEST(mysql_sessions, a_step_that_waits_for_a_lock_too_long_is_too_late) {
    party one;
    auto const held = one.commit(one.writing("late", "held")).written;
    for (bool const joins : {false, true}) {
        sql_connection operators;
        operators.run("START TRANSACTION; SELECT 1 FROM " +
                      (joins ? "holdfast_session WHERE id = " + words_of(one.session)
                             : std::string{"holdfast_head WHERE name = 'late'"}) +
                      " FOR UPDATE");
        auto what = one.writing("late", "again");
        what.expected = joins ? compare::stamp{1} : held;
        if (joins)
            what.append_otherwise = {{.id = {seam::client_id{7}, 1}, .session = one.session}};
        auto const time = server().ask(
            "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + 300000");
        what.not_after = compare::store_time_of(std::stoll(time));
        auto const sent = one.self.next_ticket();
        one.self.driver().commit(sent, what);
        ASSERT_TRUE(one.self.drive_until(somebody_waits_for_a_lock));
        operators.run("DO SLEEP(0.5); COMMIT");
        auto const found = one.self.outcome_of(sent);
        if (joins)
            EXPECT_TRUE(expect<compare::fenced>(found).too_late);
        else
            (void)expect<compare::missed>(found);
    }
    auto const after = one.look("late");
    EXPECT_EQ(after.written, held);
    EXPECT_TRUE(after.line.empty());
}

// libmariadb would connect anew by itself, and nobody would say what the connection must be like.
TEST(mysql_sessions, a_connection_that_is_gone_is_not_replaced_behind_our_back) {
    support::temporary_directory const place;
    auto const options = (place.path() / "my.cnf").string();
    std::ofstream{options} << "[client]\nreconnect=1\n";
    party one{"holdfast_", false, 60s,
              "mysql://root@localhost/holdfast?socket=" + server().socket() +
                  "&timeout=20s&connections=1&optionfile=" + options};
    auto const mine =
        "SELECT id FROM information_schema.processlist WHERE db = 'holdfast' AND host "
        "= 'localhost' AND id <> CONNECTION_ID()";
    server().ask("KILL CONNECTION " + server().ask(mine));
    ASSERT_TRUE(eventually([&] { return server().ask(mine).empty(); }));
    auto const sent = one.self.next_ticket();
    support::stopwatch const since;
    one.self.driver().keep(sent, {one.session});
    auto const found = one.self.outcome_of(sent);
    EXPECT_FALSE(std::holds_alternative<std::vector<compare::kept>>(found))
        << "by another connection";
    EXPECT_LT(since.elapsed(), 10s) << "another connection was waited for";
    (void)expect<std::vector<compare::kept>>(one.self.keep({one.session}));
}

// An error in the middle leaves a transaction open until its client says the next word, which may be never.
TEST(mysql_sessions, a_client_that_falls_silent_after_an_error_keeps_nothing_locked) {
    party one;
    auto const held = one.commit(one.writing("locked", "held")).written;
    sql_connection operators;
    operators.run(
        "START TRANSACTION; SELECT 1 FROM holdfast_head WHERE name = 'locked' FOR UPDATE");
    auto what = one.writing("locked", "again");
    what.expected = held;
    auto const sent = one.self.next_ticket();
    one.self.driver().commit(sent, what);
    ASSERT_TRUE(one.self.drive_until(somebody_waits_for_a_lock));
    // From here on it is not driven any more. Its lock is not got in time.
    ASSERT_TRUE(eventually([] { return !somebody_waits_for_a_lock(); }));
    operators.run("COMMIT");
    auto const end_session = [&] {
        try {
            server().ask(
                "SET innodb_lock_wait_timeout = 0; DELETE FROM holdfast_session WHERE id = " +
                words_of(one.session));
        } catch (std::runtime_error const&) {
            return false;
        }
        return true;
    };
    EXPECT_TRUE(eventually(end_session)) << "others cannot end its session";
}

}  // namespace
}  // namespace holdfast::mysql_tests
