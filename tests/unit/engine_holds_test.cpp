// Holds: passes, renewals, doubt, loss and release, step by step.
#include "unit/engine_fixture.hpp"

namespace holdfast::core {
namespace {

TEST_F(engine_test, a_hold_passes_among_local_waiters_without_a_message) {
    auto const where = queue_for();
    auto held = take(where);
    auto const before = engine->counters().requests;
    std::uint64_t last = held->token();
    std::deque<waiting> waiters;
    for (int i = 0; i < 20; ++i) {
        waiters.emplace_back(where);
        engine->begin(waiters.back().call, now);
    }
    for (auto& next : waiters) {
        engine->release(held, now);
        ASSERT_EQ(next.call.outcome, verdict::granted);
        held = next.call.held;
        EXPECT_EQ(held->token(), last + 1);
        last = held->token();
    }
    EXPECT_EQ(engine->counters().requests, before);
    EXPECT_EQ(engine->counters().passes, 20U);
    EXPECT_EQ(engine->counters().tokens_not_rising, 0U);
    engine->release(held, now);
    settle_down();
    EXPECT_EQ(store.size(), 0U);
}

TEST_F(engine_test, after_the_last_pass_the_store_grants_anew) {
    auto const where = queue_for();
    auto held = take(where);
    for (int i = 0; i < 600; ++i) {
        waiting next{where};
        engine->begin(next.call, now);
        auto const token = held->token();
        engine->release(held, now);
        settle_down();
        ASSERT_EQ(next.call.outcome, verdict::granted);
        ASSERT_GT(next.call.held->token(), token);
        held = next.call.held;
    }
    EXPECT_EQ(engine->counters().tokens_not_rising, 0U);
}

TEST_F(engine_test, a_thread_is_nudged_and_one_that_runs_may_come_first) {
    auto const where = queue_for();
    auto const held = take(where);
    waiting sleeper{where};
    sleeper.call.takes_offers = true;
    engine->begin(sleeper.call, now);
    engine->release(held, now);
    EXPECT_EQ(sleeper.nudges, 1);
    EXPECT_EQ(sleeper.call.outcome, verdict::pending);
    waiting runner{where};
    engine->begin(runner.call, now);
    EXPECT_EQ(runner.call.outcome, verdict::granted);
    engine->take_offer(sleeper.call, now);
    EXPECT_EQ(sleeper.call.outcome, verdict::pending) << "the offer is gone";
    now += 2ms;
    engine->release(runner.call.held, now);
    EXPECT_EQ(sleeper.call.outcome, verdict::granted) << "who was passed over gets it directly";
}

TEST_F(engine_test, an_offer_that_its_thread_leaves_goes_on) {
    auto const where = queue_for();
    auto const held = take(where);
    waiting first{where};
    waiting second{where};
    first.call.takes_offers = second.call.takes_offers = true;
    engine->begin(first.call, now);
    engine->begin(second.call, now);
    engine->release(held, now);
    engine->withdraw(first.call, now);
    EXPECT_EQ(second.nudges, 1);
    engine->take_offer(second.call, now);
    EXPECT_EQ(second.call.outcome, verdict::granted);
}

TEST_F(engine_test, one_failed_renewal_is_doubt_and_tried_again_at_once) {
    auto const held = take(queue_for({.lease = 3s}));
    pass(900ms);
    while (engine->todo().requests.empty()) {
        now = engine->next_due();
        engine->on_time(now);
    }
    fail_all();
    EXPECT_EQ(held->state(now), lease_state::in_doubt);
    engine->on_time(now);
    EXPECT_EQ(wanted<seam::renew>(), 1U);
    settle_down();
    EXPECT_EQ(held->state(now), lease_state::held);
    EXPECT_EQ(engine->counters().doubts, 1U);
    EXPECT_EQ(engine->counters().losses, 0U);
}

TEST_F(engine_test, the_deadline_is_the_leases_end_less_the_margin) {
    auto const held = take(queue_for({.lease = 3s}));
    EXPECT_EQ(held->lost_at(), now + 3s - 32ms);
    pass(3s - 32ms - 1ns, false);
    EXPECT_EQ(held->state(now), lease_state::in_doubt);
    EXPECT_TRUE(engine->todo().losses.empty());
    pass(1ns, false);
    EXPECT_EQ(held->state(now), lease_state::lost);
    ASSERT_EQ(engine->todo().losses.size(), 1U);
    EXPECT_EQ(engine->todo().losses[0], held);
    releasing end;
    engine->release(held, now, &end.call);
    EXPECT_EQ(end.call.outcome, release_outcome::already_lost);
    EXPECT_EQ(end.completions, 1);
}

TEST_F(engine_test, a_released_hold_is_never_announced_as_lost) {
    auto const held = take(queue_for({.lease = 3s}));
    releasing end;
    engine->release(held, now, &end.call);
    pass(60s, false);
    EXPECT_TRUE(engine->todo().losses.empty());
    EXPECT_EQ(end.call.outcome, release_outcome::unknown) << "the store never answered";
    EXPECT_EQ(end.completions, 1);
    EXPECT_TRUE(engine->idle()) << "by then the store has forgotten it";
}

TEST_F(engine_test, a_second_release_is_answered_and_changes_nothing) {
    auto const held = take(queue_for());
    releasing first;
    releasing second;
    engine->release(held, now, &first.call);
    settle_down();
    engine->release(held, now, &second.call);
    EXPECT_EQ(first.call.outcome, release_outcome::released);
    EXPECT_TRUE(second.call.outcome.has_value());
}

TEST_F(engine_test, whoever_releases_again_is_told_with_the_first) {
    auto const held = take(queue_for());
    releasing first;
    releasing second;
    releasing gone;
    releasing late;
    engine->release(held, now, &first.call);
    engine->release(held, now, &second.call);
    engine->release(held, now, &gone.call);
    EXPECT_EQ(second.completions, 0) << "the store has not answered yet";
    EXPECT_EQ(wanted<seam::settle>(), 1U);
    EXPECT_EQ(held->state(now), lease_state::released);
    engine->withdraw(gone.call);
    settle_down();
    engine->release(held, now, &late.call);
    for (auto const* const each : {&first, &second, &late}) {
        EXPECT_EQ(each->call.outcome, release_outcome::released);
        EXPECT_EQ(each->completions, 1);
    }
    EXPECT_EQ(gone.completions, 0);
    EXPECT_EQ(held->state(now), lease_state::released);
}

TEST_F(engine_test, a_release_that_nobody_waited_for_has_an_outcome_for_those_who_ask_later) {
    auto const held = take(queue_for({.lease = 3s}));
    releasing end;
    engine->release(held, now);
    engine->release(held, now, &end.call);
    EXPECT_EQ(end.completions, 0);
    pass(60s, false);
    EXPECT_EQ(end.call.outcome, release_outcome::unknown) << "the store never answered";
    releasing again;
    engine->release(held, now, &again.call);
    EXPECT_EQ(again.call.outcome, release_outcome::unknown);
}

// The thread that keeps the time may be late, too.
TEST_F(engine_test, a_renewal_that_is_confirmed_after_the_deadline_does_not_bring_the_hold_back) {
    auto const held = take(queue_for({.lease = 3s}));
    pass(1'100ms, false);
    auto const renewal = sent();
    ASSERT_EQ(count_of<seam::renew>(renewal), 1U);
    auto const answer = carry_out(renewal.front());
    now = held->lost_at();
    EXPECT_EQ(held->state(now), lease_state::lost) << "whoever looks now is told so";
    engine->on_reply(renewal.front().id, answer, now);
    EXPECT_EQ(held->state(now), lease_state::lost);
    ASSERT_EQ(engine->todo().losses.size(), 1U);
    EXPECT_EQ(engine->todo().losses.front(), held);
    releasing end;
    engine->release(held, now, &end.call);
    EXPECT_EQ(end.call.outcome, release_outcome::already_lost);
    settle_down();
    EXPECT_EQ(store.size(), 0U) << "the store had it for longer";
}

TEST_F(engine_test, a_pushed_grant_that_begins_in_the_future_is_asked_about) {
    auto const holder = take(queue_for({.order = ordering::fair}));
    waiting next{queue_for({.order = ordering::fair})};
    engine->begin(next.call, now);
    settle_down();
    auto const id = next.call.in->current->subject.id;
    pass(1s);
    auto const began = [&](std::chrono::nanoseconds ahead) {
        return seam::store_time{std::chrono::duration_cast<std::chrono::microseconds>(
            (now + ahead).time_since_epoch())};
    };
    engine->on_notice(seam::claim_granted{id, {seam::sequence{99}, began(1h)}}, now);
    EXPECT_EQ(next.call.outcome, verdict::pending);
    EXPECT_EQ(wanted<seam::renew>(), 1U) << "the store is asked";
    settle_down();
    EXPECT_EQ(next.call.outcome, verdict::pending);
    engine->release(holder, now);
    settle_down();
    EXPECT_EQ(next.call.outcome, verdict::granted) << "the store's own word counts";
    engine->release(next.call.held, now);
}

TEST_F(engine_test, a_grant_that_is_pushed_again_after_it_ended_is_asked_about) {
    auto const holder = take(queue_for({.order = ordering::fair}));
    auto const earlier = seam::store_time{
        std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch())};
    pass(1s);
    waiting next{queue_for({.order = ordering::fair})};
    engine->begin(next.call, now);
    settle_down();
    engine->on_notice(
        seam::claim_granted{next.call.in->current->subject.id, {seam::sequence{9}, earlier}}, now);
    EXPECT_EQ(next.call.outcome, verdict::pending) << "the store said later that it waits";
    EXPECT_EQ(wanted<seam::renew>(), 1U);
    settle_down();
    EXPECT_EQ(next.call.outcome, verdict::pending);
    engine->release(holder, now);
    settle_down();
    EXPECT_EQ(next.call.outcome, verdict::granted);
    engine->release(next.call.held, now);
}

TEST_F(engine_test, a_doubtful_grant_that_overtakes_the_answer_queued_is_asked_about_after_it) {
    auto const holder = take(queue_for({.order = ordering::fair}));
    waiting next{queue_for({.order = ordering::fair})};
    engine->begin(next.call, now);
    auto const submit = sent();
    ASSERT_EQ(submit.size(), 1U);
    auto const answer = carry_out(submit[0]);
    engine->on_notice(seam::claim_granted{next.call.in->current->subject.id,
                                          {seam::sequence{9}, answer.now + 1h}},
                      now);
    engine->on_reply(submit[0].id, answer, now);
    EXPECT_EQ(wanted<seam::renew>(), 1U);
    settle_down();
    engine->withdraw(next.call, now);
    engine->release(holder, now);
}

TEST_F(engine_test, a_hold_with_a_long_grace_is_renewed_in_time) {
    for (auto const grace : {2'600ms, 3'500ms, 3'900ms}) {
        auto const held = take(queue_for({.lease = 4s, .grace = grace}));
        pass(60s);
        EXPECT_EQ(held->state(now), lease_state::held) << grace.count();
        engine->release(held, now);
        settle_down();
    }
}

TEST_F(engine_test, a_gone_notice_is_asked_about_before_it_is_believed) {
    auto const held = take(queue_for({.lease = 3s}));
    auto const id = held->held_by->subject.id;
    engine->on_notice(seam::claim_gone{id, "rumour"}, now);
    EXPECT_EQ(held->state(now), lease_state::held);
    EXPECT_EQ(wanted<seam::renew>(), 1U);
    settle_down();
    EXPECT_EQ(held->state(now), lease_state::held);
    seam::evict evict{.name = "n"};
    std::vector<stores::lease::directed_notice> none;
    (void)store.handle(self, evict, seam::store_time{}, none);
    engine->on_notice(seam::claim_gone{id, "it was evicted"}, now);
    settle_down();
    EXPECT_EQ(held->state(now), lease_state::lost);
}

TEST_F(engine_test, many_renewals_go_in_few_batches) {
    std::vector<std::shared_ptr<hold_state>> all;
    for (int i = 0; i < 2'000; ++i)
        all.push_back(take(queue_for({.lease = 3s}, "n" + std::to_string(i))));
    auto const before = engine->counters().requests;
    pass(10s);
    auto const batches = engine->counters().requests - before;
    EXPECT_GE(engine->counters().renewals, 2'000U * 9);
    EXPECT_LT(batches, 600U);
    for (auto const& one : all)
        EXPECT_EQ(one->state(now), lease_state::held);
}

TEST_F(engine_test, another_lease_length_counts_from_the_renewal_that_asked_for_it) {
    auto const held = take(queue_for({.lease = 3s}));
    struct ended final : completion {
        void completed() noexcept override { ++completions; }
        int completions{0};
    } end;
    renew_call longer{end};
    engine->renew(*held, 60s, longer, now);
    EXPECT_EQ(held->lost_at(), now + 3s - 32ms) << "not before the store has said so";
    settle_down();
    EXPECT_TRUE(longer.done);
    EXPECT_EQ(held->lost_at(), now + 60s - 602ms);
    pass(5min);
    EXPECT_EQ(held->state(now), lease_state::held);
    renew_call shorter{end};
    engine->renew(*held, 1s, shorter, now);
    settle_down();
    EXPECT_EQ(held->lost_at(), now + 1s - 12ms);
    pass(5min);
    EXPECT_EQ(held->state(now), lease_state::held) << "the shorter lease is renewed more often";
    EXPECT_EQ(end.completions, 2);
}

}  // namespace
}  // namespace holdfast::core
