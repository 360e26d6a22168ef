// What the holder sees: states by the clock, and a loss that is announced once and never after a release.
#include "core/hold_state.hpp"

#include <gtest/gtest.h>

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

base::instant const start{100h};

hold_state make() {
    return {std::make_shared<terms const>(make_terms({.name = "n"}, {})), 256, start, start + 1s};
}

TEST(grant, past_its_time_it_is_lost_whatever_was_said) {
    auto held = make();
    EXPECT_EQ(held.state(start), lease_state::held);
    EXPECT_EQ(held.state(start + 1s - 1ns), lease_state::held);
    EXPECT_EQ(held.state(start + 1s), lease_state::lost);
    held.extend(start + 2s, true);
    EXPECT_EQ(held.state(start + 1s), lease_state::in_doubt);
    held.extend(start + 3s, false);
    EXPECT_EQ(held.state(start + 2s), lease_state::held);
}

TEST(grant, a_loss_is_told_to_those_who_watch) {
    auto held = make();
    auto const token = held.lost();
    EXPECT_FALSE(token.stop_requested());
    EXPECT_TRUE(held.lose("why"));
    EXPECT_FALSE(held.lose("again"));
    held.announce_loss();
    EXPECT_TRUE(token.stop_requested());
    held.extend(start + 9s, false);
    EXPECT_EQ(held.state(start), lease_state::lost) << "what is lost stays lost";
}

TEST(grant, who_asks_after_the_loss_learns_it_at_once) {
    auto held = make();
    held.lose("why");
    held.announce_loss();
    EXPECT_TRUE(held.lost().stop_requested());
}

TEST(grant, nothing_is_announced_after_a_release) {
    auto held = make();
    auto const token = held.lost();
    EXPECT_TRUE(held.release(start + 500ms));
    EXPECT_EQ(held.state(start + 500ms), lease_state::released);
    EXPECT_FALSE(held.lose("late"));
    held.announce_loss();
    EXPECT_FALSE(token.stop_requested());
    EXPECT_FALSE(held.lost().stop_requested());
}

TEST(grant, a_release_after_its_time_says_so) {
    auto held = make();
    EXPECT_FALSE(held.release(start + 1s));
    EXPECT_EQ(held.state(start), lease_state::lost);
}

}  // namespace
}  // namespace holdfast::core
