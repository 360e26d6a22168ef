// Who is inside the store: callers take turns, and the I/O thread has what they leave.
#include "runtime/driver_role.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "support/eventually.hpp"

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;
using support::eventually;

/// Keeps whoever drives until it is interrupted, and knows how many there are.
class waiting_store final : public seam::store {
public:
    seam::capabilities abilities() const override { return {}; }
    std::optional<seam::reply> send(seam::request_id, seam::request) noexcept override {
        return std::nullopt;
    }
    void drive(base::instant until) override {
        std::unique_lock held{mutex_};
        most_ = std::max(most_, ++inside_);
        ++visits_;
        if (until == base::never) {
            changed_.wait(held, [this] { return interrupted_; });
        } else {
            changed_.wait_for(held, until - base::boot_clock::now(),
                              [this] { return interrupted_; });
        }
        interrupted_ = false;
        --inside_;
    }
    void interrupt() noexcept override {
        std::lock_guard const held{mutex_};
        interrupted_ = true;
        changed_.notify_all();
    }
    void flush() noexcept override {
        std::lock_guard const held{mutex_};
        ++flushes_;
    }
    void shut() noexcept override {}

    [[nodiscard]] int flushes() const { return read(flushes_); }
    [[nodiscard]] int inside() const { return read(inside_); }
    [[nodiscard]] int most() const { return read(most_); }
    [[nodiscard]] int visits() const { return read(visits_); }

private:
    [[nodiscard]] int read(int const& what) const {
        std::lock_guard const held{mutex_};
        return what;
    }
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool interrupted_{false};
    int inside_{0};
    int most_{0};
    int visits_{0};
    int flushes_{0};
};

class driver_role_test : public ::testing::Test {
protected:
    /// A caller that waits until it is completed.
    class caller {
    public:
        caller(driver_role_test& on, base::instant until = base::never)
            : on_{on}, self_{on.role}, thread_{[this, until] { run(until); }} {}
        ~caller() { complete(); }
        void complete() {
            base::lock_guard const guard{on_.mutex};
            self_.completed();
        }
        [[nodiscard]] bool is_driving() {
            base::lock_guard const guard{on_.mutex};
            return self_.driving;
        }
        [[nodiscard]] bool has_ended() const { return ended_; }

    private:
        void run(base::instant until) {
            base::lock_guard const guard{on_.mutex};
            while (!self_.done && base::boot_clock::now() < until)
                (void)on_.role.wait(on_.mutex, self_, until);
            on_.role.leave(on_.mutex);
            ended_ = true;
        }
        driver_role_test& on_;
        waiter self_;
        std::atomic<bool> ended_{false};
        std::jthread thread_;
    };

    /// The I/O thread, with nothing to send.
    class io_thread {
    public:
        explicit io_thread(driver_role_test& on) : on_{on}, thread_{[this] { run(); }} {}
        ~io_thread() {
            ends_ = true;
            base::lock_guard const guard{on_.mutex};
            on_.role.dismiss();
        }
        [[nodiscard]] int drives() const { return drives_; }

    private:
        void run() {
            base::lock_guard const guard{on_.mutex};
            while (!ends_)
                if (on_.role.io_thread_turn(on_.mutex)) ++drives_;
        }
        driver_role_test& on_;
        std::atomic<bool> ends_{false};
        std::atomic<int> drives_{0};
        std::jthread thread_;
    };

    /// Whoever is woken by this sleeps again.
    [[nodiscard]] bool somebody_sleeps() {
        base::lock_guard const guard{mutex};
        return role.wake_one();
    }

    waiting_store store;
    base::mutex mutex;
    driver_role role{store};
};

TEST_F(driver_role_test, passes_from_caller_to_caller) {
    caller first{*this};
    ASSERT_TRUE(eventually([&] { return first.is_driving(); }));
    caller second{*this};
    caller third{*this};
    ASSERT_TRUE(eventually([&] { return somebody_sleeps(); }));
    EXPECT_EQ(store.inside(), 1);
    first.complete();
    ASSERT_TRUE(eventually([&] { return second.is_driving() || third.is_driving(); }));
    EXPECT_TRUE(eventually([&] { return first.has_ended(); }));
    second.complete();
    third.complete();
    EXPECT_TRUE(eventually([&] { return second.has_ended() && third.has_ended(); }));
    EXPECT_EQ(store.most(), 1);
}

