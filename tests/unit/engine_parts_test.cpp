// The parts of the engine alone: phases, requests under way, readings of a clock.
#include <gtest/gtest.h>

#include "core/claim_phase.hpp"
#include "core/pending_requests.hpp"
#include "core/store_clock_reading.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

base::instant at(std::chrono::nanoseconds since) { return base::instant{since}; }

TEST(claim_phase, a_hold_ends_once) {
    using enum claim_phase;
    for (auto const next : {submitting, waiting, confirming, held, parked, over, ending})
        EXPECT_FALSE(may_follow(ending, next));
    for (auto const next : {submitting, waiting, confirming, held, parked})
        EXPECT_FALSE(may_follow(over, next)) << "what is lost stays lost";
    EXPECT_TRUE(may_follow(over, ending));
    EXPECT_FALSE(may_follow(held, submitting));
    EXPECT_FALSE(may_follow(parked, ending)) << "a thread may be using it";
    EXPECT_TRUE(may_follow(waiting, held));
}

TEST(pending_requests, each_is_answered_once) {
    pending_requests all;
    auto const first = all.add({request_purpose::submit, at(1s), 7});
    auto const second = all.add({request_purpose::settle, at(2s), 8});
    EXPECT_NE(first, second);
    auto const taken = all.take(first);
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->purpose, request_purpose::submit);
    EXPECT_EQ(taken->subject, 7U);
    EXPECT_EQ(taken->sent, at(1s));
    EXPECT_FALSE(all.take(first));
    EXPECT_EQ(all.size(), 1U);
}

TEST(pending_requests, what_is_never_answered_is_forgotten_in_the_end) {
    pending_requests all;
    for (int i = 0; i < 10'000; ++i)
        (void)all.add({request_purpose::submit, at(i * 1s)});
    EXPECT_LT(all.size(), 2'100U);
    auto const fresh = all.add({request_purpose::submit, at(10'000s)});
    EXPECT_TRUE(all.take(fresh));
}

TEST(store_clock_reading, the_one_that_was_asked_for_last_counts) {
    store_clock_reading clock;
    EXPECT_FALSE(clock.latest());
    clock.note({at(5s), at(6s), seam::store_time{50s}});
    clock.note({at(4s), at(9s), seam::store_time{54s}});
    ASSERT_TRUE(clock.latest());
    EXPECT_EQ(clock.latest()->sent, at(5s));
}

TEST(store_clock_reading, grows_old) {
    store_clock_reading clock;
    EXPECT_FALSE(clock.is_fresh(at(0s), at(1s)));
    clock.note({at(100s), at(100s), seam::store_time{}});
    EXPECT_TRUE(clock.is_fresh(at(101s), at(104s)));
    EXPECT_FALSE(clock.is_fresh(at(101s), at(101s + 1ms))) << "the drift eats it";
    EXPECT_FALSE(clock.is_fresh(at(130s), at(1000s)));
}

TEST(store_clock_reading, is_asked_for_once_however_many_wait) {
    store_clock_reading clock;
    EXPECT_TRUE(clock.await(1, at(1s), 2s));
    EXPECT_FALSE(clock.await(2, at(2s), 2s));
    EXPECT_TRUE(clock.await(1, at(3s), 2s)) << "no answer came";
    EXPECT_EQ(clock.answered(), (std::vector<std::uint64_t>{1, 2}));
    EXPECT_TRUE(clock.answered().empty());
    EXPECT_TRUE(clock.await(3, at(3s), 2s));
}

}  // namespace
}  // namespace holdfast::core
