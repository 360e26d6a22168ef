// What sweepers remove, and what they must leave alone although it looked dead when they began.
#include "postgres/documented_rights.hpp"
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

TEST(postgres_sweep, needs_no_other_rights_than_those_of_the_page) {
    { party const owner{"?prefix=page_"}; }
    server().ask("CREATE ROLE sweeper LOGIN; GRANT USAGE ON SCHEMA public TO sweeper; " +
                 postgres_faults::documented_rights("page_", "sweeper") +
                 "ALTER SEQUENCE page_stamp RESTART 1; UPDATE page_meta SET swept = 0; INSERT INTO "
                 "page_head "
                 "(name, condition, stamp, erased) VALUES ('old', false, 1, 1)");
    party guest{"?prefix=page_", 60s, "sweeper"};
    EXPECT_GT(std::stoull(server().ask("SELECT last_value FROM page_stamp")), 1'000'000U)
        << "a sequence that was set back is moved up";
    (void)guest.self.keep({guest.session});
    EXPECT_TRUE(guest.self.drive_until(
        [] { return server().ask("SELECT count(*) FROM page_head") == "0\n"; }, 20s));
}

// Clients that are gone before their first sign of life, each with a name of its own: one in eight sweeps at its end.
TEST(postgres_sweep, clients_that_live_shortly_leave_a_bounded_number_of_rows) {
    constexpr unsigned clients = 200;
    sql_connection operators;
    for (unsigned i = 0; i < clients; ++i) {
        {
            party one{"?prefix=short_"};
            auto what = one.writing("order " + std::to_string(i), "held");
            what.expected = one.commit(what).written;
            what.head = compare::head_write{.erase = true};
            one.commit(what);
            one.self.driver().close(one.session);
        }
        // Eleven minutes later.
        operators.run(
            "UPDATE short_head SET erased = erased - 660000000; UPDATE short_session SET expires = "
            "expires - 660000000; UPDATE short_meta SET swept = 0");
    }
    // That none of the last hundred is chosen happens once in half a million times.
    EXPECT_LE(std::stoul(operators.run("SELECT count(*) FROM short_head")), clients / 2);
    EXPECT_LE(std::stoul(operators.run("SELECT count(*) FROM short_session")), clients / 2);
}

// Whoever sweeps in passing takes little at once, and lets the next one go on soon.
TEST(postgres_sweep, what_is_left_in_passing_is_swept_soon) {
    party one{"?prefix=soon_"};
    postgres::schema const tables{"soon_"};
    server().ask(
        "INSERT INTO soon_head (name, condition, stamp, erased) SELECT 'order ' || i::text::bytea, "
        "false, i, 1 FROM generate_series(1, 700) i");
    sql_connection sweeper;
    auto const turn = tables.sweep_turn().text().words;
    EXPECT_EQ(sweeper.run(turn), "1");
    for (auto const& each : tables.sweep_in_passing())
        sweeper.run(each.text().words);
    EXPECT_EQ(sweeper.run("SELECT count(*) FROM soon_head"), "200");
    sweeper.run(tables.sweep_soon().text().words);
    EXPECT_EQ(sweeper.run(turn), "") << "at once";
    EXPECT_TRUE(eventually([&] { return sweeper.run(turn) == "1"; }, 10s));
}

// Those of clients that have died: they do not ask for their watches again.
TEST(postgres_sweep, watches_that_are_over_go_with_the_next_change) {
    party one;
    party two;
    (void)expect<compare::in_force>(two.self.watch({"changing", false}));
    auto const change = [&](compare::step const& what) {
        server().ask(
            "UPDATE holdfast_head SET watchers = watchers || '{\"dead\": 1}' WHERE name = "
            "'changing'");
        auto const before = two.self.changes_of({"changing", false});
        auto const written = one.commit(what).written;
        EXPECT_TRUE(two.self.drive_until(
            [&] {
                return two.self.changes_of({"changing", false}) > before;
            },
            5s));
        EXPECT_EQ(server().ask("SELECT count(*) FROM holdfast_head, jsonb_object_keys(watchers) w "
                               "WHERE name = 'changing' AND w = 'dead'"),
                  "0\n");
        return written;
    };
    auto what = one.writing("changing", "first");  // where there was none
    what.expected = change(what);
    what.head->body = "second";
    what.expected = change(what);
    what.head = compare::head_write{.erase = true};
    change(what);
}

}  // namespace
}  // namespace holdfast::postgres_tests
