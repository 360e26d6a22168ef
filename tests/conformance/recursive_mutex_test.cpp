// recursive_mutex: counts per thread, or per explicit owner.
#include <mutex>
#include <thread>

#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

class recursive_mutex_test : public store_test {};
HOLDFAST_OVER_ALL_ROWS(recursive_mutex_test);

TEST_P(recursive_mutex_test, counts_per_thread) {
    auto client = connect();
    recursive_mutex shared{client, "q"};
    shared.lock();
    auto const token = shared.token();
    shared.lock();
    EXPECT_TRUE(shared.try_lock());
    EXPECT_TRUE(shared.try_lock_for(1s));
    EXPECT_EQ(shared.token(), token);
    EXPECT_FALSE(elsewhere([&] { return shared.try_lock(); }).get());
    for (int i = 0; i < 3; ++i) {
        shared.unlock();
        EXPECT_TRUE(shared.owns());
    }
    EXPECT_EQ(listed(client, "q").holders.size(), 1U);
    shared.unlock();
    EXPECT_FALSE(shared.owns());
    EXPECT_EQ(failure_of([&] { shared.unlock(); }), errc::not_owner);
    EXPECT_TRUE(empties(client));
}

TEST_P(recursive_mutex_test, is_one_hold_over_several_objects) {
    auto const client = connect();
    recursive_mutex outer{client, "q"};
    recursive_mutex inner{client, "q"};
    std::lock_guard const first{outer};
    std::lock_guard const second{inner};
    EXPECT_EQ(outer.token(), inner.token());
}

// Also where a plain mutex is locked in a way of its own when it is locked again.
TEST_P(recursive_mutex_test, nests_in_a_plain_hold_of_its_thread) {
    auto client = connect();
    mutex plain{client, "q"};
    mutex longer{client, "q", {.lease = 60s}};
    recursive_mutex nested{client, "q"};
    for (auto* const outer : {&plain, &plain, &longer, &longer, &plain}) {
        outer->lock();
        auto const token = outer->token();
        auto const requests = client.metrics()["requests"];
        ASSERT_TRUE(nested.try_lock_for(2s));
        EXPECT_EQ(nested.token(), token);
        auto again = nested.acquire();
        EXPECT_EQ(again.token(), token);
        EXPECT_EQ(client.metrics()["requests"], requests);
        outer->unlock();
        EXPECT_TRUE(nested.owns());
        EXPECT_EQ(again.release(), release_outcome::released);
        EXPECT_FALSE(elsewhere([&] { return plain.try_lock(); }).get());
        nested.unlock();
        EXPECT_EQ(failure_of([&] { outer->unlock(); }), errc::not_owner);
    }
    EXPECT_TRUE(empties(client));
}

TEST_P(recursive_mutex_test, begins_anew_after_the_loss_of_a_plain_hold) {
    auto const client = connect();
    auto other = connect();
    mutex plain{client, "q"};
    recursive_mutex nested{client, "q"};
    plain.lock();
    plain.unlock();
    plain.lock();
    auto const before = plain.token();
    EXPECT_EQ(other.evict("q"), 1U);
    EXPECT_TRUE(eventually([&] { return !plain.owns(); }));
    ASSERT_TRUE(nested.try_lock_for(patience));
    EXPECT_GT(nested.token(), before);
    nested.unlock();
    EXPECT_NO_THROW(plain.unlock());
    EXPECT_TRUE(empties(other));
}

TEST_P(recursive_mutex_test, nests_without_a_round_trip) {
    if (!can({ability::joint_owners})) return;
    auto client = connect();
    recursive_mutex shared{client, "q"};
    recursive_mutex owned{client, "r", {.owner = "job"}};
    std::lock_guard const guard{shared};
    auto const held = owned.acquire();
    auto const requests = client.metrics()["requests"];
    for (int i = 0; i < 100; ++i) {
        std::lock_guard const nested{shared};
        auto const again = owned.acquire();
        EXPECT_EQ(again.token(), held.token());
    }
    EXPECT_EQ(client.metrics()["requests"], requests);
}

TEST_P(recursive_mutex_test, leases_nest_and_end_with_the_last) {
    auto client = connect();
    auto const other = connect();
    recursive_mutex shared{client, "q"};
    mutex theirs{other, "q"};
    auto outer = shared.acquire();
    auto inner = shared.acquire();
    shared.lock();
    EXPECT_EQ(inner.token(), outer.token());
    EXPECT_EQ(shared.token(), outer.token());
    EXPECT_EQ(outer.release(), release_outcome::released);
    EXPECT_EQ(outer.release(), release_outcome::released);
    EXPECT_EQ(outer.state(), lease_state::released);
    shared.unlock();
    EXPECT_TRUE(inner.held());
    EXPECT_FALSE(theirs.try_lock());
    EXPECT_EQ(inner.release(), release_outcome::released);
    EXPECT_TRUE(theirs.try_lock());
    theirs.unlock();
    EXPECT_TRUE(empties(client));
}

