// Sessions of a driver while its statements are held up by locks, or the client itself is.
#include <thread>

#include "postgres/driver_fixture.hpp"

namespace holdfast::postgres_tests {
namespace {

// Two signs of life are under way on two connections; the one that began later is carried out first.
TEST(postgres_sessions, a_late_sign_of_life_does_not_set_the_end_back) {
    party one;
    postgres::statements const texts{"holdfast_"};
    auto keep = texts.keep({one.session}).text().words;
    std::string const parameter = "$1";
    keep.replace(keep.find(parameter), parameter.size(), "'{" + words_of(one.session) + "}'");

    sql_connection later;
    later.run("BEGIN; SELECT 1 FROM holdfast_session WHERE id = " + words_of(one.session) +
              " FOR UPDATE");
    auto const earlier = one.self.next_ticket();
    one.self.driver().keep(earlier, {one.session});
    ASSERT_TRUE(one.self.drive_until([] { return waits_for("transactionid"); }));
    later.run("SELECT pg_sleep(0.1)");
    later.run(keep);
    auto const expiry = "SELECT expires FROM holdfast_session WHERE id = " + words_of(one.session);
    auto const end = later.run(expiry);
    later.run("COMMIT");
    auto const kept = expect<std::vector<compare::kept>>(one.self.outcome_of(earlier));
    ASSERT_EQ(kept.size(), 1U);
    EXPECT_EQ(kept[0].found, compare::kept::state::alive);
    EXPECT_GE(std::stoll(later.run(expiry)), std::stoll(end));
}

// Whoever answers that a session is dead has ended it for good: a sign of life that is late may still come.
TEST(postgres_sessions, a_session_that_is_told_to_be_dead_is_gone) {
    for (bool const raised : {false, true}) {
        party one;
        auto const mine = " WHERE id = " + words_of(one.session);
        server().ask("UPDATE holdfast_session SET expires = 1" + mine);
        if (raised)
            (void)expect<compare::fenced>(one.self.raise(one.session));
        else
            EXPECT_EQ(expect<std::vector<compare::kept>>(one.self.keep({one.session})).at(0).found,
                      compare::kept::state::dead);
        EXPECT_EQ(server().ask("SELECT count(*) FROM holdfast_session" + mine), "0\n");
    }
}

// One that is dead, and one that is not.
TEST(postgres_sessions, the_living_are_told_beside_the_dead) {
    party one;
    auto const dead = new_session();
    auto const kept = expect<std::vector<compare::kept>>(one.self.keep({dead, one.session}));
    ASSERT_EQ(kept.size(), 2U);
    EXPECT_EQ(kept[0].found, compare::kept::state::dead);
    EXPECT_EQ(kept[1].found, compare::kept::state::alive);
}

// As after SIGSTOP: the server has answered in time, and the time is over when the client comes to read it.
TEST(postgres_sessions, an_answer_that_came_while_the_client_was_stopped_counts) {
    party one{"?timeout=2s"};
    auto const expiry = "SELECT expires FROM holdfast_session WHERE id = " + words_of(one.session);
    auto const before = server().ask(expiry);
    auto const sent = one.self.next_ticket();
    one.self.driver().keep(sent, {one.session});
    ASSERT_TRUE(eventually([&] { return server().ask(expiry) != before; }));
    std::this_thread::sleep_for(2100ms);  // nobody drives it meanwhile
    auto const kept = expect<std::vector<compare::kept>>(one.self.outcome_of(sent));
    ASSERT_EQ(kept.size(), 1U);
    EXPECT_EQ(kept[0].found, compare::kept::state::alive);
    EXPECT_EQ(one.self.doubts, 0);
}

}  // namespace
}  // namespace holdfast::postgres_tests
