// What goes over one connection, and in which order.
#include "unit/redis_connection_fixture.hpp"

namespace holdfast::stores::redis {
namespace {

TEST_F(redis_connection, tokens_that_nobody_can_count_end_it_and_all_are_told) {
    auto const one = submit("a");
    auto const two = submit("b");
    ASSERT_EQ(sent(1), strings{"many a b"});
    say(many(1ULL << 53, "11"));
    EXPECT_TRUE(until([&] { return has_failed(one) && has_failed(two); }));
    EXPECT_NE(broken().find("does not speak as Redis does"), std::string::npos) << broken();
}

TEST_F(redis_connection, a_batch_of_which_half_an_answer_came_is_in_doubt) {
    auto const one = submit("a");
    auto const two = settle("b");
    ASSERT_EQ(sent(1), strings{"many b a"});
    auto const behind = submit("a");
    hear("*3\r\n:1000\r\n:2000\r\n$2\r\n1");
    EXPECT_FALSE(is_answered(one) || is_answered(two) || is_answered(behind));
    line_.cut({errc::store_unavailable, "cut"}, base::boot_clock::now());
    for (auto const each : {one, two, behind})
        EXPECT_TRUE(has_failed(each)) << each;
    EXPECT_EQ(line_.unanswered(), 0U);
}

TEST_F(redis_connection, a_batch_is_waited_for_no_longer_than_the_first_of_it) {
    auto const one = begin(seam::submit{{claim("a")}, true, seam::store_time::max()}, 5s);
    auto const two = settle("b");
    ASSERT_EQ(sent(1), strings{"many b a"});
    auto const now = base::boot_clock::now();
    EXPECT_LE(line_.next_due(), now + 5s);
    line_.tend(now + 4s);
    EXPECT_FALSE(is_answered(one) || is_answered(two));
    line_.tend(now + 6s);
    EXPECT_TRUE(has_failed(one) && has_failed(two));
    EXPECT_NE(broken().find("no answer within"), std::string::npos) << broken();
}

TEST_F(redis_connection, what_does_not_gather_waits_for_a_settlement_of_its_name) {
    settle("a");
    submit("b");
    auto const limits = begin(seam::adjust{.subject = claim("a")});
    ASSERT_EQ(sent(1), strings{"many a b"});
    EXPECT_TRUE(sends_nothing()) << "the settlement may be left";
    say(many(1, "01"));
    EXPECT_EQ(sent(2), (strings{"settle a", "adjust a"}));
    EXPECT_FALSE(is_answered(limits));
}

TEST_F(redis_connection, renewals_wait_for_nobody) {
    settle("a");
    submit("b");
    begin(seam::renew{{{claim("a"), 1s}}});
    EXPECT_EQ(sent(2), (strings{"many a b", "renew a"}));
}

TEST_F(redis_connection, calls_are_left_to_gather_while_somebody_reads_and_no_longer) {
    auto const now = base::boot_clock::now();
    submit("a");
    submit("b");
    line_.flush(now, true);
    submit("c");
    submit("d");
    line_.flush(now, true);
    submit("e");
    line_.flush(now, true);
    submit("f");
    EXPECT_EQ(sent(3), (strings{"many a b", "many c d", "many e f"}));
    submit("g");
    line_.flush(now);
    submit("h");
    EXPECT_EQ(sent(2), (strings{"submit g", "submit h"}));
}

TEST_F(redis_connection, a_server_that_carries_out_no_batches_changes_no_order) {
    settle("a");
    submit("b");
    ASSERT_EQ(sent(1), strings{"many a b"});
    settle("c");
    submit("d");
    ASSERT_EQ(sent(1), strings{"many c d"});
    submit("c");  // waits for the second batch
    EXPECT_TRUE(sends_nothing());
    say("-NOPERM this user has no permissions to run the 'mget' command\r\n");
    EXPECT_EQ(sent(2), (strings{"settle a", "submit b"}));
    settle("c");
    EXPECT_TRUE(sends_nothing()) << "it has to wait behind the submit";
    say("-NOPERM this user has no permissions to run the 'mget' command\r\n");
    EXPECT_EQ(sent(4), (strings{"settle c", "submit d", "submit c", "settle c"}));
    submit("e");
    settle("f");
    EXPECT_EQ(sent(2), (strings{"submit e", "settle f"}));
}

TEST_F(redis_connection, a_script_that_is_forgotten_changes_no_order) {
    settle("a");
    ASSERT_EQ(sent(1), strings{"settle a"});
    submit("a");
    submit("b");
    ASSERT_EQ(sent(1), strings{"many a b"});
    settle("c");  // still waits to be written when the answers come
    hear("-NOSCRIPT No matching script.\r\n" + many(1, "01"));
    EXPECT_EQ(sent(5), (strings{"load settle", "settle a", "load submit", "submit a", "settle c"}));
}

TEST_F(redis_connection, what_is_not_yet_written_stays_behind_a_call_whose_script_is_loaded) {
    settle("a");
    ASSERT_EQ(sent(1), strings{"settle a"});
    submit("a");
    hear("-NOSCRIPT No matching script.\r\n");
    EXPECT_EQ(sent(2), (strings{"load settle", "settle a"}));
    EXPECT_TRUE(sends_nothing()) << "it may be sent back again";
    say("+\r\n:5\r\n");
    EXPECT_EQ(sent(2), (strings{"load submit", "submit a"}));
}

// Words as Redis 7 says them, and as Redis 6.2 wraps them.
TEST_F(redis_connection, trouble_that_passes_does_not_end_batches) {
    for (std::string const words :
         {"OOM command not allowed when used memory > 'maxmemory'.",
          "NOREPLICAS Not enough good replicas to write.",
          "MISCONF Redis is configured to save RDB snapshots", "LOADING Redis is loading",
          "ERR Error running script (call to f_1): @user_script:52: @user_script: 52: -READONLY",
          "ERR Error running script (call to f_1): Script killed by user with SCRIPT KILL..."}) {
        submit("a");
        submit("b");
        ASSERT_EQ(sent(1), strings{"many a b"}) << words;
        say("-" + words + "\r\n");
        EXPECT_EQ(sent(2), (strings{"submit a", "submit b"})) << words;
        say(":5\r\n:5\r\n");
        ASSERT_TRUE(until([&] { return line_.unanswered() == 0; }));
    }
}

TEST_F(redis_connection, a_batch_for_another_server_goes_there_without_a_second_question) {
    in_cluster_ = true;
    submit("a");
    submit("b");
    ASSERT_EQ(sent(1), strings{"many a b"});
    hear("-MOVED 1 127.0.0.1:7000\r\n");
    EXPECT_EQ(taken_over_.size(), 2U);
    EXPECT_TRUE(sends_nothing());
    submit("a");
    submit("b");
    ASSERT_EQ(sent(1), strings{"many a b"});
    say("-TRYAGAIN Multiple keys request during rehashing of slot\r\n");
    EXPECT_EQ(sent(2), (strings{"submit a", "submit b"})) << "each has fewer keys";
}

class redis_without_batches : public redis_connection,
                              public testing::WithParamInterface<std::string> {};

TEST_P(redis_without_batches, is_asked_for_none_again) {
    submit("a");
    submit("b");
    ASSERT_EQ(sent(1), strings{"many a b"});
    say("-" + GetParam() + "\r\n");
    EXPECT_EQ(sent(2), (strings{"submit a", "submit b"}));
    say(":5\r\n:5\r\n");
    submit("a");
    submit("b");
    EXPECT_EQ(sent(2), (strings{"submit a", "submit b"}));
}

INSTANTIATE_TEST_SUITE_P(
    words, redis_without_batches,
    testing::Values(
        "NOPERM this user has no permissions to run the 'evalsha' command",
        "ERR ACL failure in script: User x has no permissions to run the 'mget' command "
        "script: 1, on @user_script:52.",
        "ERR Error running script (call to f_1): @user_script:52: @user_script: 52: "
        "-NOPERM The user executing the script can't run this command or subcommand",
        "ERR Error running script (call to f_1): @user_script:52: @user_script: 52: "
        "Unknown Redis command called from Lua script",
        "ERR unknown command 'EVALSHA', with args beginning with: ",
        "CROSSSLOT Keys in request don't hash to the same slot"));

TEST_F(redis_connection, a_server_that_does_not_take_the_script_of_batches_is_asked_for_none) {
    submit("a");
    submit("b");
    ASSERT_EQ(sent(1), strings{"many a b"});
    say("-NOSCRIPT No matching script.\r\n");
    ASSERT_EQ(sent(2), (strings{"load many", "many a b"}));
    say("-ERR Error compiling script (new function): user_script:1: '=' expected\r\n"
        "-NOSCRIPT No matching script.\r\n");
    EXPECT_EQ(sent(3), (strings{"load submit", "submit a", "submit b"}));
    submit("c");
    submit("d");
    EXPECT_EQ(sent(2), (strings{"submit c", "submit d"}));
}

}  // namespace
}  // namespace holdfast::stores::redis