TEST_P(recursive_mutex_test, counts_per_owner_across_threads) {
    if (!can({ability::joint_owners})) return;
    auto client = connect();
    recursive_mutex shared{client, "q", {.owner = "job 7"}};
    recursive_mutex stranger{client, "q", {.owner = "job 8"}};
    shared.lock();
    auto const token = shared.token();
    elsewhere([&] {
        EXPECT_TRUE(shared.try_lock());
        EXPECT_EQ(shared.token(), token);
        EXPECT_FALSE(stranger.try_lock());
    }).get();
    shared.unlock();
    EXPECT_TRUE(shared.owns());
    elsewhere([&] { shared.unlock(); }).get();
    EXPECT_FALSE(shared.owns());
    EXPECT_TRUE(empties(client));
}

TEST_P(recursive_mutex_test, of_one_owner_is_one_hold_across_clients) {
    if (!can({ability::joint_owners})) return;
    auto ours = connect();
    auto const theirs = connect();
    auto const others = connect();
    lock_options const same{.owner = "job 7"};
    recursive_mutex mine{ours, "q", same};
    recursive_mutex their{theirs, "q", same};
    recursive_mutex stranger{others, "q", {.owner = "job 8"}};
    mutex plain{others, "q"};
    auto first = mine.acquire();
    auto second = their.acquire();
    EXPECT_EQ(first.token(), second.token());
    EXPECT_EQ(listed(ours, "q").holders.size(), 2U);
    EXPECT_FALSE(stranger.try_acquire());
    EXPECT_FALSE(plain.try_acquire());
    EXPECT_EQ(first.release(), release_outcome::released);
    EXPECT_TRUE(second.held());
    EXPECT_EQ(second.renew(), lease_state::held);
    EXPECT_FALSE(stranger.try_acquire());
    EXPECT_EQ(second.release(), release_outcome::released);
    auto const third = stranger.try_acquire();
    ASSERT_TRUE(third);
    EXPECT_GT(third->token(), second.token());
}

TEST_P(recursive_mutex_test, of_one_owner_joins_past_what_it_has_left_behind) {
    if (!can({ability::joint_owners})) return;
    auto const ours = connect();
    auto const theirs = connect();
    auto const others = connect();
    recursive_mutex mine{ours, "q", {.owner = "job 7"}};
    recursive_mutex brief{theirs, "q", {.min_hold = 5s, .owner = "job 7"}};
    recursive_mutex next{others, "q", {.owner = "job 7"}};
    auto const held = mine.acquire();
    EXPECT_EQ(brief.acquire().release(), release_outcome::released);
    auto const joined = next.try_acquire();
    ASSERT_TRUE(joined) << "the name is kept for a while, but from strangers only";
    EXPECT_EQ(joined->token(), held.token());
}

// Both waited behind a stranger: when the owner's turn comes, it comes for both.
TEST_P(recursive_mutex_test, lets_all_waiters_of_one_owner_in_together) {
    if (!can({ability::joint_owners, ability::line})) return;
    auto ours = connect();
    auto const theirs = connect();
    lock_options const same{.owner = "job 7"};
    recursive_mutex mine{ours, "q", same};
    recursive_mutex their{theirs, "q", same};
    mutex stranger{ours, "q"};
    auto blocking = stranger.acquire();
    auto one = elsewhere([&] { return mine.acquire(); });
    EXPECT_TRUE(waits(ours, "q", 1));
    auto two = elsewhere([&] { return their.acquire(); });
    EXPECT_TRUE(waits(ours, "q", 2));
    EXPECT_EQ(blocking.release(), release_outcome::released);
    ASSERT_TRUE(ready(one));
    auto const first = one.get();
    EXPECT_TRUE(ready(two, 10s)) << "the second waiter of the owner waits for the first";
    if (!ready(two, 0s)) ours.evict("q");
    EXPECT_EQ(two.get().token(), first.token());
}

TEST_P(recursive_mutex_test, begins_anew_after_loss) {
    auto const client = connect();
    auto other = connect();
    recursive_mutex shared{client, "q"};
    shared.lock();
    auto const before = shared.token();
    EXPECT_EQ(other.evict("q"), 1U);
    EXPECT_TRUE(eventually([&] { return !shared.owns(); }));
    shared.lock();
    EXPECT_GT(shared.token(), before);
    shared.unlock();
    EXPECT_NO_THROW(shared.unlock());
    EXPECT_TRUE(empties(other));
}

}  // namespace

}  // namespace holdfast::conformance
