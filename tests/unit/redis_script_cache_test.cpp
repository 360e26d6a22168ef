// Which scripts a server has, and that nothing of a name is overtaken where one is missing.
#include "stores/redis/script_cache.hpp"
#include "unit/redis_connection_fixture.hpp"

namespace holdfast::stores::redis {
namespace {

constexpr std::string_view forgotten = "-NOSCRIPT No matching script.\r\n";

class script_cache_test : public testing::Test {
protected:
    static answer inventory(std::vector<std::int64_t> const& numbers) {
        answer out;
        out.add(answer::kind::array, static_cast<std::int64_t>(numbers.size()));
        for (auto const each : numbers)
            out.add(answer::kind::integer, each);
        return out;
    }
    bool loads(script const& what) { return all_.before(command{what, 1}).has_value(); }

    script_cache all_;
};

TEST_F(script_cache_test, what_is_missing_is_loaded_once) {
    all_.take_inventory(layout_name::native, inventory({1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
    EXPECT_FALSE(loads(scripts::submit));
    EXPECT_TRUE(loads(scripts::settle));
    EXPECT_FALSE(loads(scripts::settle)) << "it is on its way";
    all_.on_loaded(scripts::settle, {});
    EXPECT_FALSE(loads(scripts::settle));
    EXPECT_FALSE(all_.before(command{"TIME"}));
    all_.clear();
    EXPECT_TRUE(loads(scripts::submit)) << "another server";
}

TEST_F(script_cache_test, each_layout_has_its_own) {
    all_.take_inventory(layout_name::plain, inventory({1, 1, 0, 1, 1}));
    EXPECT_FALSE(loads(scripts::plain_acquire));
    EXPECT_TRUE(loads(scripts::plain_renew));
    EXPECT_TRUE(loads(scripts::submit));
}

TEST_F(script_cache_test, an_inventory_that_makes_no_sense_is_none) {
    answer refused;
    refused.add(answer::kind::error, "NOPERM no");
    answer word;
    word.add(answer::kind::text, "OK");
    answer words;
    words.add(answer::kind::array, 12);
    for (int i = 0; i < 12; ++i)
        words.add(answer::kind::text, "1");
    for (auto const& each : {refused, word, words, inventory({1, 1}), inventory({})})
        all_.take_inventory(layout_name::native, each);
    EXPECT_TRUE(loads(scripts::submit));
    EXPECT_TRUE(loads(scripts::settle));
}

TEST_F(script_cache_test, who_forgets_one_may_have_forgotten_all) {
    all_.take_inventory(layout_name::native, inventory({1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
    EXPECT_TRUE(loads(scripts::many));
    all_.on_missing();
    EXPECT_TRUE(loads(scripts::submit));
    EXPECT_TRUE(loads(scripts::settle));
    EXPECT_FALSE(loads(scripts::many)) << "it is on its way";
}

TEST_F(script_cache_test, what_is_refused_for_good_is_not_loaded_again) {
    EXPECT_TRUE(loads(scripts::submit));
    all_.on_loaded(scripts::submit, "BUSY Redis is busy running a script");
    EXPECT_FALSE(all_.is_refused(scripts::submit));
    EXPECT_TRUE(loads(scripts::submit)) << "that passes";
    all_.on_loaded(scripts::submit, "NOPERM this user has no permissions to run 'script|load'");
    EXPECT_TRUE(all_.is_refused(scripts::submit));
    EXPECT_FALSE(loads(scripts::submit));
    all_.on_missing();
    EXPECT_TRUE(all_.is_refused(scripts::submit));
}

class redis_without_settle : public redis_connection {
protected:
    redis_without_settle()
        : redis_connection{
              "*12\r\n:1\r\n:0\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n"
              ":1\r\n:1\r\n"} {}
};

TEST_F(redis_without_settle, gets_the_script_right_before_the_first_call) {
    submit("a");
    ASSERT_EQ(sent(1), strings{"submit a"});
    settle("a");
    ASSERT_EQ(sent(2), (strings{"load settle", "settle a"}));
    settle("b");
    submit("a");
    EXPECT_EQ(sent(1), strings{"many b a"});
    settle("c");
    EXPECT_EQ(sent(1), strings{"settle c"});
}

TEST_F(redis_without_settle, is_asked_by_asking_right_before_the_call) {
    auto work = layout_.begin(seam::settle{{claim("a")}});
    struct silent_asker final : asker {
        void on_answer(std::size_t, answer const&, seam::clock_id) override {}
        void on_failure(std::size_t, base::error const&) override {}
    };
    silent_asker nobody;
    line_.send({.what = std::move(work->outbox.front()),
                .from = &nobody,
                .give_up = base::boot_clock::now() + 15s,
                .asking = true},
               base::boot_clock::now());
    EXPECT_EQ(sent(3), (strings{"load settle", "ASKING", "settle a"}));
    line_.cut({errc::store_unavailable, "cut"}, base::boot_clock::now());
}

TEST_F(redis_without_settle, is_given_the_text_when_it_takes_no_script) {
    settle("a");
    ASSERT_EQ(sent(2), (strings{"load settle", "settle a"}));
    say("-NOPERM this user has no permissions to run the 'script|load' command\r\n" +
        std::string{forgotten});
    ASSERT_EQ(sent(1), strings{"text settle a"});
    say(":5\r\n");
    EXPECT_TRUE(until([&] { return is_answered(0); }));
    EXPECT_FALSE(has_failed(0));
    settle("a");
    EXPECT_EQ(sent(1), strings{"settle a"}) << "a server keeps what it has carried out";
}

TEST_F(redis_connection, a_server_that_keeps_no_script_is_given_the_text) {
    settle("a");
    ASSERT_EQ(sent(1), strings{"settle a"});
    say(forgotten);
    ASSERT_EQ(sent(2), (strings{"load settle", "settle a"}));
    say("+\r\n" + std::string{forgotten});
    ASSERT_EQ(sent(1), strings{"text settle a"});
    say(forgotten);  // which makes no sense
    EXPECT_TRUE(until([&] { return has_failed(0); }));
    EXPECT_TRUE(sends_nothing());
}

TEST_F(redis_connection, a_batch_that_comes_back_twice_is_taken_apart) {
    submit("a");
    submit("b");
    ASSERT_EQ(sent(1), strings{"many a b"});
    say(forgotten);
    ASSERT_EQ(sent(2), (strings{"load many", "many a b"}));
    say("+\r\n" + std::string{forgotten});
    EXPECT_EQ(sent(3), (strings{"load submit", "submit a", "submit b"}));
}

TEST_F(redis_connection, what_comes_behind_a_call_that_is_sent_again_waits_for_it) {
    settle("a");
    ASSERT_EQ(sent(1), strings{"settle a"});
    hear(forgotten);
    ASSERT_EQ(sent(2), (strings{"load settle", "settle a"}));
    submit("a");
    begin(seam::adjust{.subject = claim("a")});
    begin(seam::renew{{{claim("a"), 1s}}});
    submit("b");
    EXPECT_EQ(sent(4), (strings{"load renew", "renew a", "load submit", "submit b"}));
    say("+\r\n:5\r\n");
    EXPECT_EQ(sent(3), (strings{"submit a", "load adjust", "adjust a"}));
}

TEST_F(redis_connection, a_call_that_is_sent_again_has_its_time_from_then_on) {
    auto const ended = begin(seam::settle{{claim("a")}}, 5s);
    ASSERT_EQ(sent(1), strings{"settle a"});
    hear(forgotten);
    ASSERT_EQ(sent(2), (strings{"load settle", "settle a"}));
    line_.tend(base::boot_clock::now() + 6s);
    EXPECT_EQ(broken(), "");
    say("+\r\n:5\r\n");
    EXPECT_TRUE(until([&] { return is_answered(ended); }));
    EXPECT_FALSE(has_failed(ended));
}

TEST_F(redis_connection, what_came_too_early_and_had_no_effect_is_asked_again) {
    settle("a");
    ASSERT_EQ(sent(1), strings{"settle a"});
    auto const wanted = submit("a");
    ASSERT_EQ(sent(1), strings{"submit a"});
    auto const other = submit("b");
    ASSERT_EQ(sent(1), strings{"submit b"});
    hear(std::string{forgotten} + "*5\r\n:5\r\n+refused\r\n+busy\r\n:0\r\n:0\r\n:6\r\n");
    EXPECT_FALSE(is_answered(wanted)) << "the settlement before it had no effect yet";
    EXPECT_TRUE(is_granted(other));
    ASSERT_EQ(sent(4), (strings{"load settle", "settle a", "load submit", "submit a"}));
    submit("a");
    EXPECT_TRUE(sends_nothing());
    say("+\r\n:7\r\n+\r\n:8\r\n");
    EXPECT_TRUE(until([&] { return is_granted(wanted); }));
    EXPECT_EQ(sent(1), strings{"submit a"});
}

TEST_F(redis_connection, what_came_too_early_and_had_an_effect_is_told) {
    settle("a");
    ASSERT_EQ(sent(1), strings{"settle a"});
    auto const granted = submit("a");
    ASSERT_EQ(sent(1), strings{"submit a"});
    auto const queued = submit("a");
    ASSERT_EQ(sent(1), strings{"submit a"});
    hear(std::string{forgotten} + ":5\r\n*3\r\n:5\r\n+queued\r\n:9\r\n");
    EXPECT_TRUE(is_granted(granted)) << "asked for again, it might be too late for what is held";
    EXPECT_TRUE(is_answered(queued));
    EXPECT_EQ(sent(2), (strings{"load settle", "settle a"}));
    EXPECT_TRUE(sends_nothing());
}

TEST_F(redis_connection, a_settlement_that_came_too_early_is_asked_again) {
    auto const wanted = submit("a");
    ASSERT_EQ(sent(1), strings{"submit a"});
    auto const ended = settle("a");
    ASSERT_EQ(sent(1), strings{"settle a"});
    hear(std::string{forgotten} + "*2\r\n:5\r\n+gone\r\n");
    EXPECT_FALSE(is_answered(ended));
    ASSERT_EQ(sent(4), (strings{"load submit", "submit a", "load settle", "settle a"}));
    say("+\r\n:7\r\n+\r\n:8\r\n");
    EXPECT_TRUE(until([&] { return is_granted(wanted) && is_answered(ended); }));
}

TEST_F(redis_connection, what_waits_for_a_call_that_is_sent_again_ends_with_the_connection) {
    settle("a");
    ASSERT_EQ(sent(1), strings{"settle a"});
    hear(forgotten);
    auto const behind = submit("a");
    ASSERT_EQ(sent(2), (strings{"load settle", "settle a"}));
    line_.cut({errc::store_unavailable, "cut"}, base::boot_clock::now());
    EXPECT_TRUE(has_failed(0) && has_failed(behind));
    EXPECT_EQ(line_.unanswered(), 0U);
    greet("-ERR unknown subcommand 'EXISTS'\r\n");
    submit("a");
    EXPECT_EQ(sent(2), (strings{"load submit", "submit a"})) << "it waits for nobody";
}

}  // namespace
}  // namespace holdfast::stores::redis
