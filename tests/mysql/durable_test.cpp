// What was read is believed only when a crash of the server cannot take it back: InnoDB shows a commit before it is on the
// disk, and a later write that was acknowledged is behind it in the log.
#include "mysql/driver_fixture.hpp"
#include "stores/compare/message.hpp"
#include "support/proxy.hpp"

namespace holdfast::mysql_tests {
namespace {

compare::step granting(party const& who, std::string const& name, party const& whom) {
    auto out = who.writing(name, "held");
    out.head->sessions = {whom.session};
    out.letters = {{whom.session, "you hold it"}};
    return out;
}

TEST(mysql_durable, a_letter_is_delivered_when_a_later_write_is_on_the_disk) {
    party one;
    party other;
    // Until the letters can be locked, nobody reads them.
    auto const written = one.commit(granting(one, "letter", other)).written;
    sql_connection rival;
    rival.run("START TRANSACTION; SELECT id FROM holdfast_mail WHERE session = " +
              words_of(other.session) + " FOR UPDATE");
    ASSERT_TRUE(other.self.drive_until(somebody_waits_for_a_lock));
    EXPECT_TRUE(other.self.letters.empty());
    rival.run("COMMIT");
    ASSERT_TRUE(other.self.drive_until([&] { return !other.self.letters.empty(); }));
    EXPECT_EQ(other.self.letters.front().body, "you hold it");
    EXPECT_EQ(other.self.letters.front().written, written);
    EXPECT_TRUE(other.self.drive_until([&] {
        return server().ask("SELECT COUNT(*) FROM holdfast_mail WHERE session = " +
                            words_of(other.session)) == "0\n";
    }));
    EXPECT_EQ(other.self.letters.size(), 1U);
    EXPECT_EQ(other.self.gaps, 0);
}

// As after a crash, or when the answer to their removal was lost.
TEST(mysql_durable, letters_that_are_gone_before_they_were_delivered_are_a_gap) {
    party one;
    party other;
    (void)one.commit(granting(one, "vanished", other));
    sql_connection rival;
    auto const mail = " FROM holdfast_mail WHERE session = " + words_of(other.session);
    rival.run("START TRANSACTION; SELECT id" + mail + " FOR UPDATE");
    ASSERT_TRUE(other.self.drive_until(somebody_waits_for_a_lock));
    rival.run("DELETE" + mail + "; COMMIT");
    ASSERT_TRUE(other.self.drive_until([&] { return other.self.gaps > 0; }));
    EXPECT_TRUE(other.self.letters.empty());
}

// A sign of life is a write itself, and the letters that come with it were read before.
TEST(mysql_durable, letters_come_with_a_sign_of_life_at_once) {
    party one;
    party other;
    (void)one.commit(granting(one, "kept", other));
    sql_connection rival;
    rival.run("START TRANSACTION; SELECT id FROM holdfast_mail WHERE session = " +
              words_of(other.session) + " FOR UPDATE");
    (void)expect<std::vector<compare::kept>>(other.self.keep({other.session}));
    EXPECT_EQ(other.self.letters.size(), 1U);
    rival.run("COMMIT");
    other.self.drive_for(200ms);
    EXPECT_EQ(other.self.letters.size(), 1U);
}

// A crash may set the numbers of letters back.
TEST(mysql_durable, a_letter_with_the_number_of_an_earlier_one_is_another) {
    party one;
    auto const insert = [&](std::string const& stamp, std::string const& body) {
        server().ask("INSERT INTO holdfast_mail (id, session, stamp, body) VALUES (1000000, " +
                     words_of(one.session) + ", " + stamp + ", '" + body + "')");
    };
    auto const arrived = [&](std::size_t count) {
        return one.self.drive_until([&] {
            return one.self.letters.size() == count &&
                   server().ask("SELECT COUNT(*) FROM holdfast_mail WHERE id = 1000000") == "0\n";
        });
    };
    insert("5", "first");
    ASSERT_TRUE(arrived(1));
    insert("6", "second");
    ASSERT_TRUE(arrived(2));
    EXPECT_EQ(one.self.letters.back().body, "second");
}

// A row that somebody has changed by hand.
TEST(mysql_durable, an_answer_of_another_shape_is_an_error) {
    party one{"odd_"};
    server().ask(
        "ALTER TABLE odd_line MODIFY claim VARBINARY(16) NOT NULL; INSERT INTO odd_line "
        "(name, kind, claim, session, body) VALUES ('odd', 0, 'abc', 7, '')");
    auto const found = one.self.fetch({.names = {{.key = {"odd", false}}}});
    auto const why = expect<compare::unknown>(found).error;
    EXPECT_NE(why.text.find("another way"), std::string::npos) << why.text;
    // Others are not held up.
    EXPECT_EQ(one.look("sound").line.size(), 0U);
}

// The network has forgotten the only connection, and nobody says so. The next one leads to another server, as it would to
// the same one after a crash.
TEST(mysql_durable, another_server_is_a_gap_though_an_old_connection_seems_to_last) {
    support::mysql_server first;
    for (int i = 0; i < 30; ++i)
        first.ask("DO 1");  // it counts its connections
    support::mysql_server second;
    party const has_made_the_tables{"holdfast_", false, 60s, second.url()};
    redis_faults::proxy network{first.port(), 1};
    party one{"holdfast_", false, 60s,
              "mysql://root@127.0.0.1:" + std::to_string(network.port()) + "/holdfast?timeout=20s"};
    network.swallow();
    network.lead_new_ones_to(second.port());
    one.self.drive_for(1s);  // asking for letters keeps the first connection busy
    EXPECT_EQ(one.self.gaps, 0);
    (void)expect<std::vector<compare::kept>>(one.self.keep({one.session}));
    EXPECT_EQ(one.self.gaps, 1);
    EXPECT_EQ(one.self.doubts, 0);
}

// A letter would prove the grant before the look does.
compare::step silently(compare::step what) {
    what.letters.clear();
    return what;
}

// The row of the client's own session is what is written.
class look_test : public testing::Test {
protected:
    void lock_session(party const& of) {
        rival_.run("START TRANSACTION; SELECT 1 FROM holdfast_session WHERE id = " +
                   words_of(of.session) + " FOR UPDATE");
    }
    void expect_delayed(party& who, compare::ticket sent) {
        ASSERT_TRUE(who.self.drive_until(somebody_waits_for_a_lock));
        EXPECT_FALSE(who.self.answered(sent));
        rival_.run("COMMIT");
    }

