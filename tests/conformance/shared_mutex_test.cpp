// shared_mutex: readers together, writers alone, nobody starves.
#include <atomic>
#include <latch>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

class shared_mutex_test : public store_test {};
HOLDFAST_OVER_ROWS_WITH(shared_mutex_test, ability::shared_holds);

TEST_P(shared_mutex_test, readers_hold_together_and_exclude_writers) {
    auto const one = connect();
    auto const two = connect();
    shared_mutex ours{one, "q"};
    shared_mutex theirs{two, "q"};
    auto first = ours.acquire_shared();
    auto second = theirs.try_acquire_shared();
    ASSERT_TRUE(second);
    EXPECT_FALSE(theirs.try_acquire());
    EXPECT_FALSE(mutex(one, "q").try_acquire());
    EXPECT_EQ(first.release(), release_outcome::released);
    EXPECT_FALSE(ours.try_acquire());
    EXPECT_EQ(second->release(), release_outcome::released);
    auto const writer = ours.try_acquire();
    ASSERT_TRUE(writer);
    EXPECT_FALSE(theirs.try_acquire_shared());
    EXPECT_GT(writer->token(), 0U);
}

TEST_P(shared_mutex_test, a_writer_has_a_higher_token_than_the_readers_before_it) {
    auto const client = connect();
    shared_mutex shared{client, "q"};
    std::uint64_t highest = 0;
    for (int i = 0; i < 10; ++i) {
        auto reader = shared.acquire_shared();
        EXPECT_GT(reader.token(), highest);
        highest = reader.token();
        EXPECT_EQ(reader.release(), release_outcome::released);
        auto writer = shared.acquire();
        EXPECT_GT(writer.token(), highest);
        highest = writer.token();
        EXPECT_EQ(writer.release(), release_outcome::released);
    }
}

TEST_P(shared_mutex_test, a_waiting_writer_stops_new_readers) {
    if (!can({ability::line})) return;
    auto client = connect();
    auto const other = connect();
    shared_mutex shared{client, "q"};
    auto reader = shared.acquire_shared();
    auto writing = elsewhere([&] { return shared_mutex(other, "q").acquire(); });
    ASSERT_TRUE(waits(client, "q", 1));
    EXPECT_FALSE(shared.try_acquire_shared());
    EXPECT_EQ(reader.release(), release_outcome::released);
    ASSERT_TRUE(ready(writing));
    EXPECT_TRUE(writing.get().held());
}

TEST_P(shared_mutex_test, readers_that_waited_behind_a_writer_go_in_together) {
    constexpr int readers = 20;
    auto client = connect();
    std::vector<holdfast::client> others;
    for (int i = 0; i < 4; ++i)
        others.push_back(connect());
    auto writer = shared_mutex(client, "q").acquire();
    std::latch inside{readers};
    std::vector<std::future<bool>> waiting;
    for (int i = 0; i < readers; ++i) {
        waiting.push_back(elsewhere([&, i] {
            auto const mine =
                shared_mutex(others[static_cast<std::size_t>(i) % 4], "q").acquire_shared();
            inside.arrive_and_wait();  // ends only when all are in
            return mine.held();
        }));
    }
    ASSERT_TRUE(!GetParam().can(ability::line) || waits(client, "q", readers));
    EXPECT_EQ(writer.release(), release_outcome::released);
    for (auto& it : waiting) {
        ASSERT_TRUE(ready(it));
        EXPECT_TRUE(it.get());
    }
}

TEST_P(shared_mutex_test, downgrade_leaves_no_gap_and_lets_readers_in) {
    auto client = connect();
    auto const other = connect();
    shared_mutex ours{client, "q"};
    shared_mutex theirs{other, "q"};
    auto held = ours.acquire();
    auto const token = held.token();
    auto reading = elsewhere([&] { return theirs.acquire_shared(); });
    // Readers have no line of their own at a client: where the store has none, nobody can be seen to wait.
    ASSERT_TRUE(!GetParam().can(ability::line) || waits(client, "q", 1));
    ours.downgrade(held);
    ASSERT_TRUE(ready(reading));
    EXPECT_TRUE(held.held());
    EXPECT_EQ(held.token(), token);
    EXPECT_FALSE(theirs.try_acquire());
    ours.downgrade(held);  // once more changes nothing
    EXPECT_EQ(held.release(), release_outcome::released);
    EXPECT_EQ(reading.get().release(), release_outcome::released);
    EXPECT_TRUE(theirs.try_acquire_for(10s));
}

