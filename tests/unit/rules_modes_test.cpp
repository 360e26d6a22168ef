// Readers, permits, conversion, and clients that disagree.
#include "unit/rules_fixture.hpp"

namespace holdfast::stores {
namespace {

TEST_F(rules_test, readers_share_and_a_writer_waits_for_all_of_them) {
    auto const one = claim(reader(), 1);
    auto const two = claim(reader(), 2);
    auto const writer = claim(lock(), 3);
    auto const first = take(one).number;
    EXPECT_LT(first, take(two).number);
    wait_in_line(writer);
    settle(one);
    EXPECT_TRUE(handed_over().empty());
    settle(two);
    EXPECT_EQ(handed_over(), std::vector{writer.id});
}

TEST_F(rules_test, nobody_starves_readers_queue_behind_a_waiting_writer) {
    auto const first = claim(reader(), 1);
    auto const writer = claim(lock(), 2);
    auto const late = claim(reader(), 3);
    auto const later = claim(reader(), 4);
    take(first);
    wait_in_line(writer);
    wait_in_line(late);
    wait_in_line(later);
    settle(first);
    EXPECT_EQ(handed_over(), std::vector{writer.id});
    settle(writer);
    EXPECT_EQ(handed_over(), (std::vector{late.id, later.id})) << "readers come in together";
}

TEST_F(rules_test, permits_are_counted) {
    auto const two = claim(permits(2, 3), 1);
    auto const one = claim(permits(1, 3), 2);
    auto const more = claim(permits(2, 3), 3);
    take(two);
    take(one);
    wait_in_line(more);
    settle(one);
    EXPECT_TRUE(handed_over().empty()) << "two do not fit beside two of three";
    settle(two);
    EXPECT_EQ(handed_over(), std::vector{more.id});
    settle(more);
    EXPECT_EQ(size(), 0U);
}

TEST_F(rules_test, barging_permits_pass_a_large_waiter_but_not_a_fair_one) {
    take(claim(permits(2, 3), 1));
    auto const large = claim(permits(3, 3), 2);
    wait_in_line(large);
    auto const small = claim(permits(1, 3), 3);
    take(small);
    settle(small);
    auto const fair = claim(permits(3, 3, ordering::fair), 4);
    wait_in_line(fair);
    wait_in_line(claim(permits(1, 3), 5));
}

TEST_F(rules_test, a_limit_can_be_read_and_changed_and_is_remembered) {
    auto const it = claim(permits(1, 3));
    auto const read = std::get<seam::adjusted>(ask(seam::adjust{it, {}}));
    EXPECT_EQ(read.declared, 3U);
    EXPECT_EQ(read.current, 3U);
    EXPECT_EQ(size(), 0U) << "reading leaves nothing behind";
    take(it);
    auto const waiting = claim(permits(3, 3), 2);
    wait_in_line(waiting);
    auto const raised = std::get<seam::adjusted>(ask(seam::adjust{it, 4U}));
    EXPECT_EQ(raised.current, 4U);
    EXPECT_EQ(raised.declared, 3U);
    EXPECT_EQ(handed_over(), std::vector{waiting.id}) << "a raised limit moves the line";
    settle(it);
    settle(waiting);
    EXPECT_EQ(std::get<seam::adjusted>(ask(seam::adjust{it, {}})).current, 4U);
    now += 25h;
    EXPECT_EQ(std::get<seam::adjusted>(ask(seam::adjust{it, {}})).current, 3U);
    EXPECT_EQ(size(), 0U);
}

TEST_F(rules_test, kinds_and_limits_that_disagree_are_refused_and_harm_nothing) {
    auto const semaphore = claim(permits(1, 3));
    take(semaphore);
    EXPECT_EQ(why(submit(claim(lock("s")))), seam::refusal::kind_mismatch);
    EXPECT_EQ(why(submit(claim(permits(1, 4)))), seam::refusal::limit_mismatch);
    EXPECT_EQ(why(ask(seam::adjust{claim(permits(1, 4)), 9U})), seam::refusal::limit_mismatch);
    settle(semaphore);
    EXPECT_TRUE(std::holds_alternative<seam::granted>(submit(claim(lock("s")))))
        << "the name is free for another kind again";
}

TEST_F(rules_test, a_condition_lives_beside_a_lock_of_its_name) {
    take(claim(lock()));
    take(claim(spec({.name = "n", .kind = lock_kind::condition, .lease = 1s})));
    EXPECT_EQ(size(), 2U);
}

TEST_F(rules_test, a_writer_becomes_a_reader_without_a_gap) {
    auto const one = claim(lock(), 1);
    auto const other = claim(reader(), 2);
    auto const writer = claim(lock(), 3);
    auto const number = take(one).number;
    wait_in_line(other);
    wait_in_line(writer);
    auto const weaker = ask(seam::convert{one, claim_mode::shared, 1});
    EXPECT_EQ(std::get<seam::converted>(weaker).held.number, number);
    EXPECT_EQ(handed_over(), std::vector{other.id});
    EXPECT_TRUE(
        std::holds_alternative<seam::converted>(ask(seam::convert{one, claim_mode::shared, 1})))
        << "twice is harmless";
    EXPECT_EQ(why(ask(seam::convert{one, claim_mode::exclusive, 1})),
              seam::refusal::would_deadlock);
    settle(one);
    settle(other, 0ms);
    EXPECT_EQ(handed_over(), std::vector{writer.id});
    EXPECT_EQ(why(ask(seam::convert{one, claim_mode::shared, 1})), seam::refusal::gone);
}

TEST_F(rules_test, permits_can_be_given_back_in_part) {
    auto const three = claim(permits(3, 3), 1);
    auto const one = claim(permits(1, 3), 2);
    take(three);
    wait_in_line(one);
    EXPECT_TRUE(
        std::holds_alternative<seam::converted>(ask(seam::convert{three, claim_mode::permits, 2})));
    EXPECT_EQ(handed_over(), std::vector{one.id});
    EXPECT_EQ(why(ask(seam::convert{three, claim_mode::permits, 3})),
              seam::refusal::would_deadlock);
}

}  // namespace
}  // namespace holdfast::stores
