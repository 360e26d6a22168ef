// The line of a name whose places become visible in another order than they were given in.
#include "postgres/driver_fixture.hpp"

namespace holdfast::postgres_tests {
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

TEST(postgres_line, who_joins_before_those_who_were_seen_is_not_overlooked) {
    party holder;
    party early;
    party late;
    auto const held = holder.commit(holder.writing("line", "held")).written;
    // A row of the same key, not committed: the first one to join has drawn its place when it comes upon it.
    auto const& waiting = claim_of(early);
    sql_connection rival;
    rival.run("BEGIN; INSERT INTO holdfast_line VALUES ('line', false, 1, '" +
              postgres::claim_element(waiting.id) + "', " + words_of(early.session) + ", '')");
    auto const sent = early.self.next_ticket();
    early.self.driver().commit(sent, joining(early, "line"));
    ASSERT_TRUE(early.self.drive_until([] { return waits_for("transactionid"); }));
    (void)expect<compare::missed>(late.self.commit(joining(late, "line")));
    auto const seen = holder.look("line").line;
    ASSERT_EQ(seen.size(), 1U);
    rival.run("ROLLBACK");
    auto const all = expect<compare::missed>(early.self.outcome_of(sent)).found.line;
    ASSERT_EQ(all.size(), 2U);
    ASSERT_EQ(all.front().id, waiting.id) << "the order is another one than the test wants";

    auto release = holder.writing("line", "free");
    release.expected = held;
    release.nobody_behind = seen.front().place;
    release.seen_places = {seen.front().place};
    auto const found = expect<compare::missed>(holder.self.commit(release)).found;
    EXPECT_EQ(found.line.size(), 2U);
}

}  // namespace
}  // namespace holdfast::postgres_tests
