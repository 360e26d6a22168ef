// The threads of a loop: started when needed, woken in time, and gone at the end.
#include "runtime/loop_threads.hpp"

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include "support/eventually.hpp"

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using support::throughout;

class loop_threads_test : public ::testing::Test {
protected:
    ~loop_threads_test() override {
        {
            base::lock_guard const guard{mutex};
            threads.stop();
            rest.ring();
        }
        threads.join();
        threads.stop_notifiers();
    }

    void start() {
        base::lock_guard const guard{mutex};
        threads.start();
    }

    base::mutex mutex;
    base::alarm rest;
    std::atomic<int> times_told{0};
    std::atomic<int> io_turns{0};
    std::atomic<bool> go_on{false};
    loop_threads threads{mutex,
                         {[this] {
                              ++times_told;
                              return base::never;
                          },
                          [this] {
                              ++io_turns;
                              mutex.assert_held();
                              base::unlocked const meanwhile{mutex};
                              rest.wait();
                          }}};
};

TEST_F(loop_threads_test, start_once_and_take_turns) {
    EXPECT_TRUE(throughout(10ms, [&] { return times_told + io_turns == 0; }));
    start();
    ASSERT_TRUE(eventually([&] { return times_told == 1 && io_turns == 1; }));
    start();
    EXPECT_TRUE(throughout(20ms, [&] { return times_told == 1 && io_turns == 1; }));
    rest.ring();
    EXPECT_TRUE(eventually([&] { return io_turns == 2; }));
}

TEST_F(loop_threads_test, tell_the_time_when_it_is_due) {
    start();
    ASSERT_TRUE(eventually([&] { return times_told == 1; }));
    base::lock_guard const guard{mutex};
    auto const due = base::boot_clock::now() + 30ms;
    threads.tell_time_by(due);          // looks again at once, and would now sleep for ever
    threads.tell_time_by(base::never);  // which is no reason to wake up
    base::unlocked const meanwhile{mutex};
    EXPECT_TRUE(eventually([&] { return times_told == 2; }));
}

TEST_F(loop_threads_test, begin_no_turn_after_the_stop) {
    start();
    ASSERT_TRUE(eventually([&] { return times_told == 1 && io_turns == 1; }));
    {
        base::lock_guard const guard{mutex};
        threads.stop();
        EXPECT_TRUE(threads.stopping());
        threads.start();
        threads.tell_time_by(base::instant::min());
        rest.ring();
    }
    threads.join();
    EXPECT_EQ(times_told, 1);
    EXPECT_EQ(io_turns, 1);
}

TEST_F(loop_threads_test, no_other_user_code_delays_a_loss) {
    std::atomic<bool> told{false};
    std::vector<notifier::job> slow{[&] { go_on.wait(false); }};
    threads.post(slow);
    std::vector<notifier::job> loss{[&] { told = true; }};
    threads.post_losses(loss);
    EXPECT_TRUE(eventually([&] { return told.load(); }));
    go_on = true;
    go_on.notify_all();
}

}  // namespace
}  // namespace holdfast::runtime
