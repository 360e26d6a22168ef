#include "base/suggestion.hpp"

#include <array>

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

constexpr std::array<std::string_view, 3> words{"prefix", "lease", "timeout"};

TEST(nearest, finds_what_was_meant) {
    EXPECT_EQ(nearest("prefx", words), "prefix");
    EXPECT_EQ(nearest("leese", words), "lease");
    EXPECT_EQ(nearest("timeouts", words), "timeout");
    EXPECT_EQ(nearest("zzzzzz", words), "");
    EXPECT_EQ(nearest("lease", {}), "");
}

TEST(nearest, the_first_of_those_that_are_equally_near) {
    constexpr std::array<std::string_view, 2> twins{"count", "mount"};
    EXPECT_EQ(nearest("fount", twins), "count");
}

TEST(nearest, neighbours_that_changed_places_are_one_slip) {
    constexpr std::array<std::string_view, 2> schemes{"redis", "rediss"};
    EXPECT_EQ(nearest("reidss", schemes), "rediss");
    EXPECT_EQ(nearest("erdis", schemes), "redis");
}

TEST(did_you_mean, ends_a_message) {
    EXPECT_EQ(did_you_mean("leese", words), "; did you mean 'lease'?");
    EXPECT_EQ(did_you_mean("zzzzzz", words), "");
}

}  // namespace
}  // namespace holdfast::base
