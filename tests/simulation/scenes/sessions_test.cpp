// Scenes about a store whose claims end with their client's session: doubt about it, and its end.
#include "simulation/stage.hpp"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;
using state = seam::session_changed::state;

class session_stage : public stage {
public:
    explicit session_stage(std::chrono::milliseconds given = 3s) : stage{1, sessions_of(given)} {}

    static profile sessions_of(std::chrono::milliseconds given) {
        auto plan = quiet();
        plan.session = true;
        plan.session_least = plan.session_most = given;
        return plan;
    }

    /// The driver tells the user's client, now.
    void tell(user& who, state became, std::vector<seam::claim_id> claims) {
        auto& home = home_of(who);
        home.at(time.now(), [&home, became, claims] {
            home.hear(seam::session_changed{became, "as the scene wants", claims});
        });
        run_for(moment{0});
    }
    /// The store ends the session of a claim.
    void end_session_of(seam::claim_id id) { store.with_sessions()->end_of(id); }

    /// One who holds, and one behind it in the line.
    void queue_up(user& first, user& second) {
        acquire(first);
        run_for(100ms);
        acquire(second);
        run_for(100ms);
        ASSERT_NE(first.hold(), nullptr);
        ASSERT_EQ(seen.line("scene").size(), 1U);
    }
    std::uint64_t losses(user& who) { return home_of(who).engine()->counters().losses; }
};

/// What was last submitted through this connection.
struct submitted {
    seam::claim_id last{};
    int count{0};
    moment delay{0};

    link::script operator()(seam::request const& what) {
        auto const* const submit = std::get_if<seam::submit>(&what);
        if (submit == nullptr) return {};
        last = submit->subject.id;
        ++count;
        return {.delay_reply = delay};
    }
};

// --- leases ------------------------------------------------------------------------------------

TEST(sessions, a_hold_is_believed_for_the_lease_that_was_given_not_the_one_asked_for) {
    session_stage scene{1s};
    auto& holder = scene.actor({.lease = 20s});
    scene.acquire(holder);
    scene.run_for(5s);
    ASSERT_EQ(scene.state_of(holder), lease_state::held) << "renewed too seldom";
    scene.store.fall_silent(moment::max(), true);
    auto const hold = holder.hold();
    scene.run_until(scene.store.when(scene.seen.hold(hold->claim)->expires) - 1ns);
    EXPECT_TRUE(hold->told);
    EXPECT_EQ(scene.state_of(holder), lease_state::lost);
}

// The session lives on: nobody but the client can end what it holds.
TEST(sessions, a_hold_without_renewal_is_ended_at_the_store_when_its_lease_is_over) {
    session_stage scene{30s};
    auto& holder = scene.actor({.lease = 1s, .renew = false});
    auto& other = scene.actor({.lease = 1s});
    scene.queue_up(holder, other);
    scene.run_for(2s);
    EXPECT_EQ(scene.state_of(holder), lease_state::lost);
    EXPECT_NE(other.hold(), nullptr) << "the name stays taken";
}

TEST(sessions, a_release_that_is_not_answered_is_repeated_as_long_as_the_session_lives) {
    session_stage scene{2s};
    auto& holder = scene.actor({.lease = 2s});
    scene.acquire(holder);
    scene.run_for(100ms);
    int settles = 0;
    scene.home_of(holder).net().on_request = [&](seam::request const& what) {
        return link::script{.lose_request = is<seam::settle>(what) && ++settles < 12};
    };
    scene.release(holder, false);
    scene.run_for(60s);
    EXPECT_GE(settles, 12);
    EXPECT_EQ(scene.holders(), 0U);
    EXPECT_TRUE(scene.home_of(holder).engine()->idle());
}

// It would be lost as soon as it is granted, again and again.
TEST(sessions, a_grace_that_uses_up_the_lease_that_was_given_is_an_error) {
    session_stage scene{1s};
    auto& user = scene.actor({.lease = 20s, .grace = 5s});
    scene.acquire(user);
    scene.run_for(5s);
    EXPECT_EQ(user.last_verdict(), core::verdict::failed);
    EXPECT_TRUE(user.last_error().is(errc::bad_option));
    EXPECT_EQ(scene.holders(), 0U) << "and nothing of it stays";
    EXPECT_TRUE(scene.home_of(user).engine()->idle());
}

// --- doubt -------------------------------------------------------------------------------------

TEST(doubt_of_a_session, while_submitting_changes_nothing) {
    session_stage scene;
    auto& user = scene.actor();
    submitted seen{.delay = 200ms};
    scene.home_of(user).net().on_request = std::ref(seen);
    scene.acquire(user);
    scene.run_for(100ms);
    scene.tell(user, state::in_doubt, {seen.last});
    EXPECT_EQ(user.hold(), nullptr);
    scene.run_for(200ms);
    EXPECT_EQ(scene.state_of(user), lease_state::held);
    EXPECT_EQ(seen.count, 1);
}

