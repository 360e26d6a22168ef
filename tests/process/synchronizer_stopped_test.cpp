// SIGSTOP of those who wait at latches, barriers and conditions, or lead, and their return.
#include "process/synchronizer_processes.hpp"

namespace holdfast::processes {

namespace {

class synchronizer_stopped : public synchronizer_processes {};

TEST_F(synchronizer_stopped, who_slept_while_a_latch_opened_finds_it_open) {
    auto const sleeper = start();
    latch it{watcher_, "q", 1};
    EXPECT_EQ(it.count(), 1U);
    sleeper->send("await-latch q");
    put_to_sleep(*sleeper);
    it.count_down();
    sleeper->resume();
    EXPECT_EQ(sleeper->read(), "open");
}

TEST_F(synchronizer_stopped, a_party_that_slept_within_its_lease_is_a_party) {
    auto const sleeper = start_with("60s");
    sleeper->send("arrive q 2");
    ASSERT_TRUE(arrives("q", 1));
    put_to_sleep(*sleeper);
    EXPECT_EQ(arrive(watcher_, "q", 2).get(), "tripped 0");
    sleeper->resume();
    EXPECT_EQ(sleeper->read(), "tripped 0");
}

TEST_F(synchronizer_stopped, a_party_that_overslept_has_broken_the_barrier) {
    client const prompt{url() + "?lease=1s"};
    auto const sleeper = start_with("1s");
    sleeper->send("arrive q 3");
    ASSERT_TRUE(arrives("q", 1));
    auto other = arrive(prompt, "q", 3);
    ASSERT_TRUE(arrives("q", 2));
    put_to_sleep(*sleeper);
    ASSERT_TRUE(ready(other));
    EXPECT_EQ(other.get(), "broken");
    sleeper->resume();
    EXPECT_EQ(sleeper->read(), "broken");
    barrier{watcher_, "q", 3}.reset();
    auto first = arrive(watcher_, "q", 3);
    auto second = arrive(prompt, "q", 3);
    EXPECT_EQ(sleeper->ask("arrive q 3"), "tripped 1");
    EXPECT_EQ(first.get(), "tripped 1");
    EXPECT_EQ(second.get(), "tripped 1");
}

// It wakes after a reset, in the middle of the next generation, which is none of its business.
TEST_F(synchronizer_stopped, a_party_of_an_old_generation_does_not_touch_the_new_one) {
    auto const sleeper = start_with("1s");
    sleeper->send("arrive q 2");
    ASSERT_TRUE(arrives("q", 1));
    put_to_sleep(*sleeper);
    barrier{watcher_, "q", 2}.reset();
    auto first = arrive(watcher_, "q", 2);
    ASSERT_TRUE(eventually([&] { return listed("q").generation == 1 && listed("q").count == 1; }));
    ASSERT_TRUE(eventually([&] { return listed("q").holders.size() == 1; }));
    sleeper->resume();
    EXPECT_EQ(sleeper->read(), "broken");
    EXPECT_FALSE(ready(first, 50ms));
    EXPECT_FALSE(listed("q").broken);
    EXPECT_EQ(sleeper->ask("arrive q 2"), "tripped 1");
    EXPECT_EQ(first.get(), "tripped 1");
}

TEST_F(synchronizer_stopped, a_notice_to_one_that_overslept_passes_on) {
    auto const sleeper = start_with("2s");
    sleeper->send("await-notice c m");
    ASSERT_TRUE(shows("c", 0, 1));
    auto next = await_notice(watcher_);
    ASSERT_TRUE(shows("c", 0, 2));
    put_to_sleep(*sleeper);
    condition_variable changed{watcher_, "c"};
    changed.notify_one();
    ASSERT_TRUE(ready(next));
    sleeper->resume();  // it waits again, or wakes without a notice
    std::string answer;
    EXPECT_TRUE(eventually([&] {
        changed.notify_all();
        try {
            answer = sleeper->read(100ms);
        } catch (std::exception const&) {}
        return !answer.empty();
    }));
    EXPECT_EQ(answer, "noticed");
    EXPECT_TRUE(shows("c", 0, 0));
}

TEST_F(synchronizer_stopped, a_leader_that_overslept_knows_it_and_its_late_write_is_refused) {
    auto const sleeper = start();
    auto const next = start();
    auto const before = token(sleeper->ask("campaign q old lease=2000"));
    EXPECT_EQ(oversleep(*sleeper, *next, before, "campaign q new", "leader q"), "new");
}

}  // namespace

}  // namespace holdfast::processes
