// SIGKILL of holders and waiters.
#include "process/lock_processes.hpp"

namespace holdfast::processes {

namespace {

/// Long enough to tell "at once" from "at the end of the lease".
constexpr auto lease_of_the_dead = "lease=120000";

class lock_killed : public lock_processes {};

TEST_F(lock_killed, the_next_process_gets_it_at_once_with_a_higher_token) {
    auto const holder = start();
    auto const next = start();
    auto const before = token(holder->ask(std::string{"acquire q "} + lease_of_the_dead));
    next->send("acquire q");
    ASSERT_TRUE(shows("q", 1, 1));
    stopwatch const since;
    holder->kill();
    EXPECT_GT(token(next->read()), before);
    EXPECT_LT(since.elapsed(), 20s);
    EXPECT_EQ(next->ask("release"), "released");
}

TEST_F(lock_killed, who_comes_later_gets_it_at_once) {
    auto const holder = start();
    auto const before = token(holder->ask(std::string{"acquire q "} + lease_of_the_dead));
    holder->kill();
    mutex shared{watcher_, "q"};
    auto const held = shared.try_acquire_for(20s);
    ASSERT_TRUE(held);
    EXPECT_GT(held->token(), before);
}

TEST_F(lock_killed, waiters_killed_in_the_line_are_skipped) {
    mutex shared{watcher_, "q", {.order = ordering::fair}};
    auto held = shared.acquire();
    std::vector<std::unique_ptr<process>> line;
    for (std::size_t i = 0; i < 5; ++i) {
        line.push_back(start());
        line.back()->send(std::string{"acquire q order=fair "} + lease_of_the_dead);
        ASSERT_TRUE(shows("q", 1, i + 1));
    }
    for (std::size_t const i : {0U, 1U, 3U})
        line[i]->kill();
    stopwatch const since;
    EXPECT_EQ(held.release(), release_outcome::released);
    auto const third = token(line[2]->read());
    EXPECT_GT(third, held.token());
    EXPECT_EQ(line[2]->ask("release"), "released");
    EXPECT_GT(token(line[4]->read()), third);
    EXPECT_LT(since.elapsed(), 20s);
}

TEST_F(lock_killed, a_process_that_exits_without_release_leaves_nothing) {
    auto const holder = start();
    EXPECT_GT(token(holder->ask("acquire q")), 0U);
    EXPECT_EQ(holder->finish(), 0);
    EXPECT_TRUE(watcher_.locks().empty());
}

TEST_F(lock_killed, a_chain_of_murders_keeps_tokens_rising) {
    std::uint64_t before = 0;
    auto holder = start();
    holder->send(std::string{"acquire q "} + lease_of_the_dead);
    for (int i = 0; i < 8; ++i) {
        auto const now = token(holder->read());
        EXPECT_GT(now, before);
        before = now;
        auto next = start();
        next->send(std::string{"acquire q "} + lease_of_the_dead);
        ASSERT_TRUE(shows("q", 1, 1));
        holder->kill();
        holder = std::move(next);
    }
    EXPECT_GT(token(holder->read()), before);
}

}  // namespace

}  // namespace holdfast::processes
