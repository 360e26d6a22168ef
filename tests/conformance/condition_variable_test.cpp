// condition_variable: waiting for somebody else's change, under a mutex of any client.
#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>
#include <vector>

#include "conformance/store_test.hpp"
#include "conformance/worker.hpp"

namespace holdfast::conformance {

namespace {

class condition_variable_test : public store_test {
protected:
    /// What is known of the condition, which may have a mutex of the same name.
    [[nodiscard]] static lock_info condition(client& from, std::string_view name) {
        for (auto& info : from.locks(name))
            if (info.name == name && info.kind == lock_kind::condition) return std::move(info);
        return {};
    }
    [[nodiscard]] static bool waits_at(client& from, std::string_view name, std::size_t many) {
        return eventually([&] { return condition(from, name).waiters.size() == many; });
    }

    /// Waits once, in a thread of its own; gives whether it owned the mutex afterwards.
    [[nodiscard]] static std::future<bool> one_wait(client const& with) {
        return elsewhere([&with] {
            mutex guard{with, "m"};
            condition_variable changed{with, "c"};
            std::unique_lock lock{guard};
            changed.wait(lock);
            return lock.owns_lock() && guard.owns();
        });
    }
};
HOLDFAST_OVER_ROWS_WITH(condition_variable_test, ability::conditions);

TEST_P(condition_variable_test, a_notice_of_another_client_ends_the_wait_with_the_mutex_held) {
    auto client = connect();
    auto const other = connect();
    auto waiting = one_wait(other);
    ASSERT_TRUE(waits_at(client, "c", 1));
    EXPECT_TRUE(mutex(client, "m").try_acquire_for(10s)) << "a waiter does not hold the mutex";
    EXPECT_FALSE(ready(waiting, 50ms));
    condition_variable changed{client, "c"};
    EXPECT_EQ(changed.name(), "c");
    changed.notify_one();
    ASSERT_TRUE(ready(waiting));
    EXPECT_TRUE(waiting.get());
    EXPECT_TRUE(empties(client));
}

TEST_P(condition_variable_test, the_mutex_is_had_again_before_the_wait_returns) {
    auto client = connect();
    auto const other = connect();
    auto waiting = one_wait(other);
    ASSERT_TRUE(waits_at(client, "c", 1));
    auto held = mutex(client, "m").acquire();
    condition_variable(client, "c").notify_one();
    EXPECT_TRUE(waits(client, "m", 1));
    EXPECT_FALSE(ready(waiting, 50ms));
    EXPECT_EQ(held.release(), release_outcome::released);
    ASSERT_TRUE(ready(waiting));
    EXPECT_TRUE(waiting.get());
}

TEST_P(condition_variable_test, a_notice_for_nobody_is_forgotten) {
    auto client = connect();
    condition_variable changed{client, "c"};
    changed.notify_one();
    changed.notify_all();
    EXPECT_TRUE(client.locks().empty());
    auto waiting = one_wait(client);
    ASSERT_TRUE(waits_at(client, "c", 1));
    EXPECT_FALSE(ready(waiting, 50ms));
    changed.notify_all();
    ASSERT_TRUE(ready(waiting));
}

TEST_P(condition_variable_test, notices_wake_one_at_a_time_in_order) {
    constexpr int waiters = 6;
    std::vector<client> clients;
    for (int i = 0; i < 3; ++i)
        clients.push_back(connect());
    auto client = connect();
    std::atomic<int> woken{0};
    std::vector<std::future<int>> waiting;
    for (int i = 0; i < waiters; ++i) {
        waiting.push_back(elsewhere([&, i] {
            auto const& mine = clients[static_cast<std::size_t>(i) % 3];
            mutex guard{mine, "m"};
            std::unique_lock lock{guard};
            condition_variable(mine, "c").wait(lock);
            return woken++;
        }));
        ASSERT_TRUE(waits_at(client, "c", static_cast<std::size_t>(i) + 1));
    }
    condition_variable changed{client, "c"};
    for (int i = 0; i < waiters; ++i) {
        changed.notify_one();
        ASSERT_TRUE(ready(waiting[static_cast<std::size_t>(i)]));
        EXPECT_EQ(waiting[static_cast<std::size_t>(i)].get(), i);
        EXPECT_EQ(woken, i + 1);
        EXPECT_TRUE(waits_at(client, "c", static_cast<std::size_t>(waiters - i - 1)));
    }
}

TEST_P(condition_variable_test, as_many_notices_wake_as_many_waiters) {
    auto client = connect();
    auto const other = connect();
    std::vector<std::future<bool>> waiting;
    for (std::size_t i = 0; i < 5; ++i) {
        waiting.push_back(one_wait(other));
        ASSERT_TRUE(waits_at(client, "c", i + 1));
    }
    condition_variable changed{client, "c"};
    for (int i = 0; i < 3; ++i)
        changed.notify_one();  // without a pause between them
    auto const awake = [&] {
        return std::ranges::count_if(waiting, [](auto& it) { return ready(it, 0ms); });
    };
    EXPECT_TRUE(eventually([&] { return awake() == 3; }));
    EXPECT_TRUE(throughout(100ms, [&] { return awake() == 3; }));
    changed.notify_all();
    EXPECT_TRUE(eventually([&] { return awake() == 5; }));
    EXPECT_TRUE(empties(client));
}

TEST_P(condition_variable_test, a_notice_to_all_wakes_those_who_wait_now) {
    auto client = connect();
    auto const other = connect();
    std::vector<std::future<bool>> waiting;
    for (std::size_t i = 0; i < 8; ++i)
        waiting.push_back(one_wait(i % 2 == 0 ? client : other));
    ASSERT_TRUE(waits_at(client, "c", 8));
    condition_variable(other, "c").notify_all();
    for (auto& it : waiting)
        ASSERT_TRUE(ready(it));
    auto later = one_wait(other);
    ASSERT_TRUE(waits_at(client, "c", 1));
    EXPECT_FALSE(ready(later, 50ms));
    condition_variable(client, "c").notify_all();
    ASSERT_TRUE(ready(later));
}

// The notifier takes the mutex as soon as the waiter lets go of it: then the waiter must be in line.
TEST_P(condition_variable_test, no_notice_is_lost_between_the_line_and_the_unlock) {
    constexpr int turns = 60;
    auto const client = connect();
    auto const other = connect();
    int ball = 0;
    auto const player = [&](holdfast::client const& with, int side) {
        mutex guard{with, "m"};
        condition_variable changed{with, "c"};
        for (int i = 0; i < turns; ++i) {
            std::unique_lock lock{guard};
            while (ball % 2 != side)
                if (changed.wait_for(lock, 20s) == std::cv_status::timeout) return false;
            ++ball;
            changed.notify_one();
        }
        return true;
    };
    auto theirs = elsewhere([&] { return player(other, 1); });
    EXPECT_TRUE(player(client, 0));
    EXPECT_TRUE(theirs.get());
    EXPECT_EQ(ball, 2 * turns);
}

// The store of the condition is silent, that of the mutex is not: the order shows.
TEST_P(condition_variable_test, the_mutex_is_kept_until_the_waiter_stands_in_line) {
    if (!can({ability::silence})) return;
    auto client = connect();
    auto const slow = connect({.patience = 60s});
    holdfast::client prompt{"memory:conditions-order"};
    std::promise<void> locked;
    store().silence();
    auto waiting = elsewhere([&] {
        mutex guard{prompt, "m"};
        std::unique_lock lock{guard};
        locked.set_value();
        condition_variable(slow, "c").wait(lock);
        return guard.owns();
    });
    locked.get_future().wait();
    EXPECT_TRUE(throughout(300ms, [&] { return !mutex(prompt, "m").try_acquire(); }));
    store().restore();
    EXPECT_TRUE(mutex(prompt, "m").try_acquire_for(20s));
    EXPECT_EQ(condition(client, "c").waiters.size(), 1U);
    condition_variable(client, "c").notify_one();
    ASSERT_TRUE(ready(waiting));
    EXPECT_TRUE(waiting.get());
}

TEST_P(condition_variable_test, predicates_are_asked_under_the_mutex) {
    auto client = connect();
    auto const other = connect();
    int value = 0;
    auto waiting = elsewhere([&] {
        mutex guard{other, "m"};
        std::unique_lock lock{guard};
        condition_variable(other, "c").wait(lock, [&] { return guard.owns() && value == 2; });
        return value;
    });
    mutex guard{client, "m"};
    condition_variable changed{client, "c"};
    for (int i = 1; i <= 2; ++i) {
        ASSERT_TRUE(waits_at(client, "c", 1));
        EXPECT_FALSE(ready(waiting, 20ms));
        std::lock_guard const mine{guard};
        value = i;
        changed.notify_all();
    }
    ASSERT_TRUE(ready(waiting));
    EXPECT_EQ(waiting.get(), 2);
    std::unique_lock lock{guard};
    changed.wait(lock, [] { return true; });  // does not wait at all
    EXPECT_TRUE(lock.owns_lock());
}

TEST_P(condition_variable_test, a_wait_ends_with_its_time_and_the_mutex_held) {
    auto client = connect();
    mutex guard{client, "m"};
    condition_variable changed{client, "c"};
    std::unique_lock lock{guard};
    stopwatch const since;
    EXPECT_EQ(changed.wait_for(lock, 100ms), std::cv_status::timeout);
    EXPECT_GE(since.elapsed(), 100ms);
    EXPECT_TRUE(guard.owns());
    EXPECT_EQ(changed.wait_for(lock, 0ms), std::cv_status::timeout);
    EXPECT_EQ(changed.wait_until(lock, std::chrono::steady_clock::now() + 20ms),
              std::cv_status::timeout);
    int asked = 0;
    EXPECT_FALSE(changed.wait_for(lock, 50ms, [&] { return ++asked < 0; }));
    EXPECT_GE(asked, 2);  // before and after
    EXPECT_FALSE(
        changed.wait_until(lock, std::chrono::system_clock::now() + 20ms, [] { return false; }));
    EXPECT_TRUE(changed.wait_for(lock, 0ms, [] { return true; }));
    EXPECT_LT(since.elapsed(), 10s);
    EXPECT_TRUE(guard.owns());
    lock.unlock();
    EXPECT_TRUE(empties(client));
}

TEST_P(condition_variable_test, a_notice_in_time_is_no_timeout) {
    auto client = connect();
    auto const other = connect();
    auto waiting = elsewhere([&] {
        mutex guard{other, "m"};
        std::unique_lock lock{guard};
        return condition_variable(other, "c").wait_for(lock, 60s);
    });
    ASSERT_TRUE(waits_at(client, "c", 1));
    condition_variable(client, "c").notify_one();
    ASSERT_TRUE(ready(waiting));
    EXPECT_EQ(waiting.get(), std::cv_status::no_timeout);
}

TEST_P(condition_variable_test, a_stop_ends_the_wait_with_what_the_predicate_says) {
    auto client = connect();
    std::stop_source stop;
    std::atomic<bool> met{false};
    auto const wait = [&] {
        mutex guard{client, "m"};
        std::unique_lock lock{guard};
        bool const out = condition_variable(client, "c").wait(lock, stop.get_token(), [&] {
            return met.load();
        });
        EXPECT_TRUE(guard.owns());
        return out;
    };
    auto waiting = elsewhere(wait);
    ASSERT_TRUE(waits_at(client, "c", 1));
    stop.request_stop();
    ASSERT_TRUE(ready(waiting));
    EXPECT_FALSE(waiting.get());
    EXPECT_FALSE(wait());  // requested before
    met = true;
    EXPECT_TRUE(wait());
    EXPECT_TRUE(empties(client));
}

TEST_P(condition_variable_test, who_gave_up_takes_no_notice_from_others) {
    auto client = connect();
    auto const other = connect();
    std::stop_source stop;
    auto first = elsewhere([&] {
        mutex guard{other, "m"};
        std::unique_lock lock{guard};
        return condition_variable(other, "c").wait(lock, stop.get_token(), [] { return false; });
    });
    ASSERT_TRUE(waits_at(client, "c", 1));
    auto second = one_wait(other);
    ASSERT_TRUE(waits_at(client, "c", 2));
    stop.request_stop();
    EXPECT_FALSE(first.get());
    condition_variable(client, "c").notify_one();
    ASSERT_TRUE(ready(second));
}

TEST_P(condition_variable_test, needs_the_mutex_locked) {
    auto client = connect();
    mutex guard{client, "m"};
    condition_variable changed{client, "c"};
    std::unique_lock lock{guard, std::defer_lock};
    EXPECT_EQ(failure_of([&] { changed.wait(lock); }), errc::not_owner);
    EXPECT_EQ(failure_of([&] { return changed.wait_for(lock, 1s); }), errc::not_owner);
    EXPECT_FALSE(lock.owns_lock());
    std::unique_lock<mutex> none;
    EXPECT_EQ(failure_of([&] { changed.wait(none); }), errc::not_owner);
    EXPECT_TRUE(client.locks().empty());
    EXPECT_EQ(failure_of([&] { condition_variable(client, ""); }), errc::bad_name);
}

TEST_P(condition_variable_test, the_mutex_may_be_of_another_client_and_store) {
    auto client = connect();
    holdfast::client elsewhere_kept{"memory:conditions-mutex"};
    bool done = false;
    auto waiting = elsewhere([&] {
        mutex guard{elsewhere_kept, "m"};
        std::unique_lock lock{guard};
        condition_variable(client, "c").wait(lock, [&] { return done; });
        return guard.owns();
    });
    ASSERT_TRUE(waits_at(client, "c", 1));
    {
        mutex guard{elsewhere_kept, "m"};
        std::lock_guard const lock{guard};
        done = true;
    }
    condition_variable(client, "c").notify_one();
    ASSERT_TRUE(ready(waiting));
    EXPECT_TRUE(waiting.get());
}

TEST_P(condition_variable_test, stands_beside_a_mutex_of_the_same_name) {
    auto client = connect();
    auto const other = connect();
    auto waiting = elsewhere([&] {
        mutex guard{other, "q"};
        std::unique_lock lock{guard};
        condition_variable(other, "q").wait(lock);
        return guard.owns();
    });
    ASSERT_TRUE(waits_at(client, "q", 1));
    {
        auto const held = mutex(client, "q").acquire();
        EXPECT_EQ(client.locks("q").size(), 2U);
        condition_variable(client, "q").notify_one();
        EXPECT_FALSE(ready(waiting, 50ms));
    }
    ASSERT_TRUE(ready(waiting));
    EXPECT_TRUE(waiting.get());
    auto const held = semaphore(client, "s", 1).acquire_lease();
    condition_variable(client, "s").notify_one();  // beside any kind
    EXPECT_TRUE(held.held());
}

TEST_P(condition_variable_test, a_wait_relocks_when_the_client_of_the_condition_is_closed) {
    auto client = connect();
    auto other = connect();
    auto waiting = elsewhere([&] {
        mutex guard{client, "m"};
        std::unique_lock lock{guard};
        condition_variable changed{other, "c"};
        auto const code = failure_of([&] { changed.wait(lock); });
        EXPECT_TRUE(guard.owns());
        return code;
    });
    ASSERT_TRUE(waits_at(client, "c", 1));
    other.close();
    ASSERT_TRUE(ready(waiting));
    EXPECT_EQ(waiting.get(), errc::closed);
    EXPECT_TRUE(empties(client));
}

TEST_P(condition_variable_test, a_queue_between_clients_loses_nothing) {
    constexpr int items = 120;
    std::vector<client> clients;
    for (int i = 0; i < 4; ++i)
        clients.push_back(connect());
    std::deque<int> queue;
    std::atomic<int> taken{0};
    std::atomic<int> sum{0};
    {
        std::vector<std::jthread> crowd;
        for (std::size_t i = 0; i < 6; ++i) {
            crowd.emplace_back([&, i] {
                mutex guard{clients[i % 4], "m"};
                condition_variable filled{clients[i % 4], "c"};
                for (int k = 0; k < items / 6; ++k) {
                    std::unique_lock lock{guard};
                    if (!filled.wait_for(lock, 30s, [&] { return !queue.empty(); })) return;
                    sum += queue.front();
                    queue.pop_front();
                    ++taken;
                }
            });
        }
        mutex guard{clients[3], "m"};
        condition_variable filled{clients[3], "c"};
        for (int i = 1; i <= items; ++i) {
            {
                std::lock_guard const lock{guard};
                queue.push_back(i);
            }
            filled.notify_one();
        }
    }
    EXPECT_EQ(taken, items);
    EXPECT_EQ(sum, items * (items + 1) / 2);
    EXPECT_TRUE(empties(clients.front()));
}

TEST_P(condition_variable_test, a_notice_to_one_that_died_passes_on) {
    if (!can({ability::processes})) return;
    auto client = connect();
    auto const dead = start_worker(store().url_with("lease=5s"));
    dead->send("await-notice c other");
    ASSERT_TRUE(waits_at(client, "c", 1));
    auto next = one_wait(client);
    ASSERT_TRUE(waits_at(client, "c", 2));
    dead->stop();  // it can hear nothing, and the store does not know it
    condition_variable(client, "c").notify_one();
    EXPECT_FALSE(ready(next, 50ms));
    dead->kill();
    ASSERT_TRUE(ready(next));
    EXPECT_TRUE(next.get());
    EXPECT_TRUE(empties(client));
}

}  // namespace

}  // namespace holdfast::conformance