TEST_P(shared_mutex_test, downgrade_wants_a_lease_of_its_own_name) {
    auto const client = connect();
    shared_mutex shared{client, "q"};
    auto other = mutex(client, "another").acquire();
    EXPECT_EQ(failure_of([&] { shared.downgrade(other); }), errc::not_owner);
    lease empty;
    EXPECT_EQ(failure_of([&] { shared.downgrade(empty); }), errc::not_owner);
    auto held = shared.acquire();
    EXPECT_EQ(held.release(), release_outcome::released);
    EXPECT_EQ(failure_of([&] { shared.downgrade(held); }), errc::lost);
}

TEST_P(shared_mutex_test, a_thread_that_holds_one_side_may_not_wait_for_the_other) {
    auto const client = connect();
    shared_mutex shared{client, "q"};
    shared.lock_shared();
    EXPECT_EQ(failure_of([&] { shared.lock(); }), errc::would_deadlock);
    EXPECT_EQ(failure_of([&] { shared.lock_shared(); }), errc::would_deadlock);
    EXPECT_FALSE(shared.try_lock());
    shared.unlock_shared();
    EXPECT_EQ(failure_of([&] { shared.unlock_shared(); }), errc::not_owner);
    shared.lock();
    EXPECT_EQ(failure_of([&] { shared.lock_shared(); }), errc::would_deadlock);
    EXPECT_EQ(failure_of([&] { shared.unlock_shared(); }), errc::not_owner);
    shared.unlock();
}

TEST_P(shared_mutex_test, works_with_the_standard_wrappers) {
    auto const client = connect();
    shared_mutex shared{client, "q"};
    {
        std::shared_lock const reader{shared};
        EXPECT_TRUE(reader.owns_lock());
    }
    std::shared_lock timed{shared, 10s};
    EXPECT_TRUE(timed.owns_lock());
    timed.unlock();
    std::unique_lock const writer{shared};
    EXPECT_TRUE(shared.owns());
}

TEST_P(shared_mutex_test, a_stop_ends_the_wait_of_a_reader) {
    auto client = connect();
    auto const other = connect();
    auto const writer = shared_mutex(client, "q").acquire();
    std::stop_source stop;
    auto waiting =
        elsewhere([&] { return shared_mutex(other, "q").acquire_shared(stop.get_token()); });
    ASSERT_TRUE(!GetParam().can(ability::line) || waits(client, "q", 1));
    stop.request_stop();
    ASSERT_TRUE(ready(waiting));
    EXPECT_FALSE(waiting.get());
    EXPECT_TRUE(waits(client, "q", 0));
}

TEST_P(shared_mutex_test, a_dead_reader_delays_a_writer_by_no_more_than_its_lease) {
    if (!can({ability::processes})) return;
    auto const client = connect();
    (void)store().kill_holder("q", 2s);
    EXPECT_TRUE(shared_mutex(client, "q").try_acquire_for(10s));
}

TEST_P(shared_mutex_test, readers_and_writers_in_a_crowd) {
    std::vector<holdfast::client> clients;
    for (int i = 0; i < 4; ++i)
        clients.push_back(connect());
    std::atomic<int> readers{0};
    std::atomic<int> writers{0};
    std::atomic<int> conflicts{0};
    bool const some_fair = GetParam().can(ability::fair_order);
    {
        std::vector<std::jthread> crowd;
        for (int i = 0; i < 12; ++i) {
            crowd.emplace_back([&, i] {
                auto const order = some_fair && i % 3 == 0 ? ordering::fair : ordering::barging;
                shared_mutex shared{
                    clients[static_cast<std::size_t>(i) % 4], "q", {.order = order}};
                for (int k = 0; k < 40; ++k) {
                    if ((i + k) % 4 == 0) {
                        std::unique_lock const writer{shared};
                        conflicts += ++writers != 1 || readers != 0;
                        --writers;
                    } else {
                        std::shared_lock const reader{shared};
                        ++readers;
                        conflicts += writers != 0;
                        --readers;
                    }
                }
            });
        }
    }
    EXPECT_EQ(conflicts, 0);
    EXPECT_TRUE(empties(clients.front()));
}

}  // namespace

}  // namespace holdfast::conformance
