// Clients in processes of their own: stopped past their lease, and many on one name.
#include <fstream>

#include "support/counts.hpp"
#include "support/fenced_file.hpp"
#include "support/process.hpp"
#include "zookeeper/faults.hpp"

namespace holdfast::zookeeper_tests {
namespace {

std::uint64_t token_in(std::string const& answer) {
    constexpr std::string_view held = "held ";
    EXPECT_TRUE(answer.starts_with(held)) << answer;
    return answer.starts_with(held) ? std::stoull(answer.substr(held.size())) : 0;
}

// ZooKeeper's time-out is a third longer than the lease, and some ticks; it ends sessions once in a tick.
constexpr std::chrono::milliseconds time_out_for(std::chrono::milliseconds lease) {
    return lease * 4 / 3 + 1s;
}

TEST(stopped_test, a_holder_that_overslept_knows_it_first_and_delayed_nobody_beyond_its_time_out) {
    constexpr auto lease = 3s;
    support::zookeeper_server const server;
    support::temporary_directory const place;
    auto const account = (place.path() / "account").string();
    support::process sleeper{{HOLDFAST_TEST_WORKER, server.url()}};
    auto const before = token_in(sleeper.ask("acquire q lease=3000"));
    client next{server.url()};
    // Its lease counts from a sign of life, and no longer from when it was granted.
    EXPECT_EQ(sleeper.ask("await-loss 4000"), "silent");
    sleeper.stop();
    sleeper.send("state");  // read before any of its threads had time to think
    stopwatch const since;
    auto const held = mutex{next, "q"}.try_acquire_for(30s);
    ASSERT_TRUE(held);
    EXPECT_LT(since.elapsed(), time_out_for(lease) + 5s);
    EXPECT_GT(held->token(), before);
    EXPECT_TRUE(support::fenced_file{account}.write(held->token(), "next"));
    sleeper.resume();
    EXPECT_EQ(sleeper.read(), "lost");
    EXPECT_EQ(sleeper.ask("write " + account + " late"), "refused");
    EXPECT_EQ(sleeper.ask("release"), "already lost");
    EXPECT_TRUE(held->held());
    EXPECT_GT(token_in(sleeper.ask("acquire r lease=3000")), held->token()) << "it goes on";
}

// Wherever it is stopped, in the middle of a request or between two.
TEST(stopped_test, one_that_is_stopped_at_any_moment_delays_nobody_beyond_its_time_out) {
    constexpr auto lease = 2s;
    support::zookeeper_server const server;
    support::temporary_directory const place;
    auto const path = (place.path() / "count").string();
    client other{server.url()};
    auto const turns = support::large_count(100);
    for (int turn = 0; turn < turns; ++turn) {
        support::process busy{{HOLDFAST_TEST_WORKER, server.url() + "&lease=2s"}};
        busy.send("count q " + path + " 1000000");
        EXPECT_TRUE(eventually([&] { return !other.locks("q").empty(); }));
        (void)throughout(std::chrono::milliseconds{7 * turn}, [] { return true; });
        busy.stop();
        stopwatch const since;
        ASSERT_TRUE((mutex{other, "q"}.try_acquire_for(30s)));
        EXPECT_LT(since.elapsed(), time_out_for(lease) + 5s);
        busy.kill();
    }
}

// A number in a file that protects nothing by itself, read and written in separate steps.
TEST(crowd_test, eight_processes_count_together) {
    constexpr int processes = 8;
    support::zookeeper_server const server;
    support::temporary_directory const place;
    auto const path = (place.path() / "count").string();
    auto const turns = support::large_count(100'000) / processes;
    std::vector<std::unique_ptr<support::process>> all;
    stopwatch const since;
    for (int i = 0; i < processes; ++i) {
        all.push_back(std::make_unique<support::process>(
            std::vector<std::string>{HOLDFAST_TEST_WORKER, server.url()}));
        all.back()->send("count q " + path + " " + std::to_string(turns));
    }
    for (auto const& each : all)
        EXPECT_EQ(each->read(800s), "done");
    std::cout << turns * processes << " turns in " << since.elapsed().count() << " ms" << std::endl;
    int counted = 0;
    std::ifstream{path} >> counted;
    EXPECT_EQ(counted, turns * processes);
    for (auto const& each : all)
        EXPECT_EQ(each->finish(), 0);
    client witness{server.url()};
    EXPECT_TRUE(witness.locks().empty());
}

}  // namespace
}  // namespace holdfast::zookeeper_tests
