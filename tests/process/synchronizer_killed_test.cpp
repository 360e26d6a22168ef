// SIGKILL of those who wait at latches, barriers and conditions, or lead.
#include "process/synchronizer_processes.hpp"

namespace holdfast::processes {

namespace {

/// Long enough to tell "soon" from "at the end of the lease".
constexpr auto long_lease = "120s";

class synchronizer_killed : public synchronizer_processes {};

TEST_F(synchronizer_killed, a_latch_keeps_what_the_dead_have_counted_and_misses_no_waiter) {
    auto const counter = start();
    auto const waiter = start();
    auto const survivor = start();
    EXPECT_EQ(counter->ask("count-down q 2"), "counted");
    waiter->send("await-latch q");
    survivor->send("await-latch q");
    counter->kill();
    waiter->kill();
    latch it{watcher_, "q", 2};
    EXPECT_EQ(it.count(), 1U);
    it.count_down();
    EXPECT_EQ(survivor->read(), "open");
}

// The last to arrive dies: its lease ends last, so that whoever looks at the name sees the others
// first, until they have renewed theirs.
TEST_F(synchronizer_killed, a_barrier_breaks_soon_for_all_who_wait) {
    auto const dead = start_with(long_lease);
    auto const first = start_with(long_lease);
    auto const second = start_with(long_lease);
    first->send("arrive q 4");
    second->send("arrive q 4");
    ASSERT_TRUE(arrives("q", 2));
    dead->send("arrive q 4");
    ASSERT_TRUE(arrives("q", 3));
    stopwatch const since;
    dead->kill();
    EXPECT_EQ(first->read(), "broken");
    EXPECT_EQ(second->read(), "broken");
    EXPECT_LT(since.elapsed(), 20s);
    EXPECT_EQ(first->ask("arrive q 4"), "broken");
    barrier{watcher_, "q", 4}.reset();
    auto const third = start();
    for (auto* const it : {&third, &first, &second})
        (*it)->send("arrive q 4");
    EXPECT_EQ(arrive(watcher_, "q", 4).get(), "tripped 1");
    EXPECT_EQ(third->read(), "tripped 1");
    EXPECT_EQ(first->read(), "tripped 1");
    EXPECT_EQ(second->read(), "tripped 1");
}

TEST_F(synchronizer_killed, the_last_party_finds_the_dead_at_once) {
    auto const dead = start_with(long_lease);
    dead->send("arrive q 2");
    ASSERT_TRUE(arrives("q", 1));
    dead->kill();
    stopwatch const since;
    EXPECT_EQ(arrive(watcher_, "q", 2).get(), "broken");
    EXPECT_LT(since.elapsed(), 10s);
}

// It dies anywhere between its arrival and its answer: the others still agree on what happened.
TEST_F(synchronizer_killed, a_death_in_the_middle_is_the_same_for_all_survivors) {
    client const one{url() + "?lease=1s"};
    client const two{url() + "?lease=1s"};
    for (int i = 0; i < 6; ++i) {
        auto const name = "q" + std::to_string(i);
        auto const dying = start_with("1s");
        auto first = arrive(one, name, 3);
        ASSERT_TRUE(i % 2 == 1 || arrives(name, 1));
        dying->send("arrive " + name + " 3");
        ASSERT_TRUE(i % 3 != 0 || eventually([&] { return listed(name).count > 1; }));
        auto second = arrive(two, name, 3);
        ASSERT_TRUE(i % 3 != 1 || eventually([&] { return listed(name).count != 1; }));
        dying->kill();
        if (!ready(first, 2s)) barrier{watcher_, name, 3}.reset();  // it died before it arrived
        EXPECT_EQ(first.get(), second.get()) << i;
    }
}

TEST_F(synchronizer_killed, waiters_of_a_condition_are_skipped) {
    std::vector<std::unique_ptr<process>> line;
    for (std::size_t i = 0; i < 3; ++i) {
        line.push_back(start_with(long_lease));
        line.back()->send("await-notice c m");
        ASSERT_TRUE(shows("c", 0, i + 1));
    }
    line[0]->kill();
    line[1]->kill();
    stopwatch const since;
    condition_variable{watcher_, "c"}.notify_one();
    EXPECT_EQ(line[2]->read(), "noticed");
    EXPECT_LT(since.elapsed(), 20s);
    EXPECT_TRUE(shows("c", 0, 0));
}

TEST_F(synchronizer_killed, a_notice_in_the_hands_of_the_dead_passes_on) {
    auto const dead = start_with(long_lease);
    dead->send("await-notice c m");
    ASSERT_TRUE(shows("c", 0, 1));
    auto next = await_notice(watcher_);
    ASSERT_TRUE(shows("c", 0, 2));
    put_to_sleep(*dead);
    condition_variable{watcher_, "c"}.notify_one();
    ASSERT_TRUE(shows("c", 1, 1));  // it was given the notice, and cannot take it
    EXPECT_FALSE(ready(next, 50ms));
    dead->kill();
    EXPECT_TRUE(ready(next, 25s));
}

TEST_F(synchronizer_killed, the_next_candidate_leads_at_once_with_a_higher_token) {
    auto const leader = start_with(long_lease);
    auto const candidate = start_with(long_lease);
    auto const next = start();
    auto const before = token(leader->ask("campaign q first"));
    candidate->send("campaign q second");
    ASSERT_TRUE(shows("q", 1, 1));
    next->send("campaign q third");
    ASSERT_TRUE(shows("q", 1, 2));
    EXPECT_EQ(election(watcher_, "q").leader()->value, "first");
    stopwatch const since;
    candidate->kill();
    leader->kill();
    auto const after = token(next->read());
    EXPECT_GT(after, before);
    EXPECT_LT(since.elapsed(), 20s);
    EXPECT_EQ(election(watcher_, "q").leader(), (leader_info{"third", after}));
    EXPECT_EQ(next->ask("release"), "released");
    EXPECT_EQ(start()->ask("leader q"), "nobody");
}

}  // namespace

}  // namespace holdfast::processes
