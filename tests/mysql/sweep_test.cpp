// What sweepers remove, and what they must leave alone although it looked dead when they began.
#include "mysql/driver_fixture.hpp"

namespace holdfast::mysql_tests {
namespace {

/// A sweeper that stops between its two packets.
class sweeper {
public:
    void find() { found_ = by_.run(tables_.filled(mysql::packets::find_leftovers(), false)); }
    void remove() { by_.run(tables_.filled(mysql::packets::sweep(found_), false)); }

private:
    sql_connection by_;
    mysql::schema tables_{"holdfast_"};
    mysql::answer found_;
};

/// A name whose only holder has died.
compare::stamp leave_behind(party& whose, std::string const& name) {
    auto const dying = new_session();
    (void)expect<compare::opened>(whose.self.open(dying, 60s));
    auto first = whose.writing(name, "first");
    first.head->bound = dying;
    auto const written = whose.commit(first).written;
    server().ask("DELETE FROM holdfast_session WHERE id = " + words_of(dying));
    return written;
}

TEST(mysql_sweep, a_name_that_is_taken_over_meanwhile_stays) {
    party one;
    party two;
    auto const written = leave_behind(one, "taken over");
    sweeper slow;
    slow.find();
    auto second = two.writing("taken over", "second");
    second.expected = written;
    second.head->bound = two.session;
    auto const taken = two.commit(second).written;
    slow.remove();
    auto const found = two.look("taken over");
    EXPECT_EQ(found.body, "second");
    EXPECT_EQ(found.written, taken);
}

TEST(mysql_sweep, a_name_whose_holder_is_dead_is_erased) {
    party one;
    auto const written = leave_behind(one, "left behind");
    sweeper whole;
    whole.find();
    whole.remove();
    EXPECT_EQ(one.look("left behind").written, compare::stamp{});
    EXPECT_GT(one.commit(one.writing("left behind", "second")).written, written);
}

// Erased long ago, and taken again while the sweeper is under way.
TEST(mysql_sweep, a_name_that_is_taken_again_meanwhile_stays) {
    party one;
    auto what = one.writing("again", "first");
    what.expected = one.commit(what).written;
    what.head = compare::head_write{.erase = true};
    one.commit(what);
    server().ask("UPDATE holdfast_head SET erased = erased - 660000000 WHERE name = 'again'");
    sweeper slow;
    slow.find();
    auto const taken = one.commit(one.writing("again", "second")).written;
    slow.remove();
    EXPECT_EQ(one.look("again").written, taken);
}

TEST(mysql_sweep, a_session_that_shows_a_sign_of_life_meanwhile_lives) {
    party one;
    auto const id = "id = " + words_of(one.session);
    auto const end = server().ask("SELECT expires FROM holdfast_session WHERE " + id);
    server().ask("UPDATE holdfast_session SET expires = 1 WHERE " + id);
    sweeper slow;
    slow.find();
    server().ask("UPDATE holdfast_session SET expires = " + end + " WHERE " + id);
    slow.remove();
    EXPECT_EQ(server().ask("SELECT count(*) FROM holdfast_session WHERE " + id), "1\n");
}

// As many names as were used once, each for one order: they are gone soon after their ten minutes.
TEST(mysql_sweep, what_is_left_of_many_names_is_removed_in_one_turn) {
    party one{"many_"};
    server().ask(
        "SET time_zone = '+00:00'; INSERT INTO many_head (name, kind, stamp, erased) SELECT "
        "CONCAT('order ', seq), 0, seq, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', NOW(6)) - "
        "660000000 FROM seq_1_to_20000");
    (void)one.self.keep({one.session});
    EXPECT_TRUE(one.self.drive_until(
        [] { return server().ask("SELECT count(*) FROM many_head") == "0\n"; }, 20s));
}

// Clients that are gone before their first sign of life, each with a name of its own: one in eight sweeps at its end.
TEST(mysql_sweep, clients_that_live_shortly_leave_a_bounded_number_of_rows) {
    constexpr unsigned clients = 200;
    sql_connection operators;
    for (unsigned i = 0; i < clients; ++i) {
        {
            party one{"short_"};
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
    auto const count = [&](std::string const& table) {
        return mysql::number_in(operators.run("SELECT COUNT(*) FROM short_" + table).first()[0]);
    };
    // That none of the last hundred is chosen happens once in half a million times.
    EXPECT_LE(count("head"), clients / 2);
    EXPECT_LE(count("session"), clients / 2);
}

// Where numbers come from the rows of a table, as on MySQL, the table does not grow for ever.
TEST(mysql_sweep, numbers_that_were_drawn_are_removed) {
    party one{"numbers_", true};
    server().ask("INSERT INTO numbers_stamp SELECT NULL FROM seq_1_to_20000");
    (void)one.self.keep({one.session});
    EXPECT_TRUE(one.self.drive_until(
        [] { return std::stol(server().ask("SELECT count(*) FROM numbers_stamp")) < 12'000; },
        20s));
    auto const first = one.commit(one.writing("q", "first")).written;
    auto again = one.writing("q", "second");
    again.expected = first;
    EXPECT_GT(one.commit(again).written, first);
}

// A database that is shared may have a table of that name.
TEST(mysql_sweep, rows_of_somebody_else_are_no_numbers) {
    server().ask(
        "CREATE TABLE theirs_stamp (id BIGINT AUTO_INCREMENT PRIMARY KEY, note TEXT); INSERT INTO "
        "theirs_stamp VALUES (7, 'a cart')");
    client self{driver_of("theirs_", true)};
    EXPECT_TRUE(std::holds_alternative<compare::rejected>(self.open(new_session(), 60s)));
    EXPECT_EQ(server().ask("SELECT * FROM theirs_stamp"), "7\ta cart\n");
}

}  // namespace
}  // namespace holdfast::mysql_tests
