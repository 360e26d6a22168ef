// Scenes about servers whose clocks differ, and about another one that comes to stand in the place of one.
#include "simulation/stage.hpp"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

profile with_clocks() {
    auto plan = stage::quiet();
    plan.clock_changes = 1;
    return plan;
}

// What the server ahead of the old one grants would seem to begin later, and to last longer, by the reading
// of the old one's clock.
TEST(clocks, a_grant_that_is_pushed_by_an_unknown_clock_is_renewed_before_it_is_handed_out) {
    for (auto const ahead :
         {microseconds{5s}, microseconds{500ms}, microseconds{0s}, microseconds{-5s}}) {
        stage scene{1, with_clocks()};
        scene.store.change_clock({}, microseconds{1h});
        auto& holder = scene.actor({.lease = 3s, .order = ordering::fair});
        auto& waiter = scene.actor({.lease = 3s, .order = ordering::fair});
        scene.acquire(holder);
        scene.run_for(100ms);
        scene.acquire(waiter);
        scene.run_for(100ms);
        ASSERT_EQ(scene.seen.line("scene").size(), 1U);
        int renewals = 0;
        scene.home_of(waiter).net().on_request = [&](seam::request const& what) {
            if (is<seam::renew>(what)) ++renewals;
            return link::script{};
        };
        scene.store.change_clock({}, microseconds{1h} + ahead);
        scene.release(holder);
        scene.run_for(100ms);
        ASSERT_NE(waiter.hold(), nullptr) << ahead.count();
        EXPECT_EQ(renewals, 1) << ahead.count();
        // What it believes ends before the store's lease.
        scene.store.fall_silent(moment::max(), true);
        auto const hold = waiter.hold();
        scene.run_until(scene.store.when(scene.seen.hold(hold->claim)->expires) - 1ns);
        EXPECT_TRUE(hold->told);
        EXPECT_EQ(scene.state_of(waiter), lease_state::lost);
    }
}

TEST(clocks, a_hold_goes_on_over_a_change_of_the_clock) {
    for (auto const ahead : {microseconds{5s}, microseconds{-5s}, microseconds{-2h}}) {
        stage scene{1, with_clocks()};
        scene.store.change_clock({}, microseconds{3h});
        auto& holder = scene.actor({.lease = 3s});
        scene.acquire(holder);
        scene.run_for(500ms);
        scene.store.change_clock({}, microseconds{3h} + ahead);
        for (int i = 0; i < 20; ++i) {
            scene.run_for(500ms);
            ASSERT_EQ(scene.state_of(holder), lease_state::held) << ahead.count();
        }
        scene.store.change_clock({}, microseconds{3h});
        scene.release(holder);
        scene.run_for(1s);
        EXPECT_EQ(holder.last_outcome(), release_outcome::released) << ahead.count();
        EXPECT_EQ(scene.home_of(holder).engine()->counters().losses, 0U);
        EXPECT_EQ(scene.store.size(), 0U);
    }
}

// The server that is behind would carry out a submit by the old clock long after it was given up.
TEST(clocks, a_submit_by_the_old_clock_is_made_anew) {
    for (auto const ahead : {microseconds{1h}, microseconds{-1h}}) {
        stage scene{1, with_clocks()};
        scene.store.change_clock({}, microseconds{3h});
        auto& user = scene.actor({.lease = 3s});
        scene.acquire(user);
        scene.run_for(100ms);
        scene.release(user);
        scene.run_for(100ms);
        scene.store.change_clock({}, microseconds{3h} + ahead);
        int submits = 0;
        scene.home_of(user).net().on_request = [&](seam::request const& what) {
            if (is<seam::submit>(what)) ++submits;
            return link::script{};
        };
        scene.acquire(user);
        scene.run_for(100ms);
        EXPECT_NE(user.hold(), nullptr) << ahead.count();
        EXPECT_EQ(submits, 2) << "one by the old clock, which is not sent, and one by the new";
    }
}

// The tombstone that comes with the end of what was given up names a clock as well: it is not for another one.
TEST(clocks, a_settlement_is_made_anew_when_the_clock_has_changed) {
    stage scene{1, with_clocks()};
    scene.store.change_clock({}, microseconds{3h});
    auto& user = scene.actor({.lease = 3s});
    scene.acquire(user);
    scene.run_for(100ms);
    scene.release(user);
    scene.run_for(100ms);
    auto& net = scene.home_of(user).net();
    net.on_request = [](seam::request const& what) {
        return link::script{.delay_request = is<seam::submit>(what) ? moment{50ms} : moment{0}};
    };
    scene.acquire(user, true, 1s);
    scene.run_for(10ms);
    // The submit is lost with the old server, and its caller has left before it is told.
    scene.store.change_clock({}, microseconds{5h});
    scene.act(user, [](class user& who) { who.stop_waiting(); });
    scene.run_for(1s);
    EXPECT_TRUE(scene.home_of(user).engine()->idle());
    EXPECT_EQ(scene.store.size(), 0U);
}

// Until when a submit could take effect by the clock of before says nothing about the clock of now: the store
// would keep its tombstone for hours.
TEST(clocks, what_was_given_up_has_its_tombstone_by_the_clock_of_now) {
    auto plan = with_clocks();
    plan.silent_drop = 0;  // each failure is told
    stage scene{1, plan};
    scene.store.change_clock({}, microseconds{3h});
    auto& user = scene.actor({.lease = 3s});
    scene.acquire(user);
    scene.run_for(100ms);
    scene.release(user);
    scene.run_for(100ms);
    bool losing = true;
    scene.home_of(user).net().on_request = [&](seam::request const& what) {
        return link::script{.lose_request = losing && is<seam::submit>(what)};
    };
    scene.acquire(user, true, 2s);
    scene.run_for(100ms);
    scene.store.change_clock({}, microseconds{1h});
    scene.run_for(3s);
    EXPECT_EQ(user.last_verdict(), core::verdict::failed);
    losing = false;
    scene.run_for(10s);
    scene.acquire(user);
    scene.run_for(100ms);
    ASSERT_NE(user.hold(), nullptr);
    scene.release(user);
    scene.run_for(100ms);
    EXPECT_EQ(scene.store.size(), 0U);
}

}  // namespace
}  // namespace holdfast::simulation
