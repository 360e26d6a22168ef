// Each option of a lock does what it says, at the engine and the store.
#include "simulation/stage.hpp"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;

std::vector<moment> renewals_of(stage& scene, user& who, moment span) {
    std::vector<moment> out;
    scene.home_of(who).net().on_request = [&](seam::request const& what) {
        if (is<seam::renew>(what)) out.push_back(scene.time.now());
        return link::script{};
    };
    scene.run_for(span);
    scene.home_of(who).net().on_request = {};
    return out;
}

TEST(options, lease_is_how_long_a_dead_holder_is_in_the_way) {
    for (auto const lease : {100ms, 3'000ms}) {
        stage scene;
        auto& dead = scene.actor({.lease = lease});
        auto& heir = scene.actor({.lease = 10s});
        scene.acquire(dead);
        scene.run_for(10ms);
        scene.home_of(dead).kill();
        auto const* const at_store = scene.seen.holders("scene", scene.store.now()).front();
        auto const end = scene.store.when(at_store->expires);
        scene.acquire(heir);
        scene.run_until(end - 1ns);
        EXPECT_EQ(heir.hold(), nullptr);
        scene.run_for(50ms);
        EXPECT_NE(heir.hold(), nullptr) << "the line moves soon after the lease";
    }
}

TEST(options, without_renew_a_hold_ends_with_its_lease_unless_renewed_on_demand) {
    stage scene;
    auto& one = scene.actor({.lease = 1s, .renew = false});
    scene.acquire(one);
    scene.run_for(800ms);
    EXPECT_EQ(scene.state_of(one), lease_state::held);
    scene.act(one, [](user& who) { who.renew({}); });
    scene.run_for(800ms);
    EXPECT_EQ(scene.state_of(one), lease_state::held);
    scene.run_for(400ms);
    EXPECT_EQ(scene.state_of(one), lease_state::lost);
    EXPECT_TRUE(one.hold()->told);
}

TEST(options, without_renew_one_failed_renewal_on_demand_does_not_renew_for_ever) {
    stage scene;
    auto& one = scene.actor({.lease = 1s, .renew = false});
    scene.acquire(one);
    scene.run_for(500ms);
    bool lost_one = false;
    scene.home_of(one).net().on_request = [&](seam::request const& what) {
        bool const lose = is<seam::renew>(what) && !lost_one;
        lost_one = lost_one || lose;
        return link::script{.lose_request = lose};
    };
    scene.act(one, [](user& who) { who.renew({}); });
    scene.run_for(3s);
    EXPECT_EQ(scene.state_of(one), lease_state::lost);
}

TEST(options, renew_every_is_a_third_of_the_lease_unless_given) {
    stage scene;
    auto& usual = scene.actor({.lease = 3s}, {.name = "usual"});
    auto& often = scene.actor({.lease = 3s, .renew_every = 300ms}, {.name = "often"});
    scene.acquire(usual);
    scene.acquire(often);
    scene.run_for(100ms);
    auto const few = renewals_of(scene, usual, 30s).size();
    auto const many = renewals_of(scene, often, 30s).size();
    EXPECT_GE(few, 29U);
    EXPECT_LE(few, 36U);
    EXPECT_GE(many, 98U);
    EXPECT_LE(many, 120U);
}

TEST(options, max_hold_is_lost_and_released_at_the_store) {
    stage scene;
    auto& one = scene.actor({.lease = 3s, .max_hold = 2s});
    scene.acquire(one);
    scene.run_for(1'950ms);
    EXPECT_EQ(scene.state_of(one), lease_state::held);
    scene.run_for(100ms);
    EXPECT_EQ(scene.state_of(one), lease_state::lost);
    EXPECT_TRUE(one.hold()->told);
    EXPECT_EQ(scene.holders(), 0U) << "not only at the end of the lease";
    scene.release(one);
    EXPECT_EQ(one.last_outcome(), release_outcome::already_lost);
}

TEST(options, min_hold_keeps_the_name_taken_after_an_early_release) {
    stage scene;
    auto& first = scene.actor({.lease = 30s, .min_hold = 2s});
    auto& next = scene.actor({.lease = 30s});
    scene.acquire(first);
    scene.run_for(100ms);
    scene.acquire(next);
    scene.run_for(400ms);
    scene.release(first);
    scene.run_for(100ms);
    EXPECT_EQ(first.last_outcome(), release_outcome::released);
    scene.run_for(1'300ms);
    EXPECT_EQ(next.hold(), nullptr);
    scene.run_for(200ms);
    EXPECT_NE(next.hold(), nullptr) << "the waiter must not sleep much longer than that";
}

TEST(options, grace_tells_of_the_loss_that_much_earlier) {
    auto const told_after = [](std::chrono::milliseconds grace) {
        stage scene;
        auto& one = scene.actor({.lease = 3s, .grace = grace});
        scene.acquire(one);
        scene.run_for(500ms);
        scene.store.fall_silent(moment::max(), true);
        auto const from = scene.time.now();
        while (!one.hold()->told && scene.time.now() < from + 4s)
            scene.run_for(1ms);
        EXPECT_EQ(scene.holders(), 1U) << "its claim stays while the user winds up";
        return scene.time.now() - from;
    };
    auto const difference = told_after(0ms) - told_after(1s);
    EXPECT_NEAR(static_cast<double>(difference.count()) / 1e9, 1.0, 0.02);
}

TEST(options, fair_is_first_come_first_served_and_barging_is_not_in_its_way) {
    stage scene;
    auto& holder = scene.actor({.lease = 3s});
    std::vector<user*> waiters;
    scene.acquire(holder);
    scene.run_for(50ms);
    for (int i = 0; i < 8; ++i) {
        waiters.push_back(
            &scene.actor({.lease = 3s, .order = i == 3 ? ordering::barging : ordering::fair}));
        scene.acquire(*waiters.back());
        scene.run_for(20ms);
    }
    scene.release(holder);
    for (auto* const next : waiters) {
        scene.run_for(20ms);
        ASSERT_NE(next->hold(), nullptr);
        EXPECT_EQ(scene.holds().size(), 1U);
        scene.release(*next);
    }
}

TEST(options, retry_never_makes_one_attempt_and_does_not_queue) {
    stage scene;
    auto& holder = scene.actor({.lease = 3s});
    auto& hasty = scene.actor({.lease = 3s, .retry = retry::never()});
    scene.acquire(holder);
    scene.run_for(50ms);
    scene.acquire(hasty);
    scene.run_for(50ms);
    EXPECT_EQ(hasty.last_verdict(), core::verdict::busy);
    EXPECT_TRUE(scene.seen.line("scene").empty());
}

TEST(options, retry_ends_after_its_attempts_and_asks_with_their_number) {
    stage scene;
    auto& holder = scene.actor({.lease = 3s});
    std::vector<retry::attempt> asked;
    auto& patient =
        scene.actor({.lease = 3s, .retry = [&](retry::attempt const& attempt) {
                         asked.push_back(attempt);
                         return attempt.number < 4 ? std::optional{100ms} : std::nullopt;
                     }});
    scene.acquire(holder);
    scene.run_for(50ms);
    scene.acquire(patient);
    scene.run_for(2s);
    EXPECT_EQ(patient.last_verdict(), core::verdict::busy);
    ASSERT_EQ(asked.size(), 4U);
    for (int i = 0; i < 4; ++i)
        EXPECT_EQ(asked[static_cast<std::size_t>(i)].number, i + 1);
    EXPECT_FALSE(asked.back().last_error);
    EXPECT_GE(asked.back().spent, 300ms);
    EXPECT_TRUE(scene.home_of(patient).engine()->idle());
}

TEST(options, local_passes_bound_how_long_others_wait) {
    for (int const most : {0, 3}) {
        stage scene;
        auto& home = scene.add_client();
        lock_options const options{.lease = 10s, .local_passes = most};
        std::vector<user*> family;
        for (int i = 0; i < 8; ++i)
            family.push_back(&scene.actor(home, options));
        auto& stranger = scene.actor({.lease = 10s});
        for (auto* const each : family)
            scene.acquire(*each);
        scene.run_for(20ms);
        scene.acquire(stranger);
        scene.run_for(20ms);
        int passed = 0;
        while (stranger.hold() == nullptr && passed < 8) {
            for (auto* const each : family)
                if (each->hold() != nullptr) {
                    scene.release(*each);
                    ++passed;
                    break;
                }
            scene.run_for(10ms);
        }
        EXPECT_NE(stranger.hold(), nullptr);
        EXPECT_EQ(passed, most + 1);
    }
}

TEST(options, label_and_owner_reach_the_store_and_one_owner_is_one_hold) {
    stage scene;
    seam::claim_spec const spec{.name = "scene", .joins = true};
    auto& one = scene.actor({.lease = 3s, .label = "nightly", .owner = "job"}, spec);
    auto& two = scene.actor({.lease = 3s, .owner = "job"}, spec);
    auto& other = scene.actor({.lease = 3s, .owner = "another"}, spec);
    scene.acquire(one);
    scene.run_for(20ms);
    scene.acquire(two);
    scene.acquire(other);
    scene.run_for(20ms);
    ASSERT_NE(two.hold(), nullptr);
    EXPECT_EQ(one.hold()->grant->token(), two.hold()->grant->token());
    EXPECT_EQ(other.hold(), nullptr);
    std::vector<seam::listed> listed;
    scene.store.receive(
        std::make_shared<seam::identity const>(), seam::inspect{.prefix = ""},
        [&](seam::reply answer) { listed = std::get<seam::page>(answer.body).names; });
    ASSERT_EQ(listed.size(), 1U);
    ASSERT_EQ(listed[0].holders.size(), 2U);
    EXPECT_EQ(listed[0].holders[0].owner, "job");
    EXPECT_EQ(listed[0].holders[0].label, "nightly");
    EXPECT_EQ(listed[0].waiters.size(), 1U);
    scene.release(one);
    scene.run_for(20ms);
    EXPECT_EQ(other.hold(), nullptr) << "freed when both are gone";
    scene.release(two);
    scene.run_for(20ms);
    EXPECT_NE(other.hold(), nullptr);
}

}  // namespace
}  // namespace holdfast::simulation
