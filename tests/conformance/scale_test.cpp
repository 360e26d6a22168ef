// Many waiters, readers and parties at once.
#include <algorithm>
#include <latch>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

class scale_test : public store_test {
protected:
    static constexpr std::size_t processes = 8;

    [[nodiscard]] std::vector<client> connect_all() const {
        std::vector<client> out;
        for (std::size_t i = 0; i < processes; ++i)
            out.push_back(connect());
        return out;
    }
};
HOLDFAST_OVER_ALL_ROWS(scale_test);

TEST_P(scale_test, a_thousand_waiters_of_a_fair_lock_are_served_in_order_of_arrival) {
    if (!can({ability::fair_order, ability::line})) return;
    constexpr std::size_t waiters = 1'000;
    auto clients = connect_all();
    auto held = mutex(clients[0], "q", {.order = ordering::fair}).acquire();
    std::mutex guard;
    std::vector<std::string> served;
    std::uint64_t highest = held.token();
    int tokens_that_fell = 0;
    {
        std::vector<std::jthread> crowd;
        for (std::size_t i = 0; i < waiters; ++i) {
            crowd.emplace_back([&, i] {
                auto const label = std::to_string(i);
                mutex mine{clients[i % processes], "q", {.order = ordering::fair, .label = label}};
                auto const turn = mine.acquire();
                std::lock_guard const one{guard};
                served.push_back(label);
                tokens_that_fell += turn.token() <= std::exchange(highest, turn.token());
            });
        }
        ASSERT_TRUE(waits(clients[0], "q", waiters));
        auto line = listed(clients[0], "q").waiters;
        EXPECT_TRUE(std::ranges::is_sorted(line, {}, &claim_info::arrival));
        EXPECT_EQ(held.release(), release_outcome::released);
        crowd.clear();
        ASSERT_EQ(served.size(), line.size());
        EXPECT_TRUE(std::ranges::equal(line, served, {}, &claim_info::label));
    }
    EXPECT_EQ(tokens_that_fell, 0);
    EXPECT_TRUE(empties(clients[0]));
}

TEST_P(scale_test, a_hold_outlives_the_release_of_many_others) {
    constexpr std::size_t many = 20'000;
    auto const client = connect();
    auto const mine = mutex(client, "mine", {.lease = 3s}).acquire();
    std::string last;
    {
        std::vector<lease> others;
        stopwatch const since;  // some stores take minutes for all of them
        while (others.size() < many && (others.size() < 500 || since.elapsed() < 20s)) {
            last = "other/" + std::to_string(others.size());
            others.push_back(mutex(client, last).acquire());
        }
    }
    // Two leases later everything has been renewed, or lost, under the load.
    EXPECT_TRUE(throughout(6s, [&] { return mine.held(); })) << mine.loss_reason();
    EXPECT_TRUE(eventually([&] { return mutex(client, last).try_lock(); }));
}

TEST_P(scale_test, two_hundred_readers_go_in_together) {
    if (!can({ability::shared_holds, ability::line})) return;
    constexpr std::size_t readers = 200;
    auto clients = connect_all();
    auto writer = shared_mutex(clients[0], "q").acquire();
    std::latch inside{readers + 1};
    std::latch leaving{1};
    {
        std::vector<std::jthread> crowd;
        for (std::size_t i = 0; i < readers; ++i) {
            crowd.emplace_back([&, i] {
                auto const mine = shared_mutex(clients[i % processes], "q").acquire_shared();
                inside.arrive_and_wait();  // ends only when all are in
                leaving.wait();
            });
        }
        ASSERT_TRUE(waits(clients[0], "q", readers));
        EXPECT_EQ(writer.release(), release_outcome::released);
        inside.arrive_and_wait();
        EXPECT_EQ(listed(clients[0], "q").holders.size(), readers);
        leaving.count_down();
    }
    EXPECT_TRUE(empties(clients[0]));
}

TEST_P(scale_test, a_hundred_waiters_of_a_condition_are_told_at_once) {
    if (!can({ability::conditions})) return;
    constexpr std::size_t waiters = 100;
    auto clients = connect_all();
    bool opened = false;
    {
        std::vector<std::jthread> crowd;
        for (std::size_t i = 0; i < waiters; ++i) {
            crowd.emplace_back([&, i] {
                mutex guard{clients[i % processes], "m"};
                std::unique_lock lock{guard};
                condition_variable(clients[i % processes], "c").wait(lock, [&] { return opened; });
            });
        }
        EXPECT_TRUE(waits(clients[0], "c", waiters));
        {
            mutex guard{clients[0], "m"};
            std::lock_guard const lock{guard};
            opened = true;
        }
        condition_variable(clients[0], "c").notify_all();
    }
    EXPECT_TRUE(empties(clients[0]));
}

TEST_P(scale_test, five_hundred_wait_for_one_latch) {
    if (!can({ability::latches})) return;
    constexpr std::size_t waiters = 500;
    auto clients = connect_all();
    std::latch done{waiters};
    std::vector<std::jthread> crowd;
    for (std::size_t i = 0; i < waiters; ++i) {
        crowd.emplace_back([&, i] {
            latch(clients[i % processes], "q", 1).wait();
            done.count_down();
        });
    }
    latch(clients[0], "q", 1).count_down();
    EXPECT_TRUE(eventually([&] { return done.try_wait(); }));
}

}  // namespace

}  // namespace holdfast::conformance
