// The line of a lease store: who is next, who is skipped, and who is told.
#include <algorithm>
#include <string>
#include <vector>

#include "unit/rules_fixture.hpp"

namespace holdfast::stores {
namespace {

using status = seam::renewal::status;

TEST_F(rules_test, a_release_hands_over_to_the_first_and_tells_only_it) {
    auto const holder = claim(lock());
    take(holder);
    std::vector<seam::claim> waiters;
    for (std::uint64_t i = 2; i < 6; ++i) {
        waiters.push_back(claim(lock("n", ordering::fair), i));
        wait_in_line(waiters.back());
        EXPECT_EQ(told<seam::name_contended>(), i == 2 ? 1U : 0U) << "the holder is told once";
    }
    auto before = holder;
    for (auto const& next : waiters) {
        EXPECT_EQ(settle(before), seam::ending::released);
        ASSERT_EQ(handed_over(), std::vector{next.id});
        EXPECT_EQ(notices.size(), 1U);
        before = next;
    }
    settle(before);
    EXPECT_EQ(size(), 0U);
}

TEST_F(rules_test, sequences_rise_with_every_grant) {
    auto last = seam::sequence{0};
    for (int i = 0; i < 100; ++i) {
        auto const one = claim(lock());
        auto const number = take(one).number;
        EXPECT_GT(number, last);
        last = number;
        if (i % 3 == 0) {
            now += 2s;  // expires
        } else {
            settle(one);
        }
    }
}

TEST_F(rules_test, an_expired_holder_makes_way_and_is_told) {
    auto const dead = claim(lock());
    auto const waiter = claim(lock("n", ordering::fair, 5s), 2);
    take(dead);
    wait_in_line(waiter);
    now += 1s;
    EXPECT_EQ(renew(waiter).found, status::alive) << "the waiter's sign of life moves the line";
    EXPECT_EQ(told<seam::claim_gone>(), 1U);
    EXPECT_EQ(renew(dead).found, status::gone);
}

TEST_F(rules_test, a_dead_waiter_is_skipped_within_its_own_lease) {
    auto const holder = claim(lock("n", ordering::fair, 10s));
    auto const dead = claim(lock("n", ordering::fair, 1s), 2);
    auto const alive = claim(lock("n", ordering::fair, 10s), 3);
    take(holder);
    wait_in_line(dead);
    wait_in_line(alive);
    now += 2s;
    settle(holder);
    EXPECT_EQ(handed_over(), std::vector{alive.id});
    EXPECT_EQ(renew(dead).found, status::gone);
}

TEST_F(rules_test, a_newcomer_queues_behind_any_waiter) {
    auto const holder = claim(lock());
    auto const waiter = claim(lock("n", ordering::fair), 2);
    auto const newcomer = claim(lock(), 3);
    take(holder);
    wait_in_line(waiter);
    settle(holder);
    EXPECT_EQ(why(submit(newcomer, false)), seam::refusal::busy);
    wait_in_line(newcomer);
    settle(waiter);
    EXPECT_EQ(handed_over(), std::vector{newcomer.id});
}

TEST_F(rules_test, a_withdrawn_waiter_is_gone_from_the_line) {
    auto const holder = claim(lock());
    auto const first = claim(lock(), 2);
    auto const second = claim(lock(), 3);
    take(holder);
    wait_in_line(first);
    wait_in_line(second);
    EXPECT_EQ(settle(first), seam::ending::released);
    settle(holder);
    EXPECT_EQ(handed_over(), std::vector{second.id});
    settle(second);
    EXPECT_EQ(size(), 0U);
}

TEST_F(rules_test, claims_of_one_owner_that_join_are_one_hold) {
    auto const owned = spec({.name = "n", .lease = 1s, .owner = "o", .joins = true});
    auto const stranger = spec({.name = "n", .lease = 1s, .owner = "p", .joins = true});
    auto const one = claim(owned, 1);
    auto const two = claim(owned, 2);
    auto const other = claim(stranger, 3);
    auto const first = take(one);
    wait_in_line(other);
    EXPECT_EQ(take(two).number, first.number) << "it joins, past the line";
    settle(one);
    EXPECT_TRUE(handed_over().empty()) << "freed when both are gone";
    settle(two);
    EXPECT_EQ(handed_over(), std::vector{other.id});
    settle(other);
    EXPECT_EQ(size(), 0U);
}

TEST_F(rules_test, what_an_owner_has_left_behind_does_not_keep_it_out) {
    auto const owned = spec({.name = "n", .lease = 10s, .owner = "o", .joins = true});
    auto const one = claim(owned, 1);
    auto const two = claim(owned, 2);
    auto const first = take(one);
    take(two);
    EXPECT_EQ(settle(two, 5000ms), seam::ending::released) << "kept, and over before the first";
    EXPECT_EQ(take(claim(owned, 3)).number, first.number);
}

TEST_F(rules_test, an_owner_that_does_not_join_waits_like_others) {
    auto const owned = spec({.name = "n", .lease = 1s, .owner = "o"});
    take(claim(owned, 1));
    wait_in_line(claim(owned, 2));
}

TEST_F(rules_test, who_comes_to_stand_before_a_kept_hold_is_told) {
    auto const holder = claim(lock("n", ordering::fair, 10s));
    auto const dead = claim(lock("n", ordering::fair, 1s), 2);
    std::vector<seam::claim> waiters;
    take(holder);
    wait_in_line(dead);
    for (std::uint64_t client = 3; client < 8; ++client) {
        waiters.push_back(claim(lock("n", ordering::fair, 10s), client));
        wait_in_line(waiters.back());
    }
    auto const expect_told = [&](std::uint64_t client) {
        ASSERT_EQ(told<seam::changed>(), 1U);
        EXPECT_EQ(notices.back().to, seam::client_id{client});
    };
    settle(holder, 5s);
    expect_told(2);
    settle(waiters[1]);
    EXPECT_TRUE(notices.empty()) << "the first is the same";
    now += 1s;
    EXPECT_EQ(renew(waiters[4]).found, status::waiting);
    expect_told(3);  // the first has died
    settle(waiters[0]);
    expect_told(5);  // withdrawn
    ask(seam::evict{.name = "n", .only = waiters[2].id});
    expect_told(6);
    now += 4s;
    EXPECT_EQ(renew(waiters[3]).found, status::alive);
    settle(waiters[3]);
    EXPECT_EQ(told<seam::changed>(), 0U) << "nothing is kept any more";
}

TEST_F(rules_test, who_stays_behind_before_kept_permits_is_told) {
    auto const kept = claim(permits(2, 3));
    auto const one = claim(permits(1, 3));
    auto const small = claim(permits(1, 3, ordering::fair), 2);
    auto const large = claim(permits(2, 3, ordering::fair), 3);
    take(kept);
    take(one);
    wait_in_line(small);
    wait_in_line(large);
    settle(kept, 500ms);
    settle(one);
    EXPECT_EQ(handed_over(), std::vector{small.id});
    ASSERT_EQ(told<seam::changed>(), 1U);
    EXPECT_EQ(notices.back().to, seam::client_id{3});
    EXPECT_EQ(renew(large).blocked_for, 500ms);
}

TEST_F(rules_test, watchers_learn_that_a_name_is_free) {
    auto const holder = claim(lock());
    ask(seam::watch{{lock_kind::lock, "n", seam::holders_part}}, 7);
    take(holder);
    settle(holder);
    EXPECT_EQ(told<seam::changed>(), 1U);
    EXPECT_EQ(notices.front().to, seam::client_id{7});
    ask(seam::unwatch{{lock_kind::lock, "n", seam::holders_part}}, 7);
    auto const again = claim(lock());
    take(again);
    settle(again);
    EXPECT_TRUE(notices.empty());
}

TEST_F(rules_test, a_look_for_deadlocks_lists_only_names_that_are_waited_for) {
    for (int i = 0; i < 1'000; ++i)
        take(claim(lock("busy/" + std::to_string(i))));
    std::vector<seam::claim> waiters;
    for (int i = 0; i < 450; ++i) {
        waiters.push_back(claim(lock("busy/" + std::to_string(i)), 2));
        waiters.back().actor = seam::actor_id{7};
        wait_in_line(waiters.back());
    }
    auto const look = [&] {
        std::vector<std::string> names;
        seam::inspect what{.prefix = "", .waited_for = true};
        do {
            auto const page = std::get<seam::page>(ask(what));
            for (auto const& one : page.names) {
                EXPECT_EQ(one.waiters.size(), 1U);
                names.push_back(one.name);
            }
            what.after = page.next;
        } while (!what.after.empty());
        EXPECT_TRUE(std::ranges::is_sorted(names));
        return names.size();
    };
    EXPECT_EQ(look(), 450U);
    for (int i = 0; i < 400; ++i)
        settle(waiters[static_cast<std::size_t>(i)]);
    EXPECT_EQ(look(), 50U);
    for (int i = 400; i < 450; ++i)
        settle(waiters[static_cast<std::size_t>(i)]);
    EXPECT_EQ(look(), 0U);
}

}  // namespace
}  // namespace holdfast::stores
