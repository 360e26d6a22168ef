#include "base/clock.hpp"

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

using namespace std::chrono_literals;

TEST(clock, goes_forward) {
    auto const boot = boot_clock::now();
    auto const watch = stopwatch();
    EXPECT_GE(boot_clock::now(), boot);
    EXPECT_GE(stopwatch(), watch);
    // Both count from the start of the machine; the first also counts its sleep.
    EXPECT_GE(boot_clock::now().time_since_epoch() + 1s, watch.time_since_epoch());
}

TEST(clock, a_sum_stays_at_never) {
    auto const now = boot_clock::now();
    EXPECT_EQ(after(now, 5s), now + 5s);
    EXPECT_EQ(after(now, std::chrono::nanoseconds::max()), never);
    EXPECT_EQ(after(now, std::chrono::milliseconds::max()), never);
    EXPECT_EQ(after(never, 1ms), never);
}

}  // namespace
}  // namespace holdfast::base
