#include "base/duration.hpp"

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

using namespace std::chrono_literals;

TEST(parse_duration, units) {
    EXPECT_EQ(parse_duration("500ms"), 500ms);
    EXPECT_EQ(parse_duration("10s"), 10s);
    EXPECT_EQ(parse_duration("2m"), 2min);
    EXPECT_EQ(parse_duration("1h"), 1h);
    EXPECT_EQ(parse_duration("1d"), 24h);
    EXPECT_EQ(parse_duration("3"), 3s);
    EXPECT_EQ(parse_duration("0"), 0s);
    EXPECT_EQ(parse_duration("1.5s"), 1'500ms);
    EXPECT_EQ(parse_duration("0.25m"), 15s);
    EXPECT_EQ(parse_duration(".5"), 500ms);
    EXPECT_EQ(parse_duration("0.1ms"), 1ms) << "never less than what was asked for";
}

TEST(parse_duration, several_units_from_the_longest_to_the_shortest) {
    EXPECT_EQ(parse_duration("1m30s"), 90s);
    EXPECT_EQ(parse_duration("1d2h3m4s5ms"), 26h + 3min + 4s + 5ms);
    EXPECT_EQ(parse_duration("1.5h0.5s"), 90min + 500ms);
    for (auto const* const text : {"30s1m", "1s1s", "1m30", "1ms1s"})
        EXPECT_FALSE(parse_duration(text)) << text;
}

TEST(parse_duration, what_is_none) {
    for (auto const* const text : {"", "s", "-1s", "1w", "1 s", "s1", "1e3", "inf", "nan", "0x10",
                                   "1..2s", ".", "+1s", "1S", "1m s"})
        EXPECT_FALSE(parse_duration(text)) << text;
}

TEST(parse_duration, the_longest) {
    EXPECT_EQ(parse_duration("36600d"), longest_duration);
    EXPECT_FALSE(parse_duration("36600d1ms"));
    EXPECT_FALSE(parse_duration("99999999999h"));
    EXPECT_GT(std::chrono::nanoseconds{longest_duration} + longest_duration, 0ns);
}

TEST(duration_fault, says_what_is_wrong_and_how_it_is_written) {
    EXPECT_EQ(duration_fault("soon"),
              "'soon' is not a duration: write 500ms, 10s, 2m, 1h, 1d, 1m30s, or a plain number of "
              "seconds");
    EXPECT_EQ(duration_fault("36601d"), "'36601d' is too long: at most 100 years");
}

}  // namespace
}  // namespace holdfast::base
