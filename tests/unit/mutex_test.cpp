#include "base/mutex.hpp"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace {

using holdfast::base::condition_variable;
using holdfast::base::lock_guard;
using holdfast::base::mutex;
using holdfast::base::unique_lock;
using holdfast::base::unlocked;
using namespace std::chrono_literals;

bool free_for_others(mutex& tried) {
    bool free = false;
    std::thread{[&] {
        if (!tried.try_lock()) return;
        free = true;
        tried.unlock();
    }}.join();
    return free;
}

TEST(BaseMutex, IsHeldFromConstructorToDestructor) {
    mutex tried;
    {
        lock_guard const guard{tried};
        EXPECT_FALSE(free_for_others(tried));
    }
    EXPECT_TRUE(free_for_others(tried));
    {
        unique_lock lock{tried};
        EXPECT_FALSE(free_for_others(tried));
        lock.unlock();
        EXPECT_FALSE(lock.owns_lock());
        EXPECT_TRUE(free_for_others(tried));
        lock.lock();
        EXPECT_FALSE(free_for_others(tried));
    }
    EXPECT_TRUE(free_for_others(tried));
}

TEST(BaseMutex, IsAdoptedAfterATry) {
    mutex tried;
    if (!tried.try_lock()) FAIL();
    { lock_guard const guard{tried, std::adopt_lock}; }
    EXPECT_TRUE(free_for_others(tried));
    if (!tried.try_lock()) FAIL();
    { unique_lock const lock{tried, std::adopt_lock}; }
    EXPECT_TRUE(free_for_others(tried));
}

TEST(BaseMutex, IsFreeWhileAConditionIsWaitedFor) {
    struct {
        mutex guard;
        condition_variable changed;
        int turn HOLDFAST_GUARDED_BY(guard) = 0;
    } shared;
    std::thread other{[&] {
        unique_lock lock{shared.guard};
        while (shared.turn != 1)
            shared.changed.wait(lock);
        shared.turn = 2;
        shared.changed.notify_all();
    }};
    {
        unique_lock lock{shared.guard};
        shared.turn = 1;
        shared.changed.notify_one();
        shared.changed.wait(lock, [&] {
            shared.guard.assert_held();
            return shared.turn == 2;
        });
        EXPECT_TRUE(lock.owns_lock());
        shared.changed.wait_for(lock, 1ms);
        EXPECT_TRUE(lock.owns_lock());
        EXPECT_FALSE(shared.changed.wait_for(lock, 1ms, [] { return false; }));
        EXPECT_TRUE(lock.owns_lock());
    }
    other.join();
}

TEST(BaseMutex, IsGivenUpForAWhile) {
    mutex tried;
    lock_guard const guard{tried};
    {
        unlocked const meanwhile{tried};
        EXPECT_TRUE(free_for_others(tried));
    }
    EXPECT_FALSE(free_for_others(tried));
}

TEST(BaseConditionVariable, WaitsWithAMutexThatTheCallerHolds) {
    mutex guarding;
    condition_variable changed;
    bool ready = false;
    lock_guard const guard{guarding};
    std::jthread const other{[&] {
        lock_guard const mine{guarding};
        ready = true;
        changed.notify_one();
    }};
    while (!ready)
        changed.wait(guarding);
    EXPECT_FALSE(free_for_others(guarding));
    (void)changed.wait_for(guarding, 1ms);
    EXPECT_FALSE(free_for_others(guarding));
}

}  // namespace
