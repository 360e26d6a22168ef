// The line of a name whose places become visible in another order than they were given in.
#include "mysql/driver_fixture.hpp"

namespace holdfast::mysql_tests {
namespace {

compare::line_item claim_of(party const& whose) {
    return {.id = {seam::client_id{static_cast<std::uint64_t>(whose.session)}, 1},
            .session = whose.session,
            .body = "a claim"};
}

compare::step joining(party const& who, std::string const& name) {
    auto out = who.writing(name, "never written");
    out.expected = compare::stamp{1};  // nobody's
    out.append_otherwise = {claim_of(who)};
    return out;
}

// The one who joined first has its place, and is not committed yet.
TEST(mysql_line, who_joins_before_those_who_were_seen_is_not_overlooked) {
    party holder;
    party early;
    party late;
    auto const held = holder.commit(holder.writing("line", "held")).written;
    auto const waiting = claim_of(early);
    sql_connection rival;
    rival.run(
        "START TRANSACTION; INSERT INTO holdfast_line (name, kind, claim, session, body) VALUES "
        "('line', 0, " +
        mysql::literal(waiting.id) + ", " + words_of(early.session) + ", '')");
    (void)expect<compare::missed>(late.self.commit(joining(late, "line")));
    auto const seen = holder.look("line").line;
    ASSERT_EQ(seen.size(), 1U);
    rival.run("COMMIT");
    auto const all = holder.look("line").line;
    ASSERT_EQ(all.size(), 2U);
    ASSERT_EQ(all.front().id, waiting.id) << "the order is another one than the test wants";

    auto release = holder.writing("line", "free");
    release.expected = held;
    release.nobody_behind = seen.front().place;
    release.seen_places = {seen.front().place};
    auto const found = expect<compare::missed>(holder.self.commit(release)).found;
    EXPECT_EQ(found.line.size(), 2U);
}

// It becomes visible while the step is carried out: after its conditions, and before its end.
TEST(mysql_line, who_appears_before_those_who_were_seen_is_told_after_the_end) {
    party holder;
    party early;
    party late;
    auto const held = holder.commit(holder.writing("crossing", "held")).written;
    sql_connection rival;
    rival.run(
        "START TRANSACTION; INSERT INTO holdfast_line (name, kind, claim, session, body) VALUES "
        "('crossing', 0, " +
        mysql::literal(claim_of(early).id) + ", " + words_of(early.session) + ", '')");
    (void)expect<compare::missed>(late.self.commit(joining(late, "crossing")));
    auto const seen = holder.look("crossing").line;
    ASSERT_EQ(seen.size(), 1U);

    // The letter waits for a row that somebody has locked: the claim that leaves is one that another transaction holds.
    sql_connection blocker;
    blocker.run("START TRANSACTION; SELECT place FROM holdfast_line WHERE place = " +
                std::to_string(seen.front().place) + " FOR UPDATE");
    auto release = holder.writing("crossing", "handed over");
    release.expected = held;
    release.present = {seen.front()};
    release.leave = {seen.front()};
    release.nobody_behind = seen.front().place;
    release.seen_places = {seen.front().place};
    auto const sent = holder.self.next_ticket();
    holder.self.driver().commit(sent, release);
    ASSERT_TRUE(holder.self.drive_until(somebody_waits_for_a_lock));
    rival.run("COMMIT");
    blocker.run("COMMIT");
    auto const done = expect<compare::committed>(holder.self.outcome_of(sent));
    ASSERT_TRUE(done.behind) << "nobody is told of the one who joined";
    ASSERT_EQ(done.behind->line.size(), 1U);
    EXPECT_EQ(done.behind->line.front().id, claim_of(early).id);
}

// Who holds is over and nobody has ended it yet, which is a second exchange. That one fails for certain.
TEST(mysql_line, what_fails_after_somebody_has_joined_is_unknown) {
    party one;
    auto const dead = words_of(new_session());
    sql_connection operators;
    operators.run(
        "INSERT INTO holdfast_session VALUES (" + dead +
        ", 1, 1000, 1, ''); INSERT INTO holdfast_head (name, kind, stamp, body, sessions) "
        "VALUES ('over', 0, 1000, 'held', UNHEX(LPAD(HEX(" +
        dead + "), 16, '0')))");
    operators.run("START TRANSACTION; SELECT 1 FROM holdfast_session WHERE id = " + dead +
                  " FOR UPDATE");
    auto const sent = one.self.next_ticket();
    one.self.driver().commit(sent, joining(one, "over"));
    ASSERT_TRUE(one.self.drive_until(somebody_waits_for_a_lock));
    auto const waiting = server().ask(
        "SELECT id FROM information_schema.processlist WHERE info LIKE 'DELETE FROM "
        "holdfast_session%'");
    server().ask("KILL QUERY " + waiting);
    (void)expect<compare::unknown>(one.self.outcome_of(sent));
    operators.run("COMMIT");
    EXPECT_EQ(one.look("over").line.size(), 1U);
}

}  // namespace
}  // namespace holdfast::mysql_tests
