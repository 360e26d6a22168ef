// What sweepers remove, and what they must leave alone although it looked dead when they began.
#include "postgres/driver_fixture.hpp"

namespace holdfast::postgres_tests {
namespace {

// A statement of the sweep, which sleeps when it has looked at a row for which `condition` holds: between its
// snapshot and the locks that it takes.
std::string slowed(std::size_t which, std::string const& condition) {
    postgres::schema const tables{"holdfast_"};
    std::string text = tables.sweep().at(which).text().words;
    auto const at = text.find(condition);
    EXPECT_NE(at, std::string::npos) << text;
    return text.insert(at + condition.size(), " AND pg_sleep(1) IS NOT NULL");
}

TEST(postgres_sweep, a_name_that_is_taken_over_meanwhile_stays) {
    party one;
    party two;
    auto const dying = new_session();
    (void)expect<compare::opened>(one.self.open(dying, 60s));
    auto first = one.writing("taken over", "first");
    first.head->bound = dying;
    auto const written = one.commit(first).written;
    server().ask("DELETE FROM holdfast_session WHERE id = " + words_of(dying));

    sql_connection sweeper;
    sweeper.begin(slowed(2, "bound IS NOT NULL"));
    ASSERT_TRUE(eventually([] { return waits_for("PgSleep"); }));
    auto second = two.writing("taken over", "second");
    second.expected = written;
    second.head->bound = two.session;
    auto const taken = two.commit(second).written;
    sweeper.finish();

    auto const found = two.look("taken over");
    EXPECT_EQ(found.body, "second");
    EXPECT_EQ(found.written, taken);
}

TEST(postgres_sweep, a_name_whose_holder_is_dead_is_erased) {
    party one;
    auto const dying = new_session();
    (void)expect<compare::opened>(one.self.open(dying, 60s));
    auto first = one.writing("left behind", "first");
    first.head->bound = dying;
    auto const written = one.commit(first).written;
    server().ask("DELETE FROM holdfast_session WHERE id = " + words_of(dying));
    sql_connection sweeper;
    sweeper.run(postgres::schema{"holdfast_"}.sweep().at(2).text().words);
    EXPECT_EQ(one.look("left behind").written, compare::stamp{});
    EXPECT_GT(one.commit(one.writing("left behind", "second")).written, written);
}

TEST(postgres_sweep, a_name_that_is_watched_meanwhile_stays) {
    party one;
    party two;
    auto what = one.writing("watched", "first");
    what.expected = one.commit(what).written;
    what.head = compare::head_write{.erase = true};
    one.commit(what);
    server().ask("UPDATE holdfast_head SET erased = erased - 660000000 WHERE name = 'watched'");

    sql_connection sweeper;
    sweeper.begin(slowed(3, "body IS NULL"));
    ASSERT_TRUE(eventually([] { return waits_for("PgSleep"); }));
    (void)expect<compare::in_force>(two.self.watch({"watched", false}));
    sweeper.finish();

    one.commit(one.writing("watched", "second"));
    EXPECT_TRUE(two.self.drive_until(
        [&] {
            return two.self.changes_of({"watched", false}) > 0;
        },
        5s));
}

// As many names as were used once, each for one order: they are gone soon after their ten minutes.
TEST(postgres_sweep, what_is_left_of_many_names_is_removed_in_one_turn) {
    party one{"?prefix=many_"};
    server().ask(
        "INSERT INTO many_head (name, condition, stamp, erased) SELECT 'order ' || i::text::bytea, "
        "false, i, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - 660000000 FROM "
        "generate_series(1, 20000) i");
    (void)one.self.keep({one.session});
    EXPECT_TRUE(one.self.drive_until(
        [] { return server().ask("SELECT count(*) FROM many_head") == "0\n"; }, 20s));
}

}  // namespace
}  // namespace holdfast::postgres_tests