TEST_F(driver_role_test, a_caller_that_sleeps_is_woken_by_its_completion_alone) {
    caller first{*this};
    ASSERT_TRUE(eventually([&] { return first.is_driving(); }));
    caller second{*this};
    second.complete();
    EXPECT_TRUE(eventually([&] { return second.has_ended(); }));
    EXPECT_TRUE(first.is_driving());
    first.complete();
}

TEST_F(driver_role_test, a_caller_leaves_at_its_time_whether_it_drives_or_sleeps) {
    auto const soon = base::boot_clock::now() + 50ms;
    caller first{*this, soon};
    caller second{*this, soon};
    EXPECT_TRUE(eventually([&] { return first.has_ended() && second.has_ended(); }));
    EXPECT_GE(base::boot_clock::now(), soon);
    EXPECT_EQ(store.inside(), 0);
}

TEST_F(driver_role_test, the_io_thread_gives_way_to_a_caller_and_comes_back) {
    io_thread const io{*this};
    ASSERT_TRUE(eventually([&] { return store.inside() == 1; }));
    caller one{*this};
    ASSERT_TRUE(eventually([&] { return one.is_driving(); }));
    EXPECT_EQ(io.drives(), 1);
    one.complete();
    ASSERT_TRUE(eventually([&] { return one.has_ended(); }));
    EXPECT_TRUE(eventually([&] { return store.inside() == 1; })) << "after a while";
    EXPECT_EQ(store.most(), 1);
}

TEST_F(driver_role_test, the_io_thread_comes_at_once_where_somebody_waits_without_driving) {
    base::lock_guard const guard{mutex};
    role.pass_on();  // a caller has just left: the role is for callers
    role.fill();
    store.interrupt();  // the next visit is short
    EXPECT_TRUE(role.io_thread_turn(mutex)) << "it did not rest";
    EXPECT_EQ(store.visits(), 1);
}

TEST_F(driver_role_test, who_leaves_the_role_to_nobody_has_the_rest_sent) {
    {
        caller first{*this};
        ASSERT_TRUE(eventually([&] { return first.is_driving(); }));
        caller second{*this};
        ASSERT_TRUE(eventually([&] { return somebody_sleeps(); }));
        first.complete();
        ASSERT_TRUE(eventually([&] { return second.is_driving(); }));
        EXPECT_EQ(store.flushes(), 0) << "the second drives on";
    }
    EXPECT_EQ(store.flushes(), 1);
}

TEST_F(driver_role_test, while_the_role_is_left_to_callers_the_io_thread_has_the_rest_sent) {
    {
        base::lock_guard const guard{mutex};
        role.pass_on();
        store.interrupt();  // should it drive, it comes back
        EXPECT_FALSE(role.io_thread_turn(mutex)) << "it waits whether a caller comes";
    }
    EXPECT_EQ(store.flushes(), 1);
    caller inside{*this};
    ASSERT_TRUE(eventually([&] { return inside.is_driving(); }));
    base::lock_guard const guard{mutex};
    role.wake_io_thread();
    EXPECT_FALSE(role.io_thread_turn(mutex));
    EXPECT_EQ(store.flushes(), 1) << "whoever drives sends";
}

TEST_F(driver_role_test, the_end_waits_for_whoever_is_inside) {
    caller inside{*this};
    ASSERT_TRUE(eventually([&] { return inside.is_driving(); }));
    support::stopwatch const since;
    {
        base::lock_guard const guard{mutex};
        role.await_nobody(mutex, 50ms);
    }
    EXPECT_GE(since.elapsed(), 50ms);
    EXPECT_EQ(store.inside(), 1) << "not for ever";
    inside.complete();
    base::lock_guard const guard{mutex};
    role.await_nobody(mutex, support::patience);
    EXPECT_EQ(store.inside(), 0);
}

TEST_F(driver_role_test, the_end_waits_for_whoever_has_driven_and_is_not_done_with_it) {
    std::latch begun{1};
    std::latch goes_on{1};
    std::atomic<bool> done{false};
    std::jthread const late{[&] {
        base::lock_guard const guard{mutex};
        role.finish(mutex, [&] {
            begun.count_down();
            goes_on.wait();
            done = true;
        });
    }};
    begun.wait();
    base::lock_guard const guard{mutex};
    role.await_nobody(mutex, 20ms);
    EXPECT_FALSE(done);
    goes_on.count_down();
    role.await_nobody(mutex, support::patience);
    EXPECT_TRUE(done);
}

}  // namespace
}  // namespace holdfast::runtime
