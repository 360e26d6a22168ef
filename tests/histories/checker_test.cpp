// The checker finds what is wrong in histories that are wrong, and nothing in those that are not.
#include "histories/checker.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "histories/history_builder.hpp"

namespace holdfast::histories {
namespace {

class checker_test : public ::testing::Test {
protected:
    /// The promises that are broken, each once.
    [[nodiscard]] std::vector<std::string> broken() {
        std::vector<std::string> out;
        auto const all = made_.done();
        for (auto const& one : check(all)) {
            out.push_back(one.promise);
            EXPECT_FALSE(story(all, one).empty());
        }
        std::sort(out.begin(), out.end());
        out.erase(std::unique(out.begin(), out.end()), out.end());
        return out;
    }
    using promises = std::vector<std::string>;

    history_builder made_;
};

TEST_F(checker_test, one_after_another_is_fine) {
    made_.hold(1, "n0", 10, 0, 1, 5);
    made_.hold(2, "n0", 11, 2, 6, 9);
    made_.hold(3, "n1", 12, 2, 3, 9);
    EXPECT_EQ(broken(), promises{});
}

TEST_F(checker_test, two_at_once_are_an_overlap) {
    made_.hold(1, "n0", 10, 0, 1, 5);
    made_.hold(2, "n0", 11, 2, 4, 9);
    EXPECT_EQ(broken(), promises{"exclusion"});
}

TEST_F(checker_test, readers_hold_together_and_a_writer_does_not) {
    made_.hold(1, "n0", 10, 0, 1, 5, mode::shared);
    made_.hold(2, "n0", 11, 0, 1, 5, mode::shared);
    EXPECT_EQ(broken(), promises{});
    made_.hold(1, "n0", 10, 0, 1, 5, mode::shared);
    made_.hold(2, "n0", 11, 0, 3, 9);
    EXPECT_EQ(broken(), promises{"exclusion"});
}

TEST_F(checker_test, a_stopped_holder_counts_for_as_long_as_it_was_told) {
    auto const stopped = [&](double next) {
        made_.of_call(made_.add(kind::asked, 0, 0, "n0"), 1, 0);
        made_.of_call(made_.add(kind::granted, 0, 1, "n0"), 1, 10).number = 1;
        made_.of_call(made_.add(kind::believed, 2, 2.1, "n0"), 1, 10).number = 500 * millisecond;
        made_.of_call(made_.add(kind::disbelieved, 900, 901, "n0"), 1, 10);
        made_.hold(2, "n0", 11, 5, next, next + 5);
        return broken();
    };
    EXPECT_EQ(stopped(510), promises{});
    EXPECT_EQ(stopped(400), promises{"exclusion"});
}

TEST_F(checker_test, a_killed_holder_believes_nothing) {
    made_.of_call(made_.add(kind::asked, 0, 0, "n0"), 1, 0);
    made_.of_call(made_.add(kind::granted, 0, 1, "n0"), 1, 10).number = 1;
    made_.of_call(made_.add(kind::believed, 2, 2.1, "n0"), 1, 10).number = 500 * millisecond;
    made_.add(kind::killed, 3, 3.1);
    made_.hold(2, "n0", 11, 5, 6, 9);
    EXPECT_EQ(broken(), promises{});
}

TEST_F(checker_test, a_store_that_forgot_may_grant_again_but_not_twice) {
    made_.hold(1, "n0", 10, 0, 1, 50);
    made_.add(kind::forgot, 10, 11);
    made_.hold(2, "n0", 11, 12, 13, 40);
    EXPECT_EQ(broken(), promises{});
    made_.add(kind::forgot, 10, 11);
    made_.hold(2, "n0", 11, 12, 13, 40);
    made_.hold(3, "n0", 12, 12, 20, 40);
    EXPECT_EQ(broken(), promises{"exclusion"});
}

TEST_F(checker_test, a_hold_that_is_lost_before_its_time) {
    auto const lost_early = [&](kind what) {
        made_.add(what, 2, 2.5);
        made_.of_call(made_.add(kind::asked, 0, 0, "n0"), 1, 0);
        made_.of_call(made_.add(kind::granted, 0, 1, "n0"), 1, 10).number = 1;
        made_.of_call(made_.add(kind::believed, 2, 2.1, "n0"), 1, 10).number = 500 * millisecond;
        made_.of_call(made_.add(kind::disbelieved, 3, 3.1, "n0"), 1, 10);
        made_.hold(2, "n0", 11, 2.1, 2.2, 9);
        return broken();
    };
    EXPECT_EQ(lost_early(kind::healed), (promises{"exclusion", "lease"}));
    EXPECT_EQ(lost_early(kind::ended_holds), promises{"exclusion"});
    EXPECT_EQ(lost_early(kind::forgot), promises{});
}

TEST_F(checker_test, a_falling_token) {
    made_.hold(1, "n0", 10, 0, 1, 5);
    made_.hold(2, "n0", 9, 6, 7, 9);
    EXPECT_EQ(broken(), promises{"token"});
}

TEST_F(checker_test, tokens_rise_even_over_a_store_that_forgot) {
    made_.hold(1, "x", 10, 0, 1, 5);
    made_.add(kind::forgot, 5.5, 5.6);
    made_.hold(2, "x", 10, 6, 7, 9);
    EXPECT_EQ(broken(), promises{"token"});
}

// A process that has not been told yet passes on what it was granted before.
TEST_F(checker_test, a_pass_within_a_process_has_the_token_of_its_grant) {
    constexpr std::uint64_t before = 10 << 8;
    auto const passed_on = [&](bool forgotten) {
        made_.hold(1, "x", before, 0, 1, 20);
        if (forgotten) made_.add(kind::forgot, 5, 30);
        made_.hold(2, "x", before + 256, 6, 7, 9);
        made_.hold(3, "x", before + 1, 20.1, 20.2, 25);
        return broken();
    };
    EXPECT_EQ(passed_on(true), promises{});
    EXPECT_EQ(passed_on(false), promises{"token"});
}

TEST_F(checker_test, a_lost_update) {
    made_.use(kind::fenced_read, 1, "n0", 1, 0);
    made_.use(kind::fenced_write, 2, "n0", 1, 1, 0);
    EXPECT_EQ(broken(), promises{});
    made_.use(kind::fenced_write, 2, "n0", 1, 1, 0);
    made_.use(kind::fenced_write, 3, "n0", 2, 1, 0);
    EXPECT_EQ(broken(), promises{"lost update"});
}

TEST_F(checker_test, a_holder_that_is_refused) {
    made_.hold(1, "n0", 10, 0, 1, 9);
    made_.use(kind::fence_refused, 5, "n0", 1, 0);
    EXPECT_EQ(broken(), promises{"fence"});
}

TEST_F(checker_test, a_value_that_changes_while_it_is_read) {
    made_.hold(1, "n0", 10, 0, 1, 9, mode::shared);
    made_.use(kind::fenced_read, 2, "n0", 1, 0).mode = mode::shared;
    made_.use(kind::fenced_write, 3, "n0", 2, 1, 0);
    made_.use(kind::fenced_read, 4, "n0", 1, 1).mode = mode::shared;
    EXPECT_EQ(broken(), promises{"fence"});
}

TEST_F(checker_test, more_permits_than_there_are) {
    made_.hold(1, "s", 10, 0, 1, 5, mode::permits, 2);
    made_.hold(2, "s", 11, 0, 1, 5, mode::permits, 1);
    made_.hold(3, "s", 12, 0, 5, 9, mode::permits, 3);
    EXPECT_EQ(broken(), promises{});
    made_.hold(1, "s", 10, 0, 1, 5, mode::permits, 2);
    made_.hold(2, "s", 11, 0, 2, 5, mode::permits, 2);
    EXPECT_EQ(broken(), promises{"limit"});
}

TEST_F(checker_test, a_release_that_lies) {
    made_.of_call(made_.add(kind::asked, 0, 0, "n0"), 1, 0);
    made_.of_call(made_.add(kind::granted, 0, 1, "n0"), 1, 10).number = 1;
    made_.of_call(made_.add(kind::releasing, 5, 0, "n0"), 1, 10).number = 400 * millisecond;
    made_.of_call(made_.add(kind::released, 5, 6, "n0"), 1, 10).outcome = outcome::already_lost;
    EXPECT_EQ(broken(), promises{"outcome"});
}

TEST_F(checker_test, a_hold_that_ends_before_its_time) {
    made_.of_call(made_.add(kind::asked, 0, 0, "n0"), 1, 0);
    made_.of_call(made_.add(kind::granted, 0, 1, "n0"), 1, 10).number = 1;
    made_.of_call(made_.add(kind::believed, 2, 2.1, "n0"), 1, 10).number = 500 * millisecond;
    made_.of_call(made_.add(kind::disbelieved, 100, 101, "n0"), 1, 10);
    EXPECT_EQ(broken(), promises{"lease"});
}

TEST_F(checker_test, a_leader_that_has_resigned) {
    made_.hold(1, "e", 10, 0, 1, 5);
    made_.hold(2, "e", 11, 2, 7, 90);
    made_.add(kind::saw_leader, 10, 11, "e").token = 11;
    EXPECT_EQ(broken(), promises{});
    made_.hold(1, "e", 10, 0, 1, 5);
    made_.add(kind::saw_leader, 10, 11, "e").token = 10;
    EXPECT_EQ(broken(), promises{"leader"});
    made_.hold(1, "e", 10, 0, 1, 5);
    made_.add(kind::forgot, 4, 10);
    made_.add(kind::saw_leader, 10, 11, "e").token = 10;  // as the backup has it
    EXPECT_EQ(broken(), promises{});
}

TEST_F(checker_test, an_observer_that_hears_of_the_past) {
    made_.of_call(made_.add(kind::heard, 1, 1, "e"), 7, 12);
    made_.of_call(made_.add(kind::heard, 2, 2, "e"), 7, 11);
    EXPECT_EQ(broken(), promises{"leader"});
}

}  // namespace
}  // namespace holdfast::histories