    sql_connection rival_;
};

TEST_F(look_test, a_grant_that_a_look_shows) {
    party one;
    party other;
    auto const written = one.commit(silently(granting(one, "looked at", other))).written;
    lock_session(other);
    auto const sent = other.self.next_ticket();
    other.self.driver().fetch(sent, {.names = {{.key = {"looked at", false}}}});
    expect_delayed(other, sent);
    auto const found = expect<compare::views>(other.self.outcome_of(sent));
    ASSERT_EQ(found.found.size(), 1U);
    EXPECT_EQ(found.found[0].written, written);
    // Once is enough, and for whom it is no grant nothing is written.
    lock_session(other);
    EXPECT_EQ(other.look("looked at").written, written);
    lock_session(one);
    EXPECT_EQ(one.look("looked at").written, written);
}

TEST_F(look_test, a_grant_that_a_step_finds_when_it_misses) {
    party one;
    party other;
    (void)one.commit(silently(granting(one, "missed", other)));
    for (bool const along : {false, true}) {
        auto what = other.writing("missed", "mine");
        what.append_otherwise = {{.id = {seam::client_id{7}, along ? 2U : 1U},
                                  .session = other.session,
                                  .body = "a claim"}};
        // The head is another one each time, and its step has to be let through.
        auto again = silently(granting(one, "missed", other));
        again.expected = one.look("missed").written;
        (void)one.commit(again);
        auto const head =
            rival_.run("START TRANSACTION; SELECT 1 FROM holdfast_session WHERE id = " +
                       words_of(other.session) + " LOCK IN SHARE MODE");
        auto const sent = other.self.next_ticket();
        other.self.driver().commit(sent, what);
        expect_delayed(other, sent);
        auto const found = expect<compare::missed>(other.self.outcome_of(sent)).found;
        EXPECT_EQ(found.body, "held");
        EXPECT_EQ(found.line.size(), along ? 2U : 1U);
    }
}

// Statements that begin in the same 32 µs draw the same stamp, for different names; the later of them may have waited.
TEST_F(look_test, a_grant_with_the_stamp_of_one_of_another_name) {
    party one;
    party other;
    auto const proven = one.commit(silently(granting(one, "proven", other))).written;
    EXPECT_EQ(other.look("proven").written, proven);
    (void)one.commit(silently(granting(one, "as young", other)));
    server().ask("UPDATE holdfast_head SET stamp = " +
                 std::to_string(static_cast<std::uint64_t>(proven)) + " WHERE name = 'as young'");
    lock_session(other);
    auto const sent = other.self.next_ticket();
    other.self.driver().fetch(sent, {.names = {{.key = {"as young", false}}}});
    expect_delayed(other, sent);
    EXPECT_EQ(expect<compare::views>(other.self.outcome_of(sent)).found.at(0).written, proven);
}

// What the client has written itself, or was told by a letter, is on the disk.
TEST_F(look_test, a_grant_that_is_known_costs_nothing) {
    party one;
    party other;
    (void)one.commit(granting(one, "own", one));
    auto letter = granting(one, "told", other);
    letter.letters.front().body = compare::write_message(
        compare::granted_message{.after = {.key = letter.key, .body = "held"}}, 8000);
    auto const told = one.commit(letter).written;
    ASSERT_TRUE(other.self.drive_until([&] { return !other.self.letters.empty(); }));
    lock_session(one);
    EXPECT_EQ(one.look("own").body, "held");
    lock_session(other);
    EXPECT_EQ(other.look("told").written, told);
}

}  // namespace
}  // namespace holdfast::mysql_tests
