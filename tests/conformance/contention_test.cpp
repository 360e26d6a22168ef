// Many threads and many clients want one name.
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

/// A number that loses updates unless somebody else sees to exclusion.
class unprotected_counter {
public:
    void add() {
        auto const seen = value_.load(std::memory_order_relaxed);
        if (seen % 16 == 0) std::this_thread::yield();
        value_.store(seen + 1, std::memory_order_relaxed);
    }
    [[nodiscard]] int value() const { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<int> value_{0};
};

class contention_test : public store_test {
protected:
    static constexpr int threads = 100;
    static constexpr int turns = 20;

    /// Has `threads` threads add under the mutex that `mutex_of` gives to each.
    template <class MutexOf>
    void expect_exact(MutexOf mutex_of) {
        unprotected_counter counter;
        {
            std::vector<std::jthread> crowd;
            for (std::size_t i = 0; i < threads; ++i) {
                crowd.emplace_back([&, i] {
                    for (int turn = 0; turn < turns; ++turn) {
                        std::lock_guard const guard{mutex_of(i)};
                        counter.add();
                    }
                });
            }
        }
        EXPECT_EQ(counter.value(), threads * turns);
    }

    /// The threads hand over among themselves: few of their holds cost the store anything.
    static void expect_local_hand_over(client& of) {
        auto counters = of.metrics();
        EXPECT_EQ(counters["grants"], static_cast<std::uint64_t>(threads * turns));
        EXPECT_GT(counters["passes"], counters["grants"] / 2);
        EXPECT_LT(counters["requests"], counters["grants"] / 2);
        EXPECT_EQ(counters["tokens_not_rising"], 0U);
        EXPECT_EQ(counters["losses"], 0U);
    }
};
HOLDFAST_OVER_ALL_ROWS(contention_test);

TEST_P(contention_test, a_hundred_threads_on_one_object) {
    auto client = connect();
    mutex shared{client, "q"};
    expect_exact([&](std::size_t) -> mutex& { return shared; });
    expect_local_hand_over(client);
    EXPECT_TRUE(empties(client));
}

TEST_P(contention_test, a_hundred_threads_on_a_hundred_objects_of_one_name) {
    auto client = connect();
    std::vector<std::unique_ptr<mutex>> own;
    for (int i = 0; i < threads; ++i)
        own.push_back(std::make_unique<mutex>(client, "q"));
    expect_exact([&](std::size_t i) -> mutex& { return *own[i]; });
    expect_local_hand_over(client);
    EXPECT_TRUE(empties(client));
}

TEST_P(contention_test, many_clients) {
    std::vector<client> clients;
    std::vector<std::unique_ptr<mutex>> own;
    for (int i = 0; i < 8; ++i)
        clients.push_back(connect());
    for (std::size_t i = 0; i < threads; ++i)
        own.push_back(std::make_unique<mutex>(clients[i % clients.size()], "q"));
    expect_exact([&](std::size_t i) -> mutex& { return *own[i]; });
    EXPECT_TRUE(empties(clients.front()));
}

TEST_P(contention_test, fair_and_barging_exclude_each_other) {
    if (!can({ability::fair_order})) return;
    auto const one = connect();
    auto other = connect();
    mutex barging{one, "q"};
    mutex fair{other, "q", {.order = ordering::fair}};
    unprotected_counter counter;
    {
        std::vector<std::jthread> crowd;
        for (int i = 0; i < 8; ++i) {
            crowd.emplace_back([&, i] {
                for (int turn = 0; turn < turns; ++turn) {
                    std::lock_guard const guard{i % 2 == 0 ? barging : fair};
                    counter.add();
                }
            });
        }
    }
    EXPECT_EQ(counter.value(), 8 * turns);
    EXPECT_TRUE(empties(other));
}

TEST_P(contention_test, timed_attempts_under_load) {
    auto client = connect();
    auto const other = connect();
    unprotected_counter counter;
    std::atomic<int> got{0};
    {
        std::vector<std::jthread> crowd;
        for (int i = 0; i < 16; ++i) {
            crowd.emplace_back([&, i] {
                mutex shared{i % 2 == 0 ? client : other, "q"};
                for (int turn = 0; turn < 30; ++turn) {
                    auto const attempt = [&] {
                        if (!shared.try_lock_for(std::chrono::microseconds{turn * 100})) return;
                        counter.add();
                        got.fetch_add(1, std::memory_order_relaxed);
                        shared.unlock();
                    };
                    // So little time may be over before the store has said anything.
                    auto const error = failure_of(attempt);
                    EXPECT_TRUE(!error || error == errc::store_unavailable) << error.message();
                }
            });
        }
    }
    EXPECT_EQ(counter.value(), got);
    EXPECT_TRUE(empties(client));
}

}  // namespace

}  // namespace holdfast::conformance
