// mutex: ownership by thread, exclusion, and what it refuses.
#include <thread>

#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

class mutex_test : public store_test {};
HOLDFAST_OVER_ALL_ROWS(mutex_test);

TEST_P(mutex_test, locks_and_unlocks) {
    auto client = connect();
    mutex orders{client, "orders/42"};
    EXPECT_EQ(orders.name(), "orders/42");
    EXPECT_FALSE(orders.owns());
    orders.lock();
    EXPECT_TRUE(orders.owns());
    EXPECT_GT(orders.token(), 0U);
    EXPECT_EQ(listed(client, "orders/42").holders.size(), 1U);
    orders.unlock();
    EXPECT_FALSE(orders.owns());
    EXPECT_TRUE(empties(client));
}

TEST_P(mutex_test, excludes_other_clients) {
    auto ours = connect();
    auto theirs = connect();
    mutex mine{ours, "q"};
    mutex their{theirs, "q"};
    mine.lock();
    EXPECT_FALSE(their.try_lock());
    EXPECT_FALSE(their.try_acquire());
    EXPECT_TRUE(ends_with_its_time([&](auto time) { return their.try_lock_for(time); }));
    mine.unlock();
    EXPECT_TRUE(their.try_lock_for(patience));
    EXPECT_FALSE(mine.try_lock());
    their.unlock();
}

TEST_P(mutex_test, excludes_other_threads_of_the_client) {
    auto const client = connect();
    mutex shared{client, "q"};
    mutex twin{client, "q"};
    shared.lock();
    EXPECT_FALSE(elsewhere([&] { return shared.try_lock(); }).get());
    EXPECT_FALSE(elsewhere([&] { return twin.try_lock(); }).get());
    shared.unlock();
    EXPECT_TRUE(elsewhere([&] {
                    bool const got = twin.try_lock_for(patience);
                    if (got) twin.unlock();
                    return got;
                }).get());
}

TEST_P(mutex_test, relock_by_its_thread_would_deadlock_at_once) {
    auto const client = connect();
    mutex shared{client, "q"};
    mutex twin{client, "q"};
    shared.lock();
    stopwatch const since;
    EXPECT_EQ(failure_of([&] { shared.lock(); }), errc::would_deadlock);
    EXPECT_EQ(failure_of([&] { twin.lock(); }), errc::would_deadlock);
    EXPECT_EQ(failure_of([&] { return shared.lock(std::stop_token{}); }), errc::would_deadlock);
    EXPECT_LT(since.elapsed(), 10s);
    EXPECT_TRUE(shared.owns());
    shared.unlock();
}

TEST_P(mutex_test, try_lock_by_its_owner_is_false) {
    auto const client = connect();
    mutex shared{client, "q"};
    shared.lock();
    EXPECT_FALSE(shared.try_lock());
    EXPECT_FALSE(shared.try_lock_for(10ms));
    EXPECT_FALSE(shared.try_lock_until(std::chrono::steady_clock::now() + 10ms));
    EXPECT_TRUE(shared.owns());
    shared.unlock();
    EXPECT_FALSE(shared.owns());
}

TEST_P(mutex_test, acquire_by_the_holding_thread_queues) {
    auto client = connect();
    mutex shared{client, "q"};
    auto first = shared.acquire();
    EXPECT_TRUE(ends_with_its_time([&](auto time) { return shared.try_acquire_for(time); }));
    auto helper = elsewhere(
        [&] { return waits(client, "q", 1) && first.release() == release_outcome::released; });
    auto const second = shared.acquire();
    EXPECT_TRUE(helper.get());
    EXPECT_GT(second.token(), first.token());
}

TEST_P(mutex_test, a_deadline_that_has_passed_however_long_ago_is_one_attempt) {
    auto const client = connect();
    auto const other = connect();
    mutex mine{client, "q"};
    EXPECT_TRUE(mine.try_lock_until(std::chrono::steady_clock::time_point::min()));
    mutex theirs{other, "q"};
    EXPECT_FALSE(theirs.try_lock_until(std::chrono::system_clock::time_point::min()));
    EXPECT_FALSE(theirs.try_acquire_until(std::chrono::steady_clock::time_point::min()));
    mine.unlock();
}

