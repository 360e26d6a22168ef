// Durations and deadlines of callers, at their limits.
#include <chrono>

#include <gtest/gtest.h>

#include <holdfast/detail/timeout.hpp>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using detail::to_timeout;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;
using std::chrono::system_clock;
using std::chrono::time_point;

TEST(timeout, a_deadline_that_has_passed_leaves_nothing_however_long_ago) {
    EXPECT_EQ(to_timeout(steady_clock::now() - 1ns), 0ns);
    EXPECT_EQ(to_timeout(steady_clock::time_point::min()), 0ns);
    EXPECT_EQ(to_timeout(system_clock::time_point::min()), 0ns);
    EXPECT_EQ(to_timeout(time_point<system_clock, std::chrono::hours>::min()), 0ns);
}

TEST(timeout, a_deadline_that_never_comes_is_the_longest_wait) {
    auto const longest = to_timeout(nanoseconds::max());
    EXPECT_EQ(to_timeout(steady_clock::time_point::max()), longest);
    EXPECT_EQ(to_timeout(time_point<system_clock, std::chrono::hours>::max()), longest);
}

TEST(timeout, a_deadline_to_come_leaves_the_time_until_then) {
    auto const left = to_timeout(system_clock::now() + 1h);
    EXPECT_LE(left, 1h);
    EXPECT_GT(left, 59min);
}

TEST(timeout, a_duration_is_rounded_up) {
    EXPECT_EQ(to_timeout(std::chrono::duration<double, std::pico>{1}), 1ns);
    EXPECT_EQ(to_timeout(-1s), 0ns);
    EXPECT_EQ(to_timeout(std::chrono::hours::max()), to_timeout(nanoseconds::max()));
}

}  // namespace
}  // namespace holdfast
