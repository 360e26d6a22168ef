// semaphore: owned and leased permits under one agreed limit.
#include <atomic>
#include <thread>
#include <vector>

#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

class semaphore_test : public store_test {};
HOLDFAST_OVER_ROWS_WITH(semaphore_test, ability::semaphores);

TEST_P(semaphore_test, permits_run_out_and_come_back) {
    auto const one = connect();
    auto const two = connect();
    semaphore ours{one, "q", 3};
    semaphore theirs{two, "q", 3};
    ours.acquire(2);
    EXPECT_EQ(theirs.available(), 1U);
    EXPECT_FALSE(theirs.try_acquire(2));
    EXPECT_TRUE(theirs.try_acquire());
    EXPECT_EQ(ours.available(), 0U);
    EXPECT_TRUE(ends_with_its_time([&](auto time) { return ours.try_acquire_for(time); }));
    ours.release(2);
    EXPECT_TRUE(theirs.try_acquire_for(10s, 2));
    theirs.release(3);
    EXPECT_TRUE(eventually([&] { return ours.available() == 3; }));
}

TEST_P(semaphore_test, several_permits_can_be_given_back_one_by_one) {
    auto const client = connect();
    semaphore permits{client, "q", 5};
    permits.acquire(5);
    for (std::uint32_t free = 1; free <= 5; ++free) {
        permits.release();
        EXPECT_TRUE(eventually([&] { return permits.available() == free; })) << free;
    }
    EXPECT_EQ(failure_of([&] { permits.release(); }), errc::not_owner);
}

TEST_P(semaphore_test, a_release_of_more_than_is_held_gives_back_none) {
    auto const client = connect();
    semaphore permits{client, "q", 3};
    permits.acquire(2);
    EXPECT_EQ(failure_of([&] { permits.release(3); }), errc::not_owner);
    EXPECT_EQ(failure_of([&] { permits.release(0); }), errc::not_owner);
    EXPECT_EQ(permits.available(), 1U);
    semaphore{client, "q", 3}.release(2);  // any object and thread of the client may
    EXPECT_TRUE(eventually([&] { return permits.available() == 3; }));
}

TEST_P(semaphore_test, permits_outlive_the_object_that_acquired_them) {
    auto client = connect();
    semaphore{client, "q", 3}.acquire(2);
    for (int i = 0; i < 300; ++i)  // what nobody needs is swept now and then
        (void)semaphore{client, "other " + std::to_string(i), 1};
    semaphore again{client, "q", 3};
    EXPECT_EQ(again.available(), 1U);
    again.release();
    EXPECT_TRUE(eventually([&] { return again.available() == 2; }));
    auto const lost = again.lost();
    EXPECT_EQ(client.evict("q"), 1U);
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
    again.release();
    EXPECT_EQ(failure_of([&] { again.release(); }), errc::not_owner);
}

TEST_P(semaphore_test, wishes_that_can_never_be_met_are_refused_at_once) {
    auto const client = connect();
    semaphore permits{client, "q", 3};
    EXPECT_EQ(failure_of([&] { permits.acquire(4); }), errc::bad_option);
    EXPECT_EQ(failure_of([&] { permits.acquire(0); }), errc::bad_option);
    EXPECT_EQ(failure_of([&] { semaphore(client, "q", 0); }), errc::bad_option);
    EXPECT_EQ(failure_of([&] { permits.set_limit(0); }), errc::bad_option);
}

