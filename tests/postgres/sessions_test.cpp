// Sessions of a driver while its statements are held up by locks.
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

}  // namespace
}  // namespace holdfast::postgres_tests
