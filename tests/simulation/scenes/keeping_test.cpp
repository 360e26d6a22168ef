// Scenes about keeping a hold: for long, against failures, and to its end.
#include "simulation/stage.hpp"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;

TEST(keeping, an_hour_with_a_lease_of_three_seconds) {
    stage scene;
    auto& holder = scene.actor({.lease = 3s});
    scene.acquire(holder);
    scene.run_for(1s);
    ASSERT_NE(holder.hold(), nullptr);
    auto const token = holder.hold()->grant->token();
    for (int minute = 0; minute < 60 && !scene.failed(); ++minute) {
        scene.run_for(1min);
        ASSERT_EQ(scene.state_of(holder), lease_state::held);
    }
    EXPECT_EQ(holder.hold()->grant->token(), token);
    auto const& counters = scene.home_of(holder).engine()->counters();
    EXPECT_EQ(counters.losses, 0U);
    EXPECT_EQ(counters.doubts, 0U);
    EXPECT_LT(counters.renewals, 3'600U * 2) << "renewed more often than it needs";
    scene.release(holder);
    scene.run_for(1s);
    EXPECT_EQ(holder.last_outcome(), release_outcome::released);
    EXPECT_EQ(scene.store.size(), 0U);
}

TEST(keeping, renewals_that_fail_nine_times_in_ten_lose_nothing) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        auto plan = stage::quiet();
        plan.silent_drop = 0;  // each failure is told
        stage scene{seed, plan};
        auto& holder = scene.actor({.lease = 3s});
        int renewals = 0;
        scene.home_of(holder).net().on_request = [&](seam::request const& what) {
            bool const fails = is<seam::renew>(what) && ++renewals % 10 != 0;
            return link::script{.lose_request = fails};
        };
        scene.acquire(holder);
        bool doubted = false;
        for (int second = 0; second < 300 && !scene.failed(); ++second) {
            scene.run_for(1s);
            auto const state = scene.state_of(holder);
            ASSERT_TRUE(state == lease_state::held || state == lease_state::in_doubt);
            doubted = doubted || state == lease_state::in_doubt;
        }
        EXPECT_TRUE(doubted);
        EXPECT_GT(renewals, 100);
        EXPECT_EQ(scene.home_of(holder).engine()->counters().losses, 0U);
    }
}

TEST(keeping, a_silent_store_is_lost_before_its_lease_ends) {
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        base::random draws{seed};
        auto plan = stage::quiet();
        plan.latency_max = std::chrono::microseconds{100 + draws.below(20'000)};
        plan.timer_lateness = 1ms;
        stage scene{seed, plan};
        auto& holder =
            scene.actor({.lease = 200ms + std::chrono::milliseconds{draws.below(5'000)}});
        scene.acquire(holder);
        scene.run_for(std::chrono::milliseconds{100 + draws.below(20'000)});
        ASSERT_NE(holder.hold(), nullptr);
        auto const hold = holder.hold();
        scene.store.fall_silent(moment::max(), true);
        auto const* const at_store = scene.seen.hold(hold->claim);
        ASSERT_NE(at_store, nullptr);
        auto const end = scene.store.when(at_store->expires);
        scene.run_until(end - 1ns);
        EXPECT_TRUE(hold->told) << "seed " << seed;
        EXPECT_EQ(scene.state_of(holder), lease_state::lost) << "seed " << seed;
        auto const early = end - moment{at_store->lease};
        EXPECT_GT(scene.time.now(), early);
    }
}

TEST(keeping, doubt_comes_before_loss_and_ends_with_an_answer) {
    stage scene;
    auto& holder = scene.actor({.lease = 3s});
    scene.acquire(holder);
    scene.run_for(500ms);
    scene.store.fall_silent(scene.time.now() + 1'500ms, true);
    scene.run_for(1'400ms);
    EXPECT_EQ(scene.state_of(holder), lease_state::in_doubt);
    scene.run_for(1'500ms);
    EXPECT_EQ(scene.state_of(holder), lease_state::held);
    EXPECT_EQ(scene.home_of(holder).engine()->counters().losses, 0U);
}

TEST(keeping, a_stopped_client_says_lost_as_soon_as_it_looks) {
    stage scene;
    auto& holder = scene.actor({.lease = 3s});
    auto& other = scene.actor({.lease = 3s});
    scene.acquire(holder);
    scene.run_for(100ms);
    scene.acquire(other);
    scene.home_of(holder).pause(scene.time.now() + 10s);
    scene.run_for(6s);
    EXPECT_NE(other.hold(), nullptr);
    EXPECT_EQ(scene.state_of(holder), lease_state::lost);
    auto const old = holder.hold()->grant->token();
    EXPECT_LT(old, other.hold()->grant->token());
    scene.run_for(5s);
    EXPECT_TRUE(holder.hold()->told);
    scene.release(holder);
    EXPECT_EQ(holder.last_outcome(), release_outcome::already_lost);
    scene.run_for(1s);
    EXPECT_EQ(scene.state_of(other), lease_state::held) << "a late release took it from another";
}

TEST(keeping, waiters_that_lose_patience_leave_the_holder_alone) {
    auto plan = stage::quiet();
    plan.patience = 1s;
    stage scene{1, plan};
    auto& home = scene.add_client();
    auto& holder = scene.actor(home, {.lease = 30s});
    auto& waiter = scene.actor(home, {.lease = 30s});
    scene.acquire(holder);
    scene.run_for(9s);
    scene.acquire(waiter);
    scene.store.fall_silent(scene.time.now() + 8s, false);
    scene.run_for(9s);
    EXPECT_EQ(waiter.last_verdict(), core::verdict::failed);
    scene.run_for(20s);
    EXPECT_EQ(scene.state_of(holder), lease_state::held);
    EXPECT_EQ(scene.holders(), 1U);
}

}  // namespace
}  // namespace holdfast::simulation