TEST(doubt_of_a_session, while_waiting_ends_with_an_answer) {
    session_stage scene;
    auto& holder = scene.actor({.lease = 3s, .order = ordering::fair});
    auto& waiter = scene.actor({.lease = 3s, .order = ordering::fair});
    scene.queue_up(holder, waiter);
    auto const id = scene.seen.line("scene").front().id;
    scene.tell(waiter, state::in_doubt, {id});
    scene.run_for(500ms);
    scene.tell(waiter, state::restored, {id});
    scene.run_for(15s);  // longer than its patience with a silent store
    EXPECT_EQ(waiter.last_verdict(), std::nullopt);
    EXPECT_EQ(scene.seen.line("scene").front().id, id) << "it has lost its place";
    scene.release(holder);
    scene.run_for(100ms);
    EXPECT_NE(waiter.hold(), nullptr);
}

TEST(doubt_of_a_session, while_waiting_makes_the_silence_count) {
    session_stage scene;
    scene.plan.patience = 1s;
    auto& holder = scene.actor({.lease = 60s, .order = ordering::fair});
    auto& waiter = scene.actor({.lease = 60s, .order = ordering::fair});
    scene.queue_up(holder, waiter);
    scene.store.fall_silent(moment::max(), true);
    scene.tell(waiter, state::in_doubt, {scene.seen.line("scene").front().id});
    scene.run_for(1'100ms);
    EXPECT_EQ(waiter.last_verdict(), core::verdict::failed);
}

// The grant came so late that it must be confirmed, and the confirmation takes its time.
struct late_grant {
    seam::claim_id id{};
    moment confirmation{400ms};

    void hold_up(session_stage& scene, user& late) {
        auto& net = scene.home_of(late).net();
        net.on_notice = [this](seam::notice const& what) {
            auto const* const granted = std::get_if<seam::claim_granted>(&what);
            if (granted != nullptr) id = granted->id;
            return granted != nullptr ? moment{1'900ms} : moment{0};
        };
        net.on_request = [this](seam::request const& what) {
            // Its signs of life would tell it of the grant before the notice does.
            bool const before = is<seam::renew>(what) && id == seam::claim_id{};
            bool const confirms = is<seam::renew>(what) && !before;
            return link::script{.lose_request = confirms && quiet,
                                .delay_reply = confirms ? confirmation : moment{0}};
        };
    }
    bool quiet{true};
};

TEST(doubt_of_a_session, while_confirming_ends_with_the_confirmation) {
    session_stage scene;
    auto& holder = scene.actor({.lease = 3s, .order = ordering::fair});
    auto& waiter = scene.actor({.lease = 3s, .order = ordering::fair});
    late_grant late;
    late.hold_up(scene, waiter);
    scene.queue_up(holder, waiter);
    scene.release(holder);
    scene.run_for(1'850ms);
    late.quiet = false;
    scene.run_for(150ms);  // the notice is there
    ASSERT_EQ(waiter.hold(), nullptr);
    scene.tell(waiter, state::in_doubt, {late.id});
    EXPECT_EQ(waiter.hold(), nullptr);
    scene.run_for(1s);
    ASSERT_NE(waiter.hold(), nullptr);
    EXPECT_EQ(scene.state_of(waiter), lease_state::held);
    EXPECT_EQ(waiter.hold()->claim, late.id);
}

TEST(doubt_of_a_session, while_held_leaves_the_deadline_and_ends_with_an_answer) {
    session_stage scene;
    auto& holder = scene.actor({.lease = 3s});
    scene.acquire(holder);
    scene.run_for(100ms);
    scene.tell(holder, state::in_doubt, {holder.hold()->claim});
    EXPECT_EQ(scene.state_of(holder), lease_state::in_doubt);
    scene.tell(holder, state::restored, {holder.hold()->claim});
    scene.run_for(10ms);
    EXPECT_EQ(scene.state_of(holder), lease_state::held);
    // And without an answer: not before its time, and no later.
    scene.store.fall_silent(moment::max(), true);
    scene.tell(holder, state::in_doubt, {holder.hold()->claim});
    scene.run_for(2s);
    EXPECT_EQ(scene.state_of(holder), lease_state::in_doubt);
    scene.run_for(1s);
    EXPECT_EQ(scene.state_of(holder), lease_state::lost);
}

TEST(doubt_of_a_session, of_others_leaves_a_hold_alone) {
    session_stage scene;
    auto& holder = scene.actor({.lease = 3s});
    scene.acquire(holder);
    scene.run_for(100ms);
    auto other = holder.hold()->claim;
    ++other.number;
    for (auto const became : {state::in_doubt, state::lost}) {
        scene.tell(holder, became, {other});
        EXPECT_EQ(scene.state_of(holder), lease_state::held);
    }
}

TEST(doubt_of_a_session, while_ending_changes_nothing) {
    session_stage scene;
    auto& holder = scene.actor({.lease = 3s});
    scene.home_of(holder).net().on_request = [](seam::request const& what) {
        return link::script{.delay_reply = is<seam::settle>(what) ? moment{200ms} : moment{0}};
    };
    scene.acquire(holder);
    scene.run_for(100ms);
    auto const id = holder.hold()->claim;
    scene.release(holder);
    scene.tell(holder, state::in_doubt, {id});
    scene.run_for(1s);
    EXPECT_EQ(holder.last_outcome(), release_outcome::released);
    EXPECT_TRUE(scene.home_of(holder).engine()->idle());
}

TEST(doubt_of_a_session, comes_with_a_cut_connection_and_goes_when_it_is_back) {
    session_stage scene;
    auto& holder = scene.actor({.lease = 3s});
    scene.acquire(holder);
    scene.run_for(100ms);
    auto& net = scene.home_of(holder).net();
    net.part(scene.time.now() + 300ms, false);
    net.cut();
    scene.run_for(100ms);
    EXPECT_EQ(scene.state_of(holder), lease_state::in_doubt);
    scene.run_for(300ms);
    EXPECT_EQ(scene.state_of(holder), lease_state::held);
    EXPECT_EQ(scene.losses(holder), 0U);
}

// --- loss --------------------------------------------------------------------------------------

TEST(loss_of_a_session, while_submitting_submits_again_in_the_next_one) {
    session_stage scene;
    auto& user = scene.actor();
    submitted seen{.delay = 1'500ms};
    scene.home_of(user).net().on_request = std::ref(seen);
    scene.acquire(user);
    scene.run_for(100ms);
    ASSERT_EQ(scene.holders(), 1U) << "carried out, and not yet answered";
    scene.end_session_of(seen.last);
    EXPECT_EQ(scene.holders(), 0U);
    scene.run_for(4s);
    ASSERT_NE(user.hold(), nullptr);
    EXPECT_EQ(scene.state_of(user), lease_state::held);
    EXPECT_EQ(scene.holders(), 1U);
    EXPECT_GE(seen.count, 2);
}

TEST(loss_of_a_session, while_waiting_begins_anew) {
    session_stage scene;
    auto& holder = scene.actor({.lease = 30s, .order = ordering::fair});
    auto& waiter = scene.actor({.lease = 30s, .order = ordering::fair});
    scene.queue_up(holder, waiter);
    auto const id = scene.seen.line("scene").front().id;
    scene.end_session_of(id);
    EXPECT_TRUE(scene.seen.line("scene").empty());
    scene.run_for(1s);  // a heartbeat, and long before the next sign of life of the waiter
    ASSERT_EQ(scene.seen.line("scene").size(), 1U);
    EXPECT_NE(scene.seen.line("scene").front().id, id);
    EXPECT_EQ(scene.state_of(holder), lease_state::held);
    scene.release(holder);
    scene.run_for(100ms);
    EXPECT_NE(waiter.hold(), nullptr);
}

TEST(loss_of_a_session, while_confirming_hands_nothing_out) {
    session_stage scene;
    auto& holder = scene.actor({.lease = 3s, .order = ordering::fair});
    auto& waiter = scene.actor({.lease = 3s, .order = ordering::fair});
    late_grant late;
    late.hold_up(scene, waiter);
    scene.queue_up(holder, waiter);
    scene.release(holder);
    scene.run_for(1'850ms);
    late.quiet = false;
    scene.run_for(150ms);
    ASSERT_EQ(waiter.hold(), nullptr);
    ASSERT_EQ(scene.holders(), 1U);
    scene.end_session_of(late.id);
    scene.tell(waiter, state::lost, {late.id});
    scene.run_for(3s);
    ASSERT_NE(waiter.hold(), nullptr) << "it does not begin anew";
    EXPECT_NE(waiter.hold()->claim, late.id);
}

TEST(loss_of_a_session, while_held_is_told_at_once) {
    session_stage scene{10s};
    auto& holder = scene.actor({.lease = 10s});
    auto& other = scene.actor({.lease = 10s});
    scene.queue_up(holder, other);
    auto const hold = holder.hold();
    scene.end_session_of(hold->claim);
    scene.run_for(100ms);
    EXPECT_NE(other.hold(), nullptr);
    scene.run_for(3s);  // the next heartbeat
    EXPECT_EQ(scene.state_of(holder), lease_state::lost);
    EXPECT_TRUE(hold->told);
    scene.release(holder);
    EXPECT_EQ(holder.last_outcome(), release_outcome::already_lost);
    scene.run_for(1s);
    EXPECT_EQ(scene.state_of(other), lease_state::held);
}

TEST(loss_of_a_session, while_ending_answers_that_it_is_unknown) {
    session_stage scene;
    auto& holder = scene.actor({.lease = 3s});
    scene.home_of(holder).net().on_request = [](seam::request const& what) {
        return link::script{.lose_request = is<seam::settle>(what)};
    };
    scene.acquire(holder);
    scene.run_for(100ms);
    auto const id = holder.hold()->claim;
    scene.release(holder);
    scene.run_for(10ms);
    scene.end_session_of(id);
    scene.run_for(2s);
    EXPECT_EQ(holder.last_outcome(), release_outcome::unknown);
    EXPECT_TRUE(scene.home_of(holder).engine()->idle());
}

}  // namespace
}  // namespace holdfast::simulation
