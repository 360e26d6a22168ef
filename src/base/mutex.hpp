// std::mutex and what goes with it, annotated. libstdc++'s are not, so Clang cannot follow them. All of it is
// inline and costs what the standard classes cost.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/thread_annotations.hpp"

namespace holdfast::base {

/// Lockable.
class HOLDFAST_CAPABILITY("mutex") mutex {
public:
    mutex() = default;
    mutex(mutex const&) = delete;
    mutex& operator=(mutex const&) = delete;

    void lock() HOLDFAST_ACQUIRE() { mutex_.lock(); }
    void unlock() HOLDFAST_RELEASE() { mutex_.unlock(); }
    [[nodiscard]] bool try_lock() HOLDFAST_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

    /// For the first line of a lambda that only runs under the lock, such as the predicate of a wait: Clang looks
    /// at it by itself. Does nothing.
    void assert_held() const noexcept HOLDFAST_ASSERT_CAPABILITY(this) {}

private:
    friend class unique_lock;
    friend class condition_variable;
    std::mutex mutex_;
};

class HOLDFAST_SCOPED_CAPABILITY [[nodiscard]] lock_guard {
public:
    explicit lock_guard(mutex& on) HOLDFAST_ACQUIRE(on) : mutex_{on} { mutex_.lock(); }
    /// After a try_lock() that succeeded.
    lock_guard(mutex& on, std::adopt_lock_t) HOLDFAST_REQUIRES(on) : mutex_{on} {}
    ~lock_guard() HOLDFAST_RELEASE() { mutex_.unlock(); }
    lock_guard(lock_guard const&) = delete;
    lock_guard& operator=(lock_guard const&) = delete;

private:
    mutex& mutex_;
};

/// Can be unlocked and locked again, so a condition variable can wait with it; std::condition_variable_any can too.
/// It is not movable: Clang could not follow it.
class HOLDFAST_SCOPED_CAPABILITY [[nodiscard]] unique_lock {
public:
    explicit unique_lock(mutex& on) HOLDFAST_ACQUIRE(on) : lock_{on.mutex_} {}
    /// After a try_lock() that succeeded.
    unique_lock(mutex& on, std::adopt_lock_t tag) HOLDFAST_REQUIRES(on) : lock_{on.mutex_, tag} {}
    // NOLINTNEXTLINE(modernize-use-equals-default): the attribute needs a body
    ~unique_lock() HOLDFAST_RELEASE() {}
    unique_lock(unique_lock const&) = delete;
    unique_lock& operator=(unique_lock const&) = delete;

    void lock() HOLDFAST_ACQUIRE() { lock_.lock(); }
    void unlock() HOLDFAST_RELEASE() { lock_.unlock(); }
    [[nodiscard]] bool owns_lock() const noexcept { return lock_.owns_lock(); }

private:
    friend class condition_variable;
    std::unique_lock<std::mutex> lock_;
};

/// The other way round: gives up a mutex that the caller holds, and has it again at the end of its life.
class HOLDFAST_SCOPED_CAPABILITY [[nodiscard]] unlocked {
public:
    explicit unlocked(mutex& on) HOLDFAST_RELEASE(on) : mutex_{on} { mutex_.unlock(); }
    ~unlocked() HOLDFAST_RELEASE() { mutex_.lock(); }
    unlocked(unlocked const&) = delete;
    unlocked& operator=(unlocked const&) = delete;

private:
    mutex& mutex_;
};

/// std::condition_variable for `mutex`. Clang takes the mutex as held throughout a wait, as the caller does.
class condition_variable {
public:
    void notify_one() noexcept { condition_.notify_one(); }
    void notify_all() noexcept { condition_.notify_all(); }

    void wait(unique_lock& lock) { condition_.wait(lock.lock_); }

    /// For a function that was given the mutex by a caller who holds it.
    void wait(mutex& held) HOLDFAST_REQUIRES(held) {
        std::unique_lock<std::mutex> lock{held.mutex_, std::adopt_lock};
        condition_.wait(lock);
        (void)lock.release();
    }

    template <class Rep, class Period>
    std::cv_status wait_for(mutex& held, std::chrono::duration<Rep, Period> const& time)
        HOLDFAST_REQUIRES(held) {
        std::unique_lock<std::mutex> lock{held.mutex_, std::adopt_lock};
        auto const out = condition_.wait_for(lock, time);
        (void)lock.release();
        return out;
    }

    template <class Predicate>
    void wait(unique_lock& lock, Predicate predicate) {
        while (!predicate())
            wait(lock);
    }

    template <class Rep, class Period>
    std::cv_status wait_for(unique_lock& lock, std::chrono::duration<Rep, Period> const& time) {
        return condition_.wait_for(lock.lock_, time);
    }

    template <class Rep, class Period, class Predicate>
    bool wait_for(unique_lock& lock, std::chrono::duration<Rep, Period> const& time,
                  Predicate predicate) {
        return condition_.wait_for(lock.lock_, time, predicate);
    }

private:
    std::condition_variable condition_;
};

}  // namespace holdfast::base
