// Descriptors that close themselves, and two kinds of things to poll.
#include "base/descriptor.hpp"

#include <utility>

#include <fcntl.h>
#include <poll.h>

#include <gtest/gtest.h>

#include "base/boot_timer.hpp"
#include "base/event.hpp"

namespace holdfast::base {
namespace {

using namespace std::chrono_literals;

bool is_open(int number) { return ::fcntl(number, F_GETFD) != -1; }

bool is_readable(int number, int milliseconds = 0) {
    pollfd source{number, POLLIN, 0};
    return ::poll(&source, 1, milliseconds) == 1;
}

int open_something() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

TEST(descriptor, is_closed_once) {
    int const number = open_something();
    {
        descriptor first{number};
        descriptor second{std::move(first)};
        EXPECT_FALSE(first);
        EXPECT_EQ(second.get(), number);
        EXPECT_TRUE(is_open(number));
    }
    EXPECT_FALSE(is_open(number));
}

TEST(descriptor, closes_what_it_had) {
    int const before = open_something();
    descriptor held{before};
    held = descriptor{open_something()};
    EXPECT_FALSE(is_open(before));
    int const released = held.release();
    EXPECT_FALSE(held);
    EXPECT_TRUE(is_open(released));
    descriptor{released}.reset();
    EXPECT_FALSE(is_open(released));
}

TEST(event, is_readable_from_set_to_clear) {
    event happened;
    EXPECT_FALSE(is_readable(happened.number()));
    happened.clear();
    happened.set();
    happened.set();
    EXPECT_TRUE(is_readable(happened.number()));
    happened.clear();
    EXPECT_FALSE(is_readable(happened.number()));
}

TEST(boot_timer, is_readable_from_its_time_on) {
    boot_timer timer;
    EXPECT_FALSE(is_readable(timer.number()));
    auto const begin = boot_clock::now();
    timer.arm(begin + 20ms);
    EXPECT_TRUE(is_readable(timer.number(), 10'000));
    EXPECT_GE(boot_clock::now(), begin + 20ms);
    timer.clear();
    EXPECT_FALSE(is_readable(timer.number()));
}

TEST(boot_timer, a_time_that_has_passed_is_now) {
    boot_timer timer;
    timer.arm(instant{});
    EXPECT_TRUE(is_readable(timer.number(), 10'000));
    timer.arm(instant{} - 1h);
    EXPECT_TRUE(is_readable(timer.number(), 10'000));
}

TEST(boot_timer, never_disarms) {
    boot_timer timer;
    timer.arm(instant{});
    ASSERT_TRUE(is_readable(timer.number(), 10'000));
    timer.arm(never);
    EXPECT_FALSE(is_readable(timer.number()));
    timer.arm(boot_clock::now() + 1h);
    EXPECT_FALSE(is_readable(timer.number()));
}

}  // namespace
}  // namespace holdfast::base
