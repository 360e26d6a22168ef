// The parts of the engine alone: phases, requests under way, readings of a clock.
#include <array>
#include <string_view>

#include <gtest/gtest.h>

#include "core/claim_phase.hpp"
#include "core/clock_readings.hpp"
#include "core/engine_visit.hpp"
#include "core/name_watches.hpp"
#include "core/pending_requests.hpp"
#include "core/settlement_window.hpp"
#include "core/waiting_claims.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

base::instant at(std::chrono::nanoseconds since) { return base::instant{since}; }

// All of them: what is lost stays lost, what is being settled ends, and what a thread may be using goes nowhere else.
TEST(claim_phase, may_be_followed_by_these_and_no_others) {
    using enum claim_phase;
    constexpr std::array all{submitting, waiting, confirming, held, parked, over, ending};
    constexpr std::array<std::string_view, all.size()> table{
        "yes yes yes yes no  no  yes",  // submitting
        "yes no  yes yes no  no  yes",  // waiting
        "no  no  yes yes no  no  yes",  // confirming
        "no  no  no  no  yes yes yes",  // held
        "no  no  no  yes no  no  no",   // parked
        "no  no  no  no  no  no  yes",  // over
        "no  no  no  no  no  no  no",   // ending
    };
    for (std::size_t from = 0; from < all.size(); ++from)
        for (std::size_t to = 0; to < all.size(); ++to)
            EXPECT_EQ(may_follow(all[from], all[to]), table[from].substr(4 * to, 2) != "no")
                << "from phase " << from << " to phase " << to;
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

/// Writes down who was told.
struct recorded final : completion {
    recorded(std::vector<int>& into, int which) : told{into}, number{which} {}
    void completed() noexcept override { told.push_back(number); }
    operation_call call{seam::hello{}, *this};
    std::vector<int>& told;
    int number;
};

TEST(engine_visit, callers_are_told_at_its_end_in_order_and_once) {
    engine machine{{}};
    std::vector<int> told;
    recorded first{told, 1};
    recorded second{told, 2};
    engine_visit { machine } -> close(at(1s));
    {
        engine_visit const visit{machine};
        visit->begin(first.call, at(2s));
        visit->begin(second.call, at(2s));
        EXPECT_TRUE(first.call.done && second.call.done);
        EXPECT_TRUE(told.empty()) << "nobody's code runs inside the engine";
        EXPECT_EQ(visit->todo().calls.size(), 2U);
    }
    EXPECT_EQ(told, (std::vector{1, 2}));
    engine_visit { machine } -> on_time(at(3s));
    EXPECT_EQ(told.size(), 2U);
}

class clock_readings_test : public ::testing::Test {
protected:
    static constexpr seam::lane_id lane{0};
    static constexpr seam::lane_id other{3};
    static constexpr seam::clock_id first{11};
    static constexpr seam::clock_id second{12};

    clock_readings clocks_;
};

TEST_F(clock_readings_test, the_one_that_was_asked_for_last_counts) {
    EXPECT_FALSE(clocks_.latest(lane));
    clocks_.note(lane, {first, {at(5s), at(6s), seam::store_time{50s}}});
    clocks_.note(lane, {first, {at(4s), at(9s), seam::store_time{54s}}});
    ASSERT_TRUE(clocks_.latest(lane));
    EXPECT_EQ(clocks_.latest(lane)->pair.sent, at(5s));
}

TEST_F(clock_readings_test, each_lane_has_its_own) {
    clocks_.note(other, {second, {at(5s), at(6s), seam::store_time{50s}}});
    EXPECT_FALSE(clocks_.latest(lane));
    EXPECT_EQ(clocks_.find(lane, second), nullptr);
    EXPECT_NE(clocks_.find(other, second), nullptr);
    EXPECT_EQ(clocks_.find(other, first), nullptr);
}

TEST_F(clock_readings_test, another_server_behind_a_lane_begins_anew) {
    clocks_.note(lane, {first, {at(5s), at(6s), seam::store_time{50s}}});
    clocks_.expect(lane, first);
    EXPECT_NE(clocks_.find(lane, first), nullptr);
    clocks_.expect(lane, second);
    EXPECT_FALSE(clocks_.latest(lane));
    clocks_.note(lane, {second, {at(7s), at(7s), seam::store_time{2s}}});
    clocks_.note(lane, {first, {at(6s), at(8s), seam::store_time{53s}}});
    EXPECT_EQ(clocks_.find(lane, first), nullptr) << "an older answer of the server before";
    EXPECT_NE(clocks_.find(lane, second), nullptr);
}

TEST_F(clock_readings_test, grow_old) {
    EXPECT_FALSE(clocks_.is_fresh(lane, at(0s), at(1s)));
    clocks_.note(lane, {first, {at(100s), at(100s), seam::store_time{}}});
    EXPECT_TRUE(clocks_.is_fresh(lane, at(101s), at(104s)));
    EXPECT_FALSE(clocks_.is_fresh(lane, at(101s), at(101s + 1ms))) << "the drift eats it";
    EXPECT_FALSE(clocks_.is_fresh(lane, at(130s), at(1000s)));
}

TEST_F(clock_readings_test, are_asked_for_once_however_many_wait) {
    EXPECT_TRUE(clocks_.wait_for_reading(lane, 1, at(1s), 2s));
    EXPECT_FALSE(clocks_.wait_for_reading(lane, 2, at(2s), 2s));
    EXPECT_TRUE(clocks_.wait_for_reading(other, 3, at(2s), 2s)) << "which is another server";
    EXPECT_TRUE(clocks_.wait_for_reading(lane, 1, at(3s), 2s)) << "no answer came";
    EXPECT_EQ(clocks_.take_waiting(lane), (std::vector<std::uint64_t>{1, 2}));
    EXPECT_TRUE(clocks_.take_waiting(lane).empty());
    EXPECT_TRUE(clocks_.wait_for_reading(lane, 3, at(3s), 2s));
}

TEST(waiting_claims, are_found_by_name) {
    waiting_claims all;
    all.add(5, 2);
    all.add(5, 1);
    all.add(6, 3);
    EXPECT_EQ(all.find(5), (std::vector<std::uint64_t>{1, 2}));
    all.remove(5, 1);
    all.remove(5, 7);
    EXPECT_EQ(all.find(5), (std::vector<std::uint64_t>{2}));
    all.remove(5, 2);
    EXPECT_TRUE(all.find(5).empty());
}

TEST(name_watches, last_from_the_first_waiter_to_the_last) {
    name_watches all;
    EXPECT_TRUE(all.add("a"));
    EXPECT_FALSE(all.add("a"));
    EXPECT_FALSE(all.remove("a", false));
    EXPECT_FALSE(all.remove("a", true)) << "the next one of this client is about to wait";
    EXPECT_FALSE(all.add("a"));
    all.on_disconnection();
    EXPECT_TRUE(all.ask_again("a"));
    EXPECT_FALSE(all.ask_again("a"));
    EXPECT_TRUE(all.remove("a", false));
    EXPECT_EQ(all.size(), 0U);
}

// A request that failed does not say that the store has forgotten anything.
TEST(name_watches, what_the_store_may_have_is_ended) {
    name_watches all;
    EXPECT_TRUE(all.add("a"));
    all.on_disconnection();
    EXPECT_TRUE(all.has("a"));
    EXPECT_TRUE(all.remove("a", false));
    EXPECT_FALSE(all.has("a"));
}

TEST(settlement_window, is_one_for_each_lane) {
    settlement_window all;
    constexpr seam::lane_id sick{0};
    constexpr seam::lane_id well{1};
    for (std::size_t i = 0; i < settlement_window::most; ++i)
        ASSERT_TRUE(all.enter(sick));
    EXPECT_FALSE(all.enter(sick));
    EXPECT_TRUE(all.enter(well));
    all.keep_back(sick, 1, 5);
    EXPECT_FALSE(all.next(sick));
    EXPECT_FALSE(all.next(well));
    all.leave(sick);
    EXPECT_EQ(all.next(sick), 1U);
}

}  // namespace
}  // namespace holdfast::core
