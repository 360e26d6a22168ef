// How many commands the server gets, by its own count.
#include <deque>
#include <optional>
#include <thread>
#include <vector>

#include "redis/crowd.hpp"
#include "redis/fixture.hpp"

namespace holdfast::redis_faults {
namespace {

class counts_test : public ::testing::Test {
protected:
    void count_anew() const { server_.ask({"CONFIG", "RESETSTAT"}); }

    /// The commands that clients sent, together.
    [[nodiscard]] std::uint64_t sent() const { return commands_sent_to(server_); }

    /// Who begins to hear messages asks once for everything that waits: that belongs to the beginning.
    void await_quiet() const {
        std::uint64_t before = 0;
        EXPECT_TRUE(eventually([&] {
            auto const now = std::exchange(before, sent());
            return throughout(200ms, [&] { return sent() == now; });
        }));
    }

    redis_server server_;
};

TEST_F(counts_test, a_lock_and_its_unlock_are_two_commands) {
    client mine{server_.url()};
    mutex lock{mine, "q"};
    semaphore pool{mine, "pool", 3};
    lock.lock();  // connects, and loads the scripts
    lock.unlock();
    (void)pool.acquire_lease().release();
    constexpr int pairs = 200;
    count_anew();
    for (int i = 0; i < pairs; ++i) {
        lock.lock();
        lock.unlock();
    }
    EXPECT_TRUE(eventually([&] { return sent() >= 2U * pairs; }));
    EXPECT_EQ(commands_of(server_)["evalsha"], 2U * pairs);
    EXPECT_EQ(sent(), 2U * pairs) << "and nothing else";
    count_anew();
    for (int i = 0; i < pairs; ++i)
        EXPECT_EQ(pool.acquire_lease().release(), release_outcome::released);
    EXPECT_EQ(sent(), 2U * pairs);
}

// What is asked for while others are under way goes out together.
TEST_F(counts_test, many_owners_share_calls) {
    client mine{server_.url()};
    constexpr int owners = 64;
    constexpr int pairs = 100;
    std::deque<mutex> locks;
    for (int i = 0; i < owners; ++i)
        locks.emplace_back(mine, "q" + std::to_string(i))
            .lock();  // connects, and loads the scripts
    for (auto& each : locks)
        each.unlock();
    await_quiet();
    count_anew();
    std::vector<std::jthread> all;
    for (auto& each : locks)
        all.emplace_back([&each] {
            for (int i = 0; i < pairs; ++i)
                EXPECT_EQ(each.acquire().release(), release_outcome::released);
        });
    all.clear();
    auto const calls = static_cast<double>(commands_of(server_)["evalsha"]) / (owners * pairs);
    std::cout << calls << " calls for each pair" << std::endl;
    EXPECT_LT(calls, 1) << "alone they are two";
}

class hand_over_test : public counts_test {
protected:
    /// Commands for each hand-over among so many.
    double cost(int waiters, int hands) {
        crowd all{server_.url(), waiters, 120s};
        await_quiet();
        count_anew();
        all.pass_on(hands);
        auto const out = static_cast<double>(sent()) / hands;
        std::cout << waiters << " waiters: " << out << " commands for each hand-over" << std::endl;
        return out;
    }
};

TEST_F(hand_over_test, costs_the_same_at_8_and_1000_waiters) {
    auto const few = cost(8, 8);
    auto const many = cost(1000, 200);
    EXPECT_LE(few, 3);
    EXPECT_LE(many, 3);
    EXPECT_NEAR(few, many, 0.15) << "the rate of one command too much in 8";
}

TEST_F(counts_test, those_who_wait_are_quiet) {
    constexpr int waiters = 1000;
    crowd const all{server_.url(), waiters, 30s};
    count_anew();
    stopwatch const since;
    (void)throughout(12s, [] { return true; });
    auto const seconds = static_cast<double>(since.elapsed().count()) / 1000;
    auto const each = static_cast<double>(sent()) / waiters / seconds;
    std::cout << each * 5 << " commands of each waiter in 5 s" << std::endl;
    EXPECT_LE(each * 5, 1);
    EXPECT_GT(sent(), 0U) << "they renew their places after a third of the lease";
}

TEST_F(counts_test, a_look_for_deadlocks_costs_what_is_waited_for_and_not_what_is_there) {
    client mine{server_.url()};
    client other{server_.url()};
    lock_options const how{.lease = 120s, .detect_deadlock = true};
    latch{mine, "l", 1}.count_down();
    std::string const many =
        "for i = 1, 20000 do for _, end_of in ipairs({'', ':extra'}) do "
        "redis.call('COPY', 'holdfast:name:{l}' .. end_of, 'holdfast:name:{l' .. i .. '}' .. "
        "end_of) "
        "end end return redis.call('DBSIZE')";
    ASSERT_GT(std::stoul(server_.ask({"EVAL", many, "0"})), 20'000U);

    mutex held{mine, "a", how};
    mutex wanted{other, "a", how};
    auto const wait_for = [&](lease first) {
        auto waiting = std::async(std::launch::async, [&] { return wanted.acquire(); });
        EXPECT_TRUE(eventually([&] {  // `locks` would ask for everything
            return server_.ask({"EXISTS", "holdfast:name:{a}:claims"}) == "1";
        }));
        await_quiet();
        auto const out = sent();
        EXPECT_EQ(first.release(), release_outcome::released);
        (void)waiting.get().release();
        return out;
    };
    (void)wait_for(held.acquire());  // connects, and loads the scripts
    auto again = held.acquire();
    count_anew();
    auto const commands = wait_for(std::move(again));
    std::cout << "to wait and to look: " << commands << " commands" << std::endl;
    EXPECT_LE(commands, 4U) << "a submit, the index, one name";
    EXPECT_EQ(server_.ask({"EXISTS", "holdfast:waited"}), "0") << "nothing is left of it";
}

// They end before the store has confirmed that it watches for them.
TEST_F(counts_test, observers_that_come_and_go_leave_nothing) {
    client mine{server_.url()};
    constexpr int many = 200;
    for (int i = 0; i < many; ++i) {
        election chair{mine, "chair " + std::to_string(i)};
        auto const seen = chair.observe([](std::optional<leader_info> const&) {});
    }
    // An answer to what was asked after them: before it, nothing may have been sent at all.
    (void)mutex{mine, "after them"}.acquire().release();
    await_quiet();
    auto const keys = [&] { return server_.ask({"KEYS", "*chair*"}); };
    EXPECT_TRUE(eventually([&] { return keys().empty(); }, 20s)) << keys();
    // Who hears messages again asks for all that is watched.
    auto const hears = [&] { return !server_.ask({"PUBSUB", "CHANNELS", "*"}).empty(); };
    ASSERT_TRUE(eventually(hears));
    count_anew();
    server_.ask({"CLIENT", "KILL", "TYPE", "pubsub"});
    ASSERT_TRUE(eventually(hears));
    EXPECT_TRUE(throughout(500ms, [&] { return keys().empty(); })) << keys();
    EXPECT_LT(commands_of(server_)["evalsha"], 5U);
}

// Both have asked when one of them ends: what it takes back must not be the other's.
TEST_F(counts_test, one_of_two_observers_goes_and_the_other_hears_on) {
    client mine{server_.url()};
    auto const nobody = [](std::optional<leader_info> const&) {};
    election quiet{mine, "quiet"};
    auto const listens = quiet.observe(nobody);
    await_quiet();
    constexpr int many = 100;
    std::atomic<int> heard{0};
    std::deque<election> chairs;
    std::deque<subscription> observers;
    for (int i = 0; i < many; ++i) {
        auto& chair = chairs.emplace_back(mine, "chair " + std::to_string(i));
        auto first = std::make_optional(chair.observe(nobody));
        observers.push_back(
            chair.observe([&](std::optional<leader_info> const& who) { heard += who ? 1 : 0; }));
        first.reset();
    }
    await_quiet();
    client other{server_.url()};
    std::deque<election> theirs;
    std::deque<lease> terms;
    stopwatch const since;
    for (int i = 0; i < many; ++i)
        terms.push_back(theirs.emplace_back(other, "chair " + std::to_string(i)).campaign("me"));
    EXPECT_TRUE(eventually([&] { return heard == many; }, 3s)) << heard << " have heard";
}

}  // namespace
}  // namespace holdfast::redis_faults
