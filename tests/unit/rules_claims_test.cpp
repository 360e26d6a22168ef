// The life of one claim at a lease store: submit, renew, settle; each sent twice and each too late.
#include "unit/rules_fixture.hpp"

namespace holdfast::stores {
namespace {

using status = seam::renewal::status;

TEST_F(rules_test, a_free_name_is_granted_with_the_time_of_its_lease) {
    auto const one = claim(lock());
    auto const held = take(one);
    EXPECT_EQ(held.began, now);
    EXPECT_FALSE(held.contended);
    EXPECT_GT(static_cast<std::uint64_t>(held.number), 1'000U);
}

TEST_F(rules_test, a_submit_that_comes_twice_is_one_hold) {
    auto const one = claim(lock());
    auto const first = take(one);
    now += 100ms;
    auto const again = take(one);
    EXPECT_EQ(first.number, again.number);
    EXPECT_EQ(first.began, again.began) << "a copy does not renew";
    EXPECT_EQ(settle(one), seam::ending::released);
    EXPECT_EQ(size(), 0U);
}

TEST_F(rules_test, a_queued_submit_that_comes_twice_waits_once) {
    auto const holder = claim(lock());
    auto const waiter = claim(lock(), 2);
    take(holder);
    wait_in_line(waiter);
    wait_in_line(waiter);
    EXPECT_EQ(settle(holder), seam::ending::released);
    EXPECT_EQ(handed_over().size(), 1U);
    EXPECT_EQ(settle(waiter), seam::ending::released);
    EXPECT_EQ(size(), 0U);
}

TEST_F(rules_test, without_queueing_busy_is_refused_with_the_time_it_may_last) {
    take(claim(lock()));
    now += 400ms;
    auto const answer = submit(claim(lock(), 2), false);
    EXPECT_EQ(why(answer), seam::refusal::busy);
    EXPECT_EQ(std::get<seam::refused>(answer).blocked_for, 600ms);
}

TEST_F(rules_test, a_submit_takes_no_effect_after_its_time) {
    auto const one = claim(lock());
    EXPECT_EQ(why(submit(one, true, now - 1us)), seam::refusal::too_late);
    EXPECT_EQ(size(), 0U);
    EXPECT_TRUE(std::holds_alternative<seam::granted>(submit(one, true, now)));
}

TEST_F(rules_test, a_tombstone_holds_up_to_and_at_the_last_moment_of_the_submit) {
    for (auto const delay : {0ms, 50ms, 100ms}) {
        auto const one = claim(lock());
        auto const not_after = now + 100ms;
        EXPECT_EQ(settle(one, 0ms, not_after), seam::ending::gone);
        now += delay;
        EXPECT_EQ(why(submit(one, true, not_after)), seam::refusal::too_late);
        now += 1s;
    }
    take(claim(lock("other")));
    EXPECT_EQ(size(), 1U) << "tombstones that are over are forgotten";
}

TEST_F(rules_test, a_renewal_begins_the_lease_anew) {
    auto const one = claim(lock());
    take(one);
    now += 900ms;
    auto const renewed = renew(one);
    EXPECT_EQ(renewed.found, status::alive);
    EXPECT_EQ(renewed.held.began, now);
    now += 999ms;
    EXPECT_EQ(renew(one).found, status::alive);
    now += 1s;
    EXPECT_EQ(renew(one).found, status::gone);
    EXPECT_EQ(settle(one), seam::ending::gone);
    EXPECT_EQ(size(), 0U);
}

TEST_F(rules_test, a_renewal_for_a_shorter_lease_does_not_take_back_what_was_promised) {
    auto const one = claim(lock());
    take(one);
    EXPECT_EQ(renew(one, 10s).found, status::alive);
    EXPECT_EQ(renew(one, 1s).found, status::alive);
    now += 9s;
    EXPECT_EQ(renew(one, 1s).found, status::alive);
    now += 1s;
    EXPECT_EQ(renew(one, 1s).found, status::gone);
}

TEST_F(rules_test, a_batch_of_renewals_answers_each) {
    auto const held = claim(lock("a"));
    auto const waiting = claim(lock("b"));
    take(held);
    take(claim(lock("b"), 2));
    wait_in_line(waiting);
    seam::renew request;
    for (auto const& each : {held, waiting, claim(lock("c"))})
        request.items.push_back({each, 1s});
    auto const items = std::get<seam::renewed>(ask(request)).items;
    ASSERT_EQ(items.size(), 3U);
    EXPECT_EQ(items[0].found, status::alive);
    EXPECT_EQ(items[1].found, status::waiting);
    EXPECT_EQ(items[2].found, status::gone);
    EXPECT_EQ(items[1].blocked_for, 1s);
}

TEST_F(rules_test, only_the_owner_can_release) {
    auto const holder = claim(lock());
    take(holder);
    EXPECT_EQ(settle({lock(), {seam::client_id{2}, holder.id.number}}), seam::ending::gone);
    EXPECT_EQ(settle({lock(), {holder.id.client, holder.id.number + 77}}), seam::ending::gone);
    EXPECT_EQ(why(submit(claim(lock(), 2), false)), seam::refusal::busy);
    EXPECT_EQ(settle(holder), seam::ending::released);
    EXPECT_EQ(settle(holder), seam::ending::gone) << "the second copy finds nothing";
}

TEST_F(rules_test, a_minimum_hold_keeps_the_name_taken_by_nobody) {
    auto const one = claim(lock("n", ordering::barging, 10s));
    auto const waiter = claim(lock(), 2);
    take(one);
    wait_in_line(waiter);
    EXPECT_EQ(settle(one, 500ms), seam::ending::released);
    EXPECT_EQ(told<seam::changed>(), 1U) << "the first in the line is told of the new end";
    EXPECT_EQ(settle(one, 500ms), seam::ending::released) << "and again when sent twice";
    EXPECT_EQ(renew(one).found, status::gone) << "it is nobody's";
    EXPECT_EQ(why(submit(one)), seam::refusal::too_late);
    EXPECT_EQ(renew(waiter).blocked_for, 500ms);
    now += 500ms;
    EXPECT_EQ(renew(waiter).found, status::alive);
    EXPECT_EQ(settle(waiter), seam::ending::released);
    EXPECT_EQ(size(), 0U);
}

TEST_F(rules_test, time_never_goes_back) {
    auto const one = claim(lock());
    take(one);
    now -= 10s;
    auto const renewed = renew(one);
    EXPECT_EQ(renewed.held.began, now + 10s);
}

}  // namespace
}  // namespace holdfast::stores
