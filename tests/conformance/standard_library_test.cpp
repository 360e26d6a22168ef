// The standard library's wrappers around our mutexes.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

template <class Mutex>
void guards(client& with) {
    Mutex shared{with, "q"};
    {
        std::lock_guard const guard{shared};
        EXPECT_TRUE(shared.owns());
    }
    EXPECT_FALSE(shared.owns());
    try {
        std::lock_guard const guard{shared};
        throw std::runtime_error{"unwinds"};
    } catch (std::runtime_error const&) {
        EXPECT_FALSE(shared.owns());
    }
    EXPECT_TRUE(empties(with));
}

class standard_library_test : public store_test {};
HOLDFAST_OVER_ALL_ROWS(standard_library_test);

TEST_P(standard_library_test, lock_guard) {
    auto client = connect();
    guards<mutex>(client);
    guards<recursive_mutex>(client);
}

TEST_P(standard_library_test, unique_lock) {
    auto client = connect();
    mutex shared{client, "q"};
    std::unique_lock lock{shared, std::defer_lock};
    EXPECT_FALSE(lock.owns_lock());
    lock.lock();
    EXPECT_TRUE(shared.owns());
    std::unique_lock moved{std::move(lock)};
    EXPECT_TRUE(moved.owns_lock());
    moved.unlock();
    EXPECT_FALSE(shared.owns());
    shared.lock();
    { std::unique_lock const adopted{shared, std::adopt_lock}; }
    EXPECT_TRUE(empties(client));
}

TEST_P(standard_library_test, unique_lock_with_a_try_or_a_time) {
    auto const client = connect();
    auto const other = connect();
    mutex shared{client, "q"};
    mutex theirs{other, "q"};
    theirs.lock();
    EXPECT_FALSE((std::unique_lock{shared, std::try_to_lock}.owns_lock()));
    EXPECT_TRUE(ends_with_its_time([&](auto time) {
        return std::unique_lock{shared, time}.owns_lock();
    }));
    EXPECT_TRUE(ends_with_its_time([&](auto time) {
        return std::unique_lock{shared, std::chrono::steady_clock::now() + time}.owns_lock();
    }));
    auto const soon = std::chrono::system_clock::now() + time_to_answer;
    EXPECT_FALSE((std::unique_lock{shared, soon}.owns_lock()));
    theirs.unlock();
    EXPECT_TRUE((std::unique_lock{shared, patience}.owns_lock()));
    std::unique_lock timed{shared, std::defer_lock};
    EXPECT_TRUE(timed.try_lock_until(std::chrono::system_clock::now() + patience));
    timed.unlock();
    EXPECT_TRUE(timed.try_lock_for(patience));
}

TEST_P(standard_library_test, scoped_lock_over_two_does_not_deadlock) {
    constexpr int rounds = 50;
    auto client = connect();
    auto other = connect();
    std::atomic<int> count{0};
    auto const work = [&](holdfast::client& with, char const* one, char const* two) {
        mutex first{with, one};
        mutex second{with, two};
        for (int i = 0; i < rounds; ++i) {
            std::scoped_lock const both{first, second};
            count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        }
    };
    auto forth = elsewhere([&] { work(client, "a", "b"); });
    auto back = elsewhere([&] { work(client, "b", "a"); });
    auto beside = elsewhere([&] { work(other, "b", "a"); });
    forth.get();
    back.get();
    beside.get();
    EXPECT_EQ(count, 3 * rounds);
    EXPECT_TRUE(empties(client));
}

TEST_P(standard_library_test, condition_variable_any) {
    auto const client = connect();
    mutex shared{client, "q"};
    std::condition_variable_any changed;
    std::atomic<int> step{0};
    auto answerer = elsewhere([&] {
        std::unique_lock lock{shared};
        EXPECT_TRUE(changed.wait_for(lock, patience, [&] { return step == 1; }));
        EXPECT_TRUE(shared.owns());
        step = 2;
        changed.notify_all();
    });
    {
        std::unique_lock lock{shared};
        step = 1;
        changed.notify_all();
        EXPECT_TRUE(changed.wait_for(lock, patience, [&] { return step == 2; }));
        EXPECT_TRUE(shared.owns());
    }
    answerer.get();
}

TEST_P(standard_library_test, condition_variable_any_with_a_stop_token) {
    auto const client = connect();
    mutex shared{client, "q"};
    std::condition_variable_any changed;
    std::stop_source stop;
    auto waiter = elsewhere([&] {
        std::unique_lock lock{shared};
        bool const met = changed.wait(lock, stop.get_token(), [] { return false; });
        return !met && shared.owns();
    });
    stop.request_stop();
    EXPECT_TRUE(waiter.get());
}

}  // namespace

}  // namespace holdfast::conformance
