// Scenes about messages that are late, lost or doubled.
#include "simulation/stage.hpp"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;

// The hand-over to a stalled socket: the store grants, and the grantee hears of it when its lease is
// nearly over. With its renewals lost as well it has nothing but the late notice.
TEST(messages, a_grant_that_is_told_late_yields_no_overlap) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        stage scene{seed};
        auto& first = scene.actor({.lease = 3s, .order = ordering::fair});
        auto& late = scene.actor({.lease = 3s, .order = ordering::fair});
        auto& next = scene.actor({.lease = 3s, .order = ordering::fair});
        bool deaf = false;
        auto& net = scene.home_of(late).net();
        net.on_notice = [](seam::notice const& what) {
            return std::holds_alternative<seam::claim_granted>(what) ? moment{2'500ms} : moment{0};
        };
        net.on_request = [&](seam::request const& what) {
            return link::script{.lose_request = deaf && is<seam::renew>(what) && seed % 2 == 0};
        };
        scene.acquire(first);
        scene.run_for(100ms);
        scene.acquire(late);
        scene.run_for(100ms);
        scene.acquire(next);
        scene.run_for(100ms);
        deaf = true;
        scene.release(first);
        scene.run_for(2'490ms);
        deaf = seed % 4 == 0;
        scene.run_for(10s);
        // Whoever has it now, the checkers have seen every moment before.
        EXPECT_TRUE(late.hold() != nullptr || next.hold() != nullptr) << "seed " << seed;
        if (scene.failed()) break;
    }
}