TEST_P(semaphore_test, a_limit_may_be_as_large_as_its_type) {
    auto const client = connect();
    semaphore permits{client, "q", 4'000'000'000};
    auto const most = permits.acquire_lease(3'000'000'000);
    EXPECT_FALSE(permits.try_acquire(3'000'000'000)) << "together they are more than the limit";
    EXPECT_EQ(permits.available(), 1'000'000'000U);
    EXPECT_TRUE(permits.try_acquire(1'000'000'000));
}

TEST_P(semaphore_test, clients_must_agree_on_the_limit) {
    auto const one = connect();
    auto const two = connect();
    semaphore ours{one, "q", 3};
    auto const held = ours.acquire_lease();
    semaphore theirs{two, "q", 4};
    EXPECT_EQ(failure_of([&] { theirs.acquire(); }), errc::limit_mismatch);
    EXPECT_EQ(failure_of([&] { return theirs.available(); }), errc::limit_mismatch);
    EXPECT_EQ(ours.available(), 2U);
}

TEST_P(semaphore_test, a_name_has_one_kind) {
    auto const client = connect();
    semaphore permits{client, "q", 3};
    mutex lock{client, "q"};
    {
        auto const held = permits.acquire_lease();
        EXPECT_EQ(failure_of([&] { lock.lock(); }), errc::kind_mismatch);
    }
    EXPECT_TRUE(eventually([&] { return failure_of([&] { lock.lock(); }) == std::error_code{}; }));
    EXPECT_EQ(failure_of([&] { permits.acquire(); }), errc::kind_mismatch);
    lock.unlock();
}

TEST_P(semaphore_test, the_limit_in_force_can_be_changed) {
    auto const one = connect();
    auto const two = connect();
    semaphore ours{one, "q", 4};
    semaphore theirs{two, "q", 4};
    ours.set_limit(2);
    EXPECT_EQ(theirs.limit(), 2U);
    ours.acquire(2);
    auto waiting = elsewhere([&] { return theirs.acquire_lease(2); });
    EXPECT_TRUE(
        eventually([&] { return listed(const_cast<client&>(one), "q").waiters.size() == 1; }));
    ours.set_limit(1);  // below what is out: nothing is free until it has come back
    EXPECT_EQ(ours.available(), 0U);
    ours.set_limit(4);
    ASSERT_TRUE(ready(waiting));
    ours.release(2);
}

TEST_P(semaphore_test, in_fair_order_small_wishes_do_not_overtake_a_large_one) {
    auto client = connect();
    auto const other = connect();
    lock_options const fair{.order = ordering::fair};
    semaphore ours{client, "q", 3, fair};
    semaphore theirs{other, "q", 3, fair};
    ours.acquire(2);
    auto large = elsewhere([&] { return theirs.acquire_lease(3); });
    ASSERT_TRUE(waits(client, "q", 1));
    EXPECT_FALSE(ours.try_acquire());  // one is free, but not before the large one
    ours.release(2);
    ASSERT_TRUE(ready(large));
}

TEST_P(semaphore_test, a_stop_ends_the_wait) {
    auto client = connect();
    semaphore permits{client, "q", 1};
    auto const held = permits.acquire_lease();
    std::stop_source stop;
    auto waiting = elsewhere([&] { return permits.acquire(1, stop.get_token()); });
    ASSERT_TRUE(waits(client, "q", 1));
    stop.request_stop();
    ASSERT_TRUE(ready(waiting));
    EXPECT_FALSE(waiting.get());
    EXPECT_TRUE(waits(client, "q", 0));
}

TEST_P(semaphore_test, lost_permits_are_told) {
    auto client = connect();
    semaphore permits{client, "q", 3};
    permits.acquire(2);
    auto const lost = permits.lost();
    EXPECT_FALSE(lost.stop_requested());
    EXPECT_EQ(client.evict("q"), 1U);
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
    permits.release(2);  // quiet, like the unlock of a lost mutex
    EXPECT_FALSE(permits.lost().stop_requested());
    EXPECT_EQ(permits.available(), 3U);
}

TEST_P(semaphore_test, a_listing_shows_permits_and_limit) {
    auto client = connect();
    semaphore permits{client, "q", 7};
    auto const held = permits.acquire_lease(3);
    auto const info = listed(client, "q");
    EXPECT_EQ(info.kind, lock_kind::semaphore);
    EXPECT_EQ(info.limit, 7U);
    ASSERT_EQ(info.holders.size(), 1U);
    EXPECT_EQ(info.holders.front().permits, 3U);
    EXPECT_EQ(info.holders.front().mode, claim_mode::permits);
}

TEST_P(semaphore_test, never_more_than_the_limit_in_a_crowd) {
    constexpr int limit = 10;
    std::vector<client> clients;
    for (int i = 0; i < 8; ++i)
        clients.push_back(connect());
    std::atomic<int> out{0};
    std::atomic<int> highest{0};
    {
        std::vector<std::jthread> crowd;
        for (int i = 0; i < 200; ++i) {
            crowd.emplace_back([&, i] {
                semaphore permits{clients[static_cast<std::size_t>(i) % 8], "q", limit};
                for (int k = 0; k < 3; ++k) {
                    int const n = 1 + (i + k) % 3;
                    auto const held = permits.acquire_lease(static_cast<std::uint32_t>(n));
                    int const now = out += n;
                    int seen = highest;
                    while (now > seen && !highest.compare_exchange_weak(seen, now)) {}
                    out -= n;
                }
            });
        }
    }
    EXPECT_LE(highest, limit);
    EXPECT_TRUE(empties(clients.front()));
}

}  // namespace

}  // namespace holdfast::conformance
