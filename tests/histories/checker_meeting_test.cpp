// What the checker says of latches, barriers, conditions, progress and things left behind.
#include <gtest/gtest.h>

#include "histories/checker.hpp"
#include "histories/history_builder.hpp"

namespace holdfast::histories {
namespace {

class checker_meeting_test : public ::testing::Test {
protected:
    [[nodiscard]] std::vector<std::string> broken() {
        std::vector<std::string> out;
        for (auto const& one : check(made_.done()))
            out.push_back(one.promise);
        return out;
    }
    using promises = std::vector<std::string>;

    void latch(kind what, double before, double after, std::int64_t number) {
        auto& one = made_.add(what, before, after, "l1");
        one.number = number;
        one.second_number = 2;
    }
    void count_down(double before, double after, std::int64_t n) {
        latch(kind::counting_down, before, 0, n);
        latch(kind::counted_down, before, after, n);
    }

    void party(kind what, std::uint64_t call, double before, double after, std::int64_t number) {
        auto& one = made_.of_call(made_.add(what, before, after, "b"), call, 0);
        one.number = number;
        one.second_number = 2;
    }
    void meet(std::uint64_t call, double before, double after, std::int64_t generation) {
        party(kind::arriving, call, before, 0, 0);
        party(kind::tripped, call, before, after, generation);
    }

    history_builder made_;
};

TEST_F(checker_meeting_test, a_latch_as_it_should_be) {
    latch(kind::saw_closed, 0, 1, 0);
    count_down(2, 3, 1);
    latch(kind::saw_count, 4, 5, 1);
    count_down(6, 7, 1);
    latch(kind::saw_open, 6, 8, 0);
    EXPECT_EQ(broken(), promises{});
}

TEST_F(checker_meeting_test, a_latch_that_opens_early) {
    count_down(2, 3, 1);
    latch(kind::saw_open, 4, 5, 0);
    EXPECT_EQ(broken(), promises{"latch"});
}

TEST_F(checker_meeting_test, a_latch_that_closes_again) {
    latch(kind::counting_down, 2, 0, 2);
    latch(kind::saw_open, 4, 5, 0);
    latch(kind::saw_closed, 6, 7, 0);
    EXPECT_EQ(broken(), promises{"latch"});
}

TEST_F(checker_meeting_test, a_latch_that_does_not_open) {
    count_down(2, 3, 2);
    latch(kind::saw_closed, 6, 7, 0);
    EXPECT_EQ(broken(), promises{"latch"});
}

TEST_F(checker_meeting_test, a_latch_that_counts_twice) {
    latch(kind::saw_count, 4, 5, 1);
    EXPECT_EQ(broken(), promises{"latch"});
}

TEST_F(checker_meeting_test, a_barrier_as_it_should_be) {
    meet(1, 0, 5, 0);
    meet(2, 3, 4, 0);
    meet(1, 6, 9, 1);
    meet(2, 7, 9, 1);
    EXPECT_EQ(broken(), promises{});
}

TEST_F(checker_meeting_test, a_barrier_that_does_not_wait) {
    meet(1, 0, 2, 0);
    meet(2, 3, 4, 0);
    EXPECT_EQ(broken(), promises{"barrier"});
}

TEST_F(checker_meeting_test, a_barrier_that_trips_for_some) {
    meet(1, 0, 5, 0);
    party(kind::arriving, 2, 3, 0, 0);
    party(kind::broken, 2, 3, 5, 1);
    EXPECT_EQ(broken(), promises{"barrier"});
    meet(1, 0, 5, 0);
    party(kind::arriving, 2, 3, 0, 0);
    party(kind::broken, 2, 3, 5, 0);  // whose end nobody knows
    EXPECT_EQ(broken(), promises{});
}

TEST_F(checker_meeting_test, a_barrier_that_goes_back) {
    meet(1, 0, 5, 7);
    meet(2, 3, 5, 7);
    meet(1, 6, 9, 6);
    meet(2, 6, 9, 6);
    EXPECT_EQ(broken(), promises{"barrier"});
}

TEST_F(checker_meeting_test, a_notice_that_is_lost) {
    auto const waits = [&](double until) {
        made_.add(kind::healed, 0, 0.1);
        made_.of_call(made_.add(kind::waiting, 1, 0, "c"), 5, 0);
        made_.of_call(made_.add(kind::woke, 1, until, "c"), 5, 0);
        made_.use(kind::fenced_write, 10, "c", 9, 1, 0);
        made_.use(kind::fenced_write, 20'000, "c", 9, 0, 1);
        made_.add(kind::finishing, 30'000, 30'000);
        return broken();
    };
    EXPECT_EQ(waits(100), promises{});
    EXPECT_EQ(waits(9000), promises{"notice"});
}

TEST_F(checker_meeting_test, a_worker_that_is_stuck) {
    auto const steps = [&](double when) {
        made_.add(kind::party_began, 0, 0.1);
        made_.add(kind::fault_began, 1, 1);
        made_.add(kind::healed, 5, 5);
        made_.add(kind::tripped, when - 1, when).second_number = 1;
        made_.add(kind::finishing, 99'000, 99'000);
        return broken();
    };
    EXPECT_EQ(steps(10), promises{});
    EXPECT_EQ(steps(4), promises{"progress"});
    EXPECT_EQ(steps(60'000), promises{"progress"});
}

TEST_F(checker_meeting_test, what_nobody_expects) {
    made_.add(kind::party_failed, 0, 1).set_note("kind_mismatch");
    made_.add(kind::stuck, 1, 2);
    made_.add(kind::leftover, 2, 3);
    EXPECT_EQ(broken(), (promises{"error", "stuck", "leftover"}));
}

}  // namespace
}  // namespace holdfast::histories
