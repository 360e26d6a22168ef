// local_passes: how long the threads of one client may keep a contended name among themselves.
#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

class local_passes_test : public store_test {
protected:
    /// A thread of ours holds, a client of theirs waits, then another thread of ours: who is next?
    [[nodiscard]] std::string next_after_release(int passes) {
        auto ours = connect();
        auto const theirs = connect();
        mutex mine{ours, "q", {.local_passes = passes}};
        mutex their{theirs, "q"};
        auto holder = mine.acquire();
        auto rival = elsewhere([&] { return their.acquire(); });
        // A rival may be listed before the holder is told of it; so long afterwards it has been, or a renewal tells.
        EXPECT_TRUE(eventually([&] {
            auto const waiters = listed(ours, "q").waiters;
            return waiters.size() == 1 && waiters.front().age >= 300ms;
        }));
        EXPECT_EQ(holder.renew(), lease_state::held);
        auto local = elsewhere([&] { return mine.acquire(); });
        EXPECT_TRUE(waits(ours, "q", 2));
        EXPECT_EQ(holder.release(), release_outcome::released);
        EXPECT_TRUE(eventually([&] { return ready(rival, 0s) || ready(local, 0s); }));
        auto const* const first = ready(local, 0s) ? "ours" : "theirs";
        auto& winner = ready(local, 0s) ? local : rival;
        auto& loser = ready(local, 0s) ? rival : local;
        auto held = winner.get();
        EXPECT_FALSE(ready(loser, 0s));
        EXPECT_EQ(held.release(), release_outcome::released);
        EXPECT_GT(loser.get().token(), held.token());
        return first;
    }
};
HOLDFAST_OVER_ALL_ROWS(local_passes_test);

TEST_P(local_passes_test, none_gives_a_contended_name_to_the_others) {
    if (!can({ability::line})) return;
    EXPECT_EQ(next_after_release(0), "theirs");
}

TEST_P(local_passes_test, some_keep_it_for_a_while) {
    if (!can({ability::line})) return;
    EXPECT_EQ(next_after_release(64), "ours");
}

TEST_P(local_passes_test, are_bounded_under_contention) {
    constexpr int rounds = 60;
    auto ours = connect();
    auto theirs = connect();
    std::atomic<bool> over{false};
    std::atomic<int> turns{0};
    auto const keep_busy = [&] {
        mutex mine{ours, "q", {.local_passes = 3}};
        while (!over) {
            auto const held = mine.acquire();
            ++turns;
        }
    };
    auto one = elsewhere(keep_busy);
    auto two = elsewhere(keep_busy);
    EXPECT_TRUE(eventually([&] { return turns > 0; }));
    mutex their{theirs, "q", {.local_passes = 3}};
    for (int i = 0; i < rounds; ++i)
        EXPECT_TRUE(their.try_acquire_for(patience));
    over = true;
    one.get();
    two.get();
}

}  // namespace

}  // namespace holdfast::conformance
