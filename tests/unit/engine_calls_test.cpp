// Calls: each is completed exactly once, with the verdict that fits.
#include "unit/engine_fixture.hpp"

namespace holdfast::core {
namespace {

TEST_F(engine_test, the_first_acquire_asks_for_the_time_and_the_second_does_not) {
    waiting one{queue_for()};
    engine->begin(one.call, now);
    auto requests = sent();
    ASSERT_EQ(requests.size(), 1U);
    EXPECT_TRUE(std::holds_alternative<seam::hello>(requests[0].what));
    engine->on_reply(requests[0].id, carry_out(requests[0]), now);
    requests = sent();
    ASSERT_EQ(requests.size(), 1U);
    EXPECT_TRUE(std::holds_alternative<seam::submit>(requests[0].what));
    engine->on_reply(requests[0].id, carry_out(requests[0]), now);
    EXPECT_EQ(one.call.outcome, verdict::granted);
    engine->release(one.call.held, now);
    settle_down();
    waiting two{queue_for()};
    engine->begin(two.call, now);
    EXPECT_EQ(count_of<seam::submit>(sent()), 1U);
    engine->withdraw(two.call, now);
}

TEST_F(engine_test, an_uncontended_pair_costs_two_requests) {
    auto const where = queue_for();
    engine->release(take(where), now);
    settle_down();
    auto const before = engine->counters().requests;
    for (int i = 0; i < 10; ++i) {
        engine->release(take(where), now);
        settle_down();
    }
    EXPECT_EQ(engine->counters().requests - before, 20U);
    EXPECT_TRUE(engine->idle());
    EXPECT_EQ(store.size(), 0U);
}

TEST_F(engine_test, busy_is_said_to_one_attempt_and_to_a_deadline) {
    auto const held = take(queue_for());
    waiting once{queue_for()};
    once.call.wait = false;
    engine->begin(once.call, now);
    settle_down();
    EXPECT_EQ(once.call.outcome, verdict::busy);
    waiting timed{queue_for()};
    engine->begin(timed.call, now, now + 1s);
    settle_down();
    pass(2s);
    EXPECT_EQ(timed.call.outcome, verdict::busy);
    EXPECT_EQ(once.completions, 1);
    EXPECT_EQ(timed.completions, 1);
    engine->release(held, now);
    settle_down();
    EXPECT_EQ(store.size(), 0U);
}

TEST_F(engine_test, a_silent_store_is_not_busy) {
    waiting timed{queue_for()};
    engine->begin(timed.call, now, now + 1s);
    pass(2s, false);
    EXPECT_EQ(timed.call.outcome, verdict::failed);
    EXPECT_TRUE(timed.call.error.is(errc::store_unavailable));
}

TEST_F(engine_test, a_call_without_a_deadline_waits_for_the_patience_of_its_client) {
    waiting one{queue_for()};
    engine->begin(one.call, now);
    pass(9'900ms, false);
    EXPECT_EQ(one.call.outcome, verdict::pending);
    pass(200ms, false);
    EXPECT_EQ(one.call.outcome, verdict::failed);
    EXPECT_TRUE(one.call.error.is(errc::store_unavailable));
    EXPECT_EQ(one.completions, 1);
}

TEST_F(engine_test, each_caller_of_a_name_has_a_patience_of_its_own) {
    auto const where = queue_for();
    waiting first{where};
    waiting second{where};
    waiting once{where};
    once.call.wait = false;
    engine->begin(first.call, now);
    pass(9s, false);
    engine->begin(second.call, now);
    pass(500ms, false);
    engine->begin(once.call, now);
    pass(600ms, false);
    EXPECT_EQ(first.call.outcome, verdict::failed);
    EXPECT_EQ(second.call.outcome, verdict::pending) << "it came a second ago";
    pass(8'800ms, false);  // 18.9 s after the first came
    EXPECT_EQ(second.call.outcome, verdict::pending);
    pass(200ms, false);
    EXPECT_EQ(second.call.outcome, verdict::failed);
    EXPECT_TRUE(second.call.error.is(errc::store_unavailable));
    EXPECT_EQ(once.call.outcome, verdict::pending);
    pass(500ms, false);
    EXPECT_EQ(once.call.outcome, verdict::failed);
    for (auto* const each : {&first, &second, &once})
        EXPECT_EQ(each->completions, 1);
}

TEST_F(engine_test, who_has_waited_for_long_needs_patience_only_when_the_store_falls_silent) {
    auto const in_the_way = take(queue_for({.order = ordering::fair}));
    waiting one{queue_for()};
    engine->begin(one.call, now);
    settle_down();
    pass(60s);
    auto const& silent_since = one.call.in->current->silent_since;
    while (silent_since == base::never)
        pass(100ms, false);
    auto const end = silent_since + 10s;
    pass(end - now - 1ns, false);
    EXPECT_EQ(one.call.outcome, verdict::pending);
    pass(1ns, false);
    EXPECT_EQ(one.call.outcome, verdict::failed);
}

// The claim that those behind a local holder have is another one after the loss. The silence is the same.
TEST_F(engine_test, a_silence_in_which_a_hold_is_lost_is_not_waited_for_twice) {
    auto const where = queue_for({.lease = 3s});
    auto const held = take(where);
    waiting next{where};
    engine->begin(next.call, now);
    pass(1'100ms, false);  // the first renewal is under way
    auto const end = where->current->silent_since + 10s;
    pass(end - now - 1ns, false);
    EXPECT_EQ(held->state(now), lease_state::lost);
    EXPECT_EQ(next.call.outcome, verdict::pending);
    pass(1ns, false);
    EXPECT_EQ(next.call.outcome, verdict::failed);
    EXPECT_TRUE(next.call.error.is(errc::store_unavailable));
}

TEST_F(engine_test, nor_is_one_in_which_the_session_of_a_waiter_ends) {
    using state = seam::session_changed::state;
    auto const in_the_way = take(queue_for({.order = ordering::fair}));
    waiting one{queue_for()};
    engine->begin(one.call, now);
    settle_down();
    engine->on_notice(seam::session_changed{state::in_doubt, "cut off"}, now);
    pass(5s, false);
    engine->on_notice(seam::session_changed{state::lost, "cut off for too long"}, now);
    pass(5s - 1ns, false);
    EXPECT_EQ(one.call.outcome, verdict::pending);
    pass(1ns, false);
    EXPECT_EQ(one.call.outcome, verdict::failed);
}

// A copy of the submit that is under way goes on in the client's next session.
TEST_F(engine_test, a_claim_is_not_forgotten_with_its_session_before_all_copies_are_answered) {
    make_engine({.abilities = {.per_claim_lease = false}});
    auto const in_the_way = take(queue_for({.order = ordering::fair}));
    waiting one{queue_for({.order = ordering::fair})};
    engine->begin(one.call, now);
    auto const first = sent();
    pass(core::engine::settings{}.request_timeout + 1ms, false);
    auto const second = sent();
    ASSERT_EQ(second.size(), 1U);
    auto const id = std::get<seam::submit>(second.front().what).subject.id;
    for (auto const& out : first)
        engine->on_reply(out.id, carry_out(out), now);
    engine->withdraw(one.call, now);
    auto const settlement = sent();
    ASSERT_EQ(settlement.size(), 1U);
    using state = seam::session_changed::state;
    engine->on_notice(seam::session_changed{state::lost, "it ended", {id}}, now);
    engine->on_reply(second.front().id, {{}, seam::queued{}}, now);
    auto const again = sent();
    ASSERT_EQ(again.size(), 1U) << "nobody would end it";
    EXPECT_EQ(std::get<seam::settle>(again.front().what).subject.id, id);
    for (auto const& out : {settlement.front(), again.front()})
        engine->on_reply(out.id, carry_out(out), now);
    engine->release(in_the_way, now);
    settle_down();
    EXPECT_TRUE(engine->idle());
}

// Its lease outlasts the patience of those who wait behind it.
TEST_F(engine_test, patience_behind_a_local_holder_ends_when_it_is_over) {
    auto const where = queue_for({.lease = 60s, .renew_every = 10s});
    auto const held = take(where);
    pass(11s, false);
    auto const silent_since = where->current->silent_since;
    ASSERT_NE(silent_since, base::never);
    waiting next{where};
    engine->begin(next.call, now);
    pass(10s - 1ns, false);
    EXPECT_EQ(next.call.outcome, verdict::pending);
    pass(1ns, false);
    EXPECT_EQ(next.call.outcome, verdict::failed);
    EXPECT_EQ(held->state(now), lease_state::in_doubt) << "only who waits has lost patience";
}

TEST_F(engine_test, a_store_that_refuses_ends_the_call_with_its_word) {
    waiting one{queue_for()};
    engine->begin(one.call, now);
    fail_all(errc::access_denied);
    EXPECT_EQ(one.call.outcome, verdict::failed);
    EXPECT_TRUE(one.call.error.is(errc::access_denied));
    EXPECT_TRUE(engine->idle());
}

TEST_F(engine_test, one_attempt_does_not_wait_behind_a_thread_whose_submit_is_under_way) {
    auto const where = queue_for();
    waiting first{where};
    waiting once{where};
    once.call.wait = false;
    engine->begin(first.call, now);
    engine->begin(once.call, now);
    EXPECT_EQ(once.call.outcome, verdict::pending);
    settle_down();
    EXPECT_EQ(first.call.outcome, verdict::granted);
    EXPECT_EQ(once.call.outcome, verdict::busy);
}

TEST_F(engine_test, a_deadline_behind_a_local_holder_is_busy_also_while_a_submit_is_under_way) {
    auto const where = queue_for({.local_passes = 0});
    auto const held = take(where);
    auto* const its = where->current;
    waiting next{where};
    engine->begin(next.call, now, now + 1s);
    its->contended = true;
    pass(900ms);
    engine->release(held, now);  // not passed on: the next one's submit is under way
    EXPECT_EQ(next.call.outcome, verdict::pending);
    pass(200ms, false);
    EXPECT_EQ(next.call.outcome, verdict::busy);
}

TEST_F(engine_test, a_withdrawn_call_is_stopped_once_and_leaves_nothing) {
    auto const held = take(queue_for());
    waiting one{queue_for()};
    engine->begin(one.call, now);
    settle_down();
    engine->withdraw(one.call, now);
    engine->withdraw(one.call, now);
    EXPECT_EQ(one.call.outcome, verdict::stopped);
    EXPECT_EQ(one.completions, 1);
    settle_down();
    engine->release(held, now);
    settle_down();
    EXPECT_TRUE(engine->idle());
    EXPECT_EQ(store.size(), 0U);
}

TEST_F(engine_test, operations_are_answered_or_end_with_their_deadline) {
    asking ping{seam::hello{}};
    engine->begin(ping.call, now);
    settle_down();
    EXPECT_TRUE(ping.call.done);
    EXPECT_FALSE(ping.call.error);
    asking late{seam::hello{}};
    late.call.deadline = now + 5s;
    engine->begin(late.call, now);
    auto const before = engine->counters().requests;
    pass(6s, false);
    EXPECT_TRUE(late.call.done);
    EXPECT_TRUE(late.call.error.is(errc::store_unavailable));
    EXPECT_GT(engine->counters().requests, before) << "a request that hangs is sent again";
    EXPECT_EQ(late.completions, 1);
}

TEST_F(engine_test, an_eviction_of_whoever_holds_is_sent_once) {
    asking failed{seam::evict{"n"}};
    failed.call.deadline = now + 5s;
    engine->begin(failed.call, now);
    fail_all();
    EXPECT_TRUE(failed.call.error.is(errc::store_unavailable));
    asking silent{seam::evict{"n"}};
    silent.call.deadline = now + 5s;
    engine->begin(silent.call, now);
    EXPECT_EQ(count_of<seam::evict>(sent()), 1U);
    pass(6s, false);
    EXPECT_EQ(count_of<seam::evict>(sent()), 0U) << "it could end the hold of whoever came next";
    EXPECT_TRUE(silent.call.error.is(errc::store_unavailable));
    asking of_one{seam::evict{"n", seam::claim_id{seam::client_id{7}, 1}}};
    of_one.call.deadline = now + 5s;
    engine->begin(of_one.call, now);
    fail_all();
    pass(2s);
    EXPECT_TRUE(of_one.call.done);
    EXPECT_FALSE(of_one.call.error) << "of one claim it is harmless, and sent again";
}

TEST_F(engine_test, a_store_that_fails_those_who_wait_has_not_said_busy) {
    auto const where = queue_for();
    auto const theirs = take(queue_for({.order = ordering::fair}));
    waiting first{where};
    engine->begin(first.call, now, now + 60s);
    settle_down();
    waiting once{where};
    once.call.wait = false;
    engine->begin(once.call, now);
    EXPECT_EQ(once.call.outcome, verdict::busy) << "the store has just said so";
    for (int i = 0; i < 40 && first.call.in->current->failures == 0; ++i) {
        pass(1s, false);
        fail_all();
    }
    ASSERT_GT(first.call.in->current->failures, 0);
    waiting again{where};
    again.call.wait = false;
    engine->begin(again.call, now, now + 1s);
    EXPECT_NE(again.call.outcome, verdict::busy);
    pass(900ms);
    EXPECT_EQ(again.call.outcome, verdict::busy) << "now it has";
    engine->withdraw(first.call, now);
    settle_down();
}

TEST_F(engine_test, close_ends_everything_and_settles_all_claims) {
    auto const where = queue_for();
    auto const held = take(where);
    waiting next{where};
    waiting elsewhere{queue_for({.order = ordering::fair})};
    asking ping{seam::hello{}};
    engine->begin(next.call, now);
    engine->begin(elsewhere.call, now);
    settle_down();
    engine->begin(ping.call, now);
    engine->close(now);
    for (auto* const one : {&next, &elsewhere}) {
        EXPECT_EQ(one->call.outcome, verdict::failed);
        EXPECT_TRUE(one->call.error.is(errc::closed));
        EXPECT_EQ(one->completions, 1);
    }
    EXPECT_TRUE(ping.call.error.is(errc::closed));
    EXPECT_EQ(held->state(now), lease_state::lost);
    settle_down();
    EXPECT_TRUE(engine->idle());
    EXPECT_EQ(store.size(), 0U);
    waiting late{where};
    engine->begin(late.call, now);
    EXPECT_TRUE(late.call.error.is(errc::closed));
}

TEST_F(engine_test, close_keeps_a_name_taken_under_a_minimum_hold) {
    auto const held = take(queue_for({.min_hold = 10s}));
    pass(1s);
    engine->close(now);
    auto const requests = sent();
    ASSERT_EQ(count_of<seam::settle>(requests), 1U);
    ASSERT_EQ(requests.size(), 1U);
    EXPECT_EQ(std::get<seam::settle>(requests[0].what).keep_for, 9s);
    engine->on_reply(requests[0].id, carry_out(requests[0]), now);
    EXPECT_TRUE(engine->idle());
    EXPECT_EQ(store.size(), 1U) << "it is in the way until then";
    EXPECT_EQ(held->state(now), lease_state::lost);
}

TEST_F(engine_test, who_waits_for_a_release_when_nobody_drives_any_more_hears_that_it_is_unknown) {
    auto const held = take(queue_for());
    releasing end;
    engine->release(held, now, &end.call);
    engine->close(now);
    EXPECT_EQ(end.completions, 0) << "it may still be answered";
    engine->end_releases(now);
    EXPECT_EQ(end.completions, 1);
    EXPECT_EQ(end.call.outcome, release_outcome::unknown);
    settle_down();
    EXPECT_EQ(end.completions, 1);
    EXPECT_EQ(end.call.outcome, release_outcome::unknown);
}

TEST_F(engine_test, a_hint_does_not_end_the_attempts_of_a_retry_policy) {
    auto const held = take(queue_for());
    waiting one{queue_for({.retry = retry::fixed(1ms, 9)})};
    engine->begin(one.call, now);
    settle_down();
    auto asked = std::exchange(engine->todo().questions, {});
    ASSERT_EQ(asked.size(), 1U);
    engine->answer_retry(asked[0].ticket, 1ms, now);
    pass(1ms, false);  // the attempt is under way
    engine->on_notice(seam::session_changed{seam::session_changed::state::restored, "again"}, now);
    settle_down();
    EXPECT_EQ(engine->todo().questions.size(), 1U) << "the policy is asked on";
    engine->withdraw(one.call, now);
    settle_down();
    engine->release(held, now);
    settle_down();
}

}  // namespace
}  // namespace holdfast::core
