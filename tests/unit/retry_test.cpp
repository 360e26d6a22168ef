#include <system_error>

#include <gtest/gtest.h>

#include <holdfast/error.hpp>
#include <holdfast/retry.hpp>

#include "core/retry_policies.hpp"

namespace holdfast::retry {
namespace {

using namespace std::chrono_literals;

void expect_bad_option(auto make) {
    try {
        (void)make();
        FAIL() << "was taken";
    } catch (std::system_error const& error) {
        EXPECT_EQ(error.code(), make_error_code(errc::bad_option));
    }
}

TEST(fixed, makes_as_many_attempts_as_it_says) {
    auto const policy = fixed(50ms, 3);
    EXPECT_EQ(policy({.number = 1}), 50ms);
    EXPECT_EQ(policy({.number = 2}), 50ms);
    EXPECT_FALSE(policy({.number = 3}));
    EXPECT_FALSE(fixed(50ms, 1)({.number = 1}));
    EXPECT_EQ(fixed(0ms, 2)({.number = 1}), 0ms);
    expect_bad_option([] { return fixed(-1ms, 3); });
    expect_bad_option([] { return fixed(1ms, 0); });
}

TEST(exponential, doubles_up_to_its_cap_and_never_ends) {
    auto const policy = exponential(10ms, 75ms);
    EXPECT_EQ(policy({.number = 1}), 10ms);
    EXPECT_EQ(policy({.number = 2}), 20ms);
    EXPECT_EQ(policy({.number = 3}), 40ms);
    EXPECT_EQ(policy({.number = 4}), 75ms);
    EXPECT_EQ(policy({.number = 2'000'000'000}), 75ms);
    EXPECT_EQ(exponential(0ms, 0ms)({.number = 9}), 0ms);
    expect_bad_option([] { return exponential(-1ms, 1ms); });
    expect_bad_option([] { return exponential(2ms, 1ms); });
}

TEST(never, is_known_as_such) {
    EXPECT_FALSE(never()({.number = 1}));
    EXPECT_TRUE(core::is_never(never()));
    EXPECT_FALSE(core::is_never(fixed(1ms, 1)));
    EXPECT_FALSE(core::is_never({}));
    EXPECT_FALSE(core::is_never([](attempt const&) { return std::nullopt; }));
}

}  // namespace
}  // namespace holdfast::retry