TEST(messages, a_submit_that_comes_after_it_was_given_up_takes_nothing) {
    stage scene;
    auto& slow = scene.actor({.lease = 3s});
    scene.acquire(slow);
    scene.run_for(100ms);
    scene.release(slow);
    scene.run_for(100ms);
    scene.home_of(slow).net().on_request = [](seam::request const& what) {
        return link::script{.lose_request = is<seam::settle>(what),
                            .delay_request = is<seam::submit>(what) ? moment{5s} : moment{0}};
    };
    auto const before = slow.holds();
    scene.acquire(slow, true, 1s);
    scene.run_for(1'100ms);
    EXPECT_EQ(slow.last_verdict(), core::verdict::failed);
    EXPECT_TRUE(slow.last_error().is(errc::store_unavailable));
    for (int i = 0; i < 100; ++i) {
        scene.run_for(100ms);
        ASSERT_EQ(scene.holders(), 0U) << "a submit of the past has taken the name";
    }
    EXPECT_EQ(slow.holds(), before);
}

TEST(messages, an_acquire_whose_reply_is_lost_is_neither_held_twice_nor_leaked) {
    for (bool const told : {true, false}) {
        auto plan = stage::quiet();
        plan.silent_drop = told ? 0 : 10'000;
        stage scene{7, plan};
        auto& one = scene.actor({.lease = 3s});
        int submits = 0;
        scene.home_of(one).net().on_request = [&](seam::request const& what) {
            return link::script{.lose_reply = is<seam::submit>(what) && ++submits == 1};
        };
        scene.acquire(one);
        scene.run_for(8s);
        ASSERT_NE(one.hold(), nullptr);
        EXPECT_EQ(one.holds(), 1U);
        EXPECT_EQ(scene.holders(), 1U);
        EXPECT_GE(submits, 2);
        scene.release(one);
        scene.run_for(100ms);
        EXPECT_EQ(one.last_outcome(), release_outcome::released);
        EXPECT_EQ(scene.holders(), 0U);
        EXPECT_TRUE(scene.home_of(one).engine()->idle());
    }
}

TEST(messages, a_release_whose_reply_is_lost_is_sent_again) {
    stage scene;
    auto& one = scene.actor({.lease = 3s});
    int settles = 0;
    scene.home_of(one).net().on_request = [&](seam::request const& what) {
        return link::script{.lose_reply = is<seam::settle>(what) && ++settles == 1};
    };
    scene.acquire(one);
    scene.run_for(100ms);
    scene.release(one);
    scene.run_for(8s);
    EXPECT_GE(settles, 2);
    EXPECT_NE(one.last_outcome(), release_outcome::already_lost);
    EXPECT_TRUE(scene.home_of(one).engine()->idle());
}

TEST(messages, a_release_by_a_stranger_does_nothing_and_says_so) {
    stage scene;
    auto& holder = scene.actor({.lease = 3s});
    scene.acquire(holder);
    scene.run_for(100ms);
    auto const spec = holder.its_habit().terms->spec;
    seam::settle forged;
    forged.subject = {spec, {seam::client_id{4711}, holder.hold()->claim.number}};
    std::optional<seam::ending> said;
    scene.store.receive(std::make_shared<seam::identity const>(), forged, [&](seam::reply answer) {
        said = std::get<seam::settled>(answer.body).how;
    });
    EXPECT_EQ(said, seam::ending::gone);
    EXPECT_EQ(scene.holders(), 1U);
    scene.run_for(10s);
    EXPECT_EQ(scene.state_of(holder), lease_state::held);
}

// The store carries out a copy of the submit after the hold was evicted: the claim is held again, but
// others may have been between, and the token of the user is of the past.
TEST(messages, a_hold_that_ended_and_was_granted_anew_is_lost) {
    stage scene;
    auto& one = scene.actor({.lease = 3s});
    seam::request copy;
    scene.home_of(one).net().on_request = [&](seam::request const& what) {
        if (is<seam::submit>(what)) copy = what;
        return link::script{};
    };
    scene.acquire(one);
    scene.run_for(100ms);
    ASSERT_NE(one.hold(), nullptr);
    auto const nobody = std::make_shared<seam::identity const>();
    auto const ignore = [](seam::reply const&) {};
    scene.home_of(one).net().on_notice = [](seam::notice const&) { return moment::max(); };
    scene.store.receive(nobody, seam::evict{.name = "scene"}, ignore);
    scene.store.receive(scene.home_of(one).self(), copy, ignore);
    EXPECT_EQ(scene.holders(), 1U);
    scene.run_for(1'500ms);
    EXPECT_EQ(scene.state_of(one), lease_state::lost);
    EXPECT_TRUE(one.hold()->told);
    scene.release(one);
    scene.run_for(100ms);
    EXPECT_EQ(scene.holders(), 0U);
}

// A waiter's sign of life crosses its grant. The grant is so late that it has to be confirmed, and the
// first confirmation is lost.
TEST(messages, an_answer_from_before_the_grant_does_not_stop_its_confirmation) {
    for (bool const renewed : {true, false}) {
        stage scene;
        auto& first = scene.actor({.lease = 3s, .order = ordering::fair});
        auto& late = scene.actor({.lease = 3s, .renew = renewed, .order = ordering::fair});
        int renewals = 0;
        auto& net = scene.home_of(late).net();
        net.on_notice = [](seam::notice const&) { return moment{1'600ms}; };
        net.on_request = [&](seam::request const& what) {
            if (!is<seam::renew>(what)) return link::script{};
            ++renewals;
            return link::script{.lose_request = renewals > 1 && renewals < 5,
                                .delay_reply = renewals == 1 ? moment{1'700ms} : moment{0}};
        };
        scene.acquire(first);
        scene.run_for(50ms);
        scene.acquire(late);
        scene.run_for(950ms);
        scene.release(first);
        scene.run_for(20s);
        EXPECT_NE(late.last_verdict(), std::nullopt) << "it waits for ever";
        EXPECT_TRUE(late.hold() != nullptr || late.last_verdict() == core::verdict::failed);
    }
}

TEST(messages, a_stop_request_leaves_no_claim) {
    stage scene;
    auto& holder = scene.actor({.lease = 3s});
    auto& waiter = scene.actor({.lease = 3s});
    scene.acquire(holder);
    scene.run_for(100ms);
    auto const stop = [](user& who) { who.stop_waiting(); };
    // In the store's line, and with the submit still under way.
    for (auto const wait : {moment{100ms}, moment{10us}}) {
        scene.acquire(waiter);
        scene.run_for(wait);
        auto const before = scene.time.now();
        scene.act(waiter, stop);
        EXPECT_EQ(waiter.last_verdict(), core::verdict::stopped);
        EXPECT_EQ(scene.time.now(), before) << "it ends at once, whatever the store does";
        scene.run_for(10ms);
        EXPECT_TRUE(scene.home_of(waiter).engine()->idle());
        EXPECT_TRUE(scene.seen.line("scene").empty());
    }
    scene.release(holder);
    scene.run_for(10s);
    EXPECT_EQ(scene.holders(), 0U);
}

}  // namespace
}  // namespace holdfast::simulation