TEST_P(mutex_test, unlock_by_a_stranger_is_refused_and_harms_nothing) {
    auto client = connect();
    mutex shared{client, "q"};
    EXPECT_EQ(failure_of([&] { shared.unlock(); }), errc::not_owner);
    shared.lock();
    EXPECT_EQ(elsewhere([&] { return failure_of([&] { shared.unlock(); }); }).get(),
              errc::not_owner);
    EXPECT_TRUE(shared.owns());
    EXPECT_EQ(listed(client, "q").holders.size(), 1U);
    shared.unlock();
    EXPECT_EQ(failure_of([&] { shared.unlock(); }), errc::not_owner);
}

TEST_P(mutex_test, unlock_by_another_client_is_refused_and_harms_nothing) {
    auto ours = connect();
    auto const theirs = connect();
    mutex mine{ours, "q"};
    mutex their{theirs, "q"};
    mine.lock();
    EXPECT_EQ(failure_of([&] { their.unlock(); }), errc::not_owner);
    EXPECT_EQ(listed(ours, "q").holders.size(), 1U);
    mine.unlock();
}

TEST_P(mutex_test, a_lease_is_not_the_hold_of_a_thread) {
    auto const client = connect();
    mutex shared{client, "q"};
    auto const held = shared.acquire();
    EXPECT_FALSE(shared.owns());
    EXPECT_EQ(failure_of([&] { shared.unlock(); }), errc::not_owner);
    EXPECT_TRUE(held.held());
}

TEST_P(mutex_test, unlock_after_loss_is_quiet) {
    auto ours = connect();
    auto theirs = connect();
    mutex mine{ours, "q"};
    mine.lock();
    auto const lost = mine.lost();
    EXPECT_EQ(theirs.evict("q"), 1U);
    EXPECT_TRUE(eventually([&] { return !mine.owns(); }));
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
    mine.lock();  // what was lost does not stand in the way
    EXPECT_TRUE(mine.owns());
    EXPECT_NO_THROW(mine.unlock());
    EXPECT_NO_THROW(mine.unlock());
    EXPECT_EQ(failure_of([&] { mine.unlock(); }), errc::not_owner);
    EXPECT_TRUE(empties(theirs));
}

// Also where one that is alone takes up again what it has put aside.
TEST_P(mutex_test, a_lost_hold_is_unlocked_quietly_after_others_have_held) {
    if (!can({ability::line})) return;  // a quorum may repair what is being evicted
    auto ours = connect();
    auto theirs = connect();
    mutex mine{ours, "q"};
    mine.lock();
    mine.unlock();
    mine.lock();
    EXPECT_EQ(theirs.evict("q"), 1U);
    EXPECT_TRUE(eventually([&] { return !mine.owns(); }));
    elsewhere([&] {
        mutex same{ours, "q"};
        for (int i = 0; i < 3; ++i) {
            same.lock();
            EXPECT_TRUE(same.owns());
            same.unlock();
        }
    }).get();
    EXPECT_NO_THROW(mine.unlock());
    mine.lock();
    mine.unlock();
    mine.lock();
    EXPECT_EQ(theirs.evict("q"), 1U);
    EXPECT_TRUE(eventually([&] { return !mine.owns(); }));
    EXPECT_NO_THROW(mine.lock());  // what was lost does not stand in the way
    EXPECT_TRUE(mine.owns());
    EXPECT_NO_THROW(mine.unlock());
    EXPECT_NO_THROW(mine.unlock());
    EXPECT_TRUE(empties(theirs));
}

TEST_P(mutex_test, token_and_loss_belong_to_the_holding_thread) {
    auto const client = connect();
    mutex shared{client, "q"};
    EXPECT_EQ(failure_of([&] { return shared.token(); }), errc::not_owner);
    EXPECT_EQ(failure_of([&] { return shared.lost(); }), errc::not_owner);
    shared.lock();
    EXPECT_GT(shared.token(), 0U);
    EXPECT_FALSE(shared.lost().stop_requested());
    elsewhere([&] {
        EXPECT_FALSE(shared.owns());
        EXPECT_EQ(failure_of([&] { return shared.token(); }), errc::not_owner);
        EXPECT_EQ(failure_of([&] { return shared.lost(); }), errc::not_owner);
    }).get();
    shared.unlock();
}

TEST_P(mutex_test, lives_as_long_as_its_hold_needs_the_client) {
    auto watcher = connect();
    {
        lease held;
        {
            auto const client = connect();
            mutex shared{client, "q"};
            held = shared.acquire();
        }
        EXPECT_TRUE(held.held());
        EXPECT_EQ(held.renew(), lease_state::held);
    }
    EXPECT_TRUE(empties(watcher));
}

}  // namespace

}  // namespace holdfast::conformance
