// SIGSTOP of a holder past its lease, and its return.
#include "process/lock_processes.hpp"

namespace holdfast::processes {

namespace {

class lock_stopped : public lock_processes {};

TEST_F(lock_stopped, a_holder_that_overslept_knows_it_at_once_and_its_late_write_is_refused) {
    auto const sleeper = start();
    auto const next = start();
    auto const before = token(sleeper->ask("acquire q lease=2000"));
    EXPECT_EQ(sleeper->ask("write " + path("account") + " first"), "written");
    EXPECT_EQ(oversleep(*sleeper, *next, before, "acquire q", "release"), "already lost");
    EXPECT_EQ(next->ask("release"), "released");
}

TEST_F(lock_stopped, lost_fires_in_a_process_that_was_paused_and_continued) {
    auto const sleeper = start();
    EXPECT_GT(token(sleeper->ask("acquire q lease=2000")), 0U);
    EXPECT_EQ(sleeper->ask("lost"), "silent");
    put_to_sleep(*sleeper);
    mutex shared{watcher_, "q"};
    auto const held = shared.acquire();  // so that its lease is over
    sleeper->resume();
    EXPECT_EQ(sleeper->ask("await-loss 20000"), "told");
    EXPECT_EQ(sleeper->ask("state"), "lost");
    EXPECT_NE(sleeper->ask("reason"), "");
    EXPECT_TRUE(held.held());
}

TEST_F(lock_stopped, a_short_pause_within_the_lease_loses_nothing) {
    auto const sleeper = start();
    EXPECT_GT(token(sleeper->ask("acquire q lease=20000")), 0U);
    put_to_sleep(*sleeper);
    EXPECT_TRUE(shows("q", 1, 0));
    sleeper->resume();
    EXPECT_EQ(sleeper->ask("state"), "held");
    EXPECT_EQ(sleeper->ask("release"), "released");
}

TEST_F(lock_stopped, a_stopped_waiter_is_skipped_within_its_lease) {
    mutex shared{watcher_, "q", {.order = ordering::fair}};
    auto held = shared.acquire();
    auto const sleeper = start();
    auto const behind = start();
    sleeper->send("acquire q order=fair lease=2000");
    ASSERT_TRUE(shows("q", 1, 1));
    behind->send("acquire q order=fair");
    ASSERT_TRUE(shows("q", 1, 2));
    put_to_sleep(*sleeper);
    EXPECT_EQ(held.release(), release_outcome::released);
    EXPECT_GT(token(behind->read()), held.token());
    EXPECT_EQ(behind->ask("release"), "released");
    sleeper->resume();
    EXPECT_GT(token(sleeper->read()), 0U);  // it asks again, and gets its turn
}

}  // namespace

}  // namespace holdfast::processes
