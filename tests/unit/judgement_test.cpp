// The decisions on which safety rests, with exact numbers.
#include "core/judgement.hpp"

#include <gtest/gtest.h>

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

base::instant client_at(std::chrono::nanoseconds since) { return base::instant{since}; }
seam::store_time store_at(std::chrono::microseconds since) { return seam::store_time{since}; }

judgement const judge;

TEST(judgement, margin_is_a_hundredth_of_the_lease_and_two_milliseconds) {
    EXPECT_EQ(judgement::margin(30s), 302ms);
    EXPECT_EQ(judgement::margin(3s), 32ms);
    EXPECT_EQ(judgement::margin(20ms), 2'200us);
}

TEST(judgement, deadline_counts_from_the_sending_of_the_request) {
    clock_pair const pair{client_at(100s), client_at(107s), store_at(5s)};
    EXPECT_EQ(judge.deadline(pair, store_at(5s), 30s), client_at(100s + 30s - 302ms));
}

TEST(judgement, deadline_of_a_grant_before_the_reading_is_earlier_by_its_age) {
    clock_pair const pair{client_at(100s), client_at(101s), store_at(50s)};
    EXPECT_EQ(judge.deadline(pair, store_at(48s), 3s), client_at(98s + 3s - 32ms));
}

TEST(judgement, deadline_of_a_grant_after_the_reading_allows_for_the_drift_between) {
    clock_pair const pair{client_at(100s), client_at(101s), store_at(50s)};
    EXPECT_EQ(judge.deadline(pair, store_at(60s), 3s), client_at(100s + 9'900ms + 3s - 32ms));
}

TEST(judgement, a_reading_never_makes_the_deadline_later_than_the_lease) {
    // Whatever the rates within one percent, the store's lease has not ended at the deadline.
    for (int const drift_ppm : {-9'900, 0, 9'900}) {
        double const rate = 1 + drift_ppm / 1e6;
        for (auto const since : {-2s, 0s, 20s}) {
            clock_pair const pair{client_at(100s), client_at(100s), store_at(50s)};
            auto const ends = judge.deadline(pair, store_at(50s + since), 3s);
            auto const client_left = std::chrono::duration<double>(ends - client_at(100s)).count();
            double const store_left = static_cast<double>(since.count()) + 3;
            EXPECT_LT(client_left / rate, store_left);
        }
    }
}

TEST(judgement, not_after_counts_from_the_receipt_and_allows_for_drift) {
    clock_pair const pair{client_at(100s), client_at(101s), store_at(50s)};
    EXPECT_EQ(judge.not_after(pair, client_at(101s)), store_at(50s));
    EXPECT_EQ(judge.not_after(pair, client_at(104s)), store_at(50s + 2'970ms));
}

TEST(judgement, tokens_are_the_sequence_and_the_pass) {
    EXPECT_EQ(make_token(seam::sequence{1}, 0), 256U);
    EXPECT_EQ(make_token(seam::sequence{1}, 255), 511U);
    EXPECT_LT(make_token(seam::sequence{1}, most_passes), make_token(seam::sequence{2}, 0));
    EXPECT_EQ(judge.next_pass(7), 8U);
}

TEST(judgement, the_product_believes_no_notice_and_no_single_error) {
    clock_pair const pair{client_at(1s), client_at(2s), store_at(3s)};
    auto const used = judge.reading_for_notice(pair, store_at(9s), client_at(20s));
    EXPECT_EQ(used.sent, pair.sent);
    EXPECT_EQ(used.store, pair.store);
    EXPECT_FALSE(judge.notice_is_truth());
    EXPECT_FALSE(judge.error_ends_renewal());
}

TEST(judgement, a_grant_cannot_have_begun_later_than_the_stores_clock_can_be) {
    clock_pair const pair{client_at(100s), client_at(101s), store_at(50s)};
    EXPECT_TRUE(judge.can_have_begun(pair, store_at(40s), client_at(110s)));
    EXPECT_TRUE(judge.can_have_begun(pair, store_at(60s), client_at(110s)));
    EXPECT_TRUE(judge.can_have_begun(pair, store_at(60s + 100ms), client_at(110s)))
        << "by a fast clock";
    EXPECT_FALSE(judge.can_have_begun(pair, store_at(60s + 102ms), client_at(110s)));
    EXPECT_FALSE(judge.can_have_begun(pair, store_at(1h), client_at(110s)));
}

}  // namespace
}  // namespace holdfast::core
