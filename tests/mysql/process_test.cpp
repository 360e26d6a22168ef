// Clients in processes of their own: stopped, with a wrong clock, and many at once.
#include "support/process.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>

#include "mysql/fixture.hpp"
#include "support/counts.hpp"
#include "support/fenced_file.hpp"

namespace holdfast::mysql_faults {
namespace {

using support::process;

class process_test : public testing::Test {
protected:
    [[nodiscard]] std::unique_ptr<process> start(std::vector<std::string> before = {}) const {
        before.insert(before.end(), {HOLDFAST_TEST_WORKER, server_.url()});
        return std::make_unique<process>(std::move(before));
    }
    [[nodiscard]] std::string path(char const* name) const {
        return (place_.path() / name).string();
    }
    [[nodiscard]] long counted() const {
        long out = 0;
        std::ifstream{path("counter")} >> out;
        return out;
    }
    [[nodiscard]] static std::uint64_t token(std::string const& answer) {
        EXPECT_TRUE(answer.starts_with("held ")) << answer;
        return answer.starts_with("held ") ? std::stoull(answer.substr(5)) : 0;
    }

    support::temporary_directory place_;
    mysql_server server_;
};

TEST_F(process_test, a_client_that_is_stopped_past_its_lease_knows_first_that_it_has_lost) {
    auto const sleeper = start();
    auto const next = start();
    auto const before = token(sleeper->ask("acquire q lease=2000"));
    EXPECT_EQ(sleeper->ask("write " + path("account") + " first"), "written");
    sleeper->stop();
    // What it reads when it wakes, before any of its threads has heard of the store.
    sleeper->send("state");
    sleeper->send("write " + path("account") + " late");
    sleeper->send("await-loss 20000");
    sleeper->send("release");
    EXPECT_GT(token(next->ask("acquire q")), before);
    EXPECT_EQ(next->ask("write " + path("account") + " second"), "written");
    sleeper->resume();
    EXPECT_EQ(sleeper->read(), "lost");
    EXPECT_EQ(sleeper->read(), "refused");
    EXPECT_EQ(sleeper->read(), "told");
    EXPECT_EQ(sleeper->read(), "already lost");
    EXPECT_EQ(support::fenced_file{path("account")}.read(), "second");
    EXPECT_EQ(next->ask("state"), "held");
}

// In the middle of whatever it does: nothing stays locked at the server, and its place in the line is given on.
TEST_F(process_test, a_client_that_is_stopped_at_any_moment_delays_nobody_beyond_its_lease) {
    constexpr auto lease = 1s;
    noting_client other{server_.url() + "?lease=1s", 30s};
    noting_client rival{server_.url() + "?lease=1s", 30s};
    std::atomic<bool> done{false};
    std::jthread const contends{[&] {
        while (!done)
            (void)mutex(*rival, "q", {.order = ordering::fair}).acquire();
    }};
    auto const rounds = support::large_count(60) + 2;
    for (int round = 0; round < rounds; ++round) {
        process sleeper{{HOLDFAST_TEST_WORKER, server_.url() + "?lease=1s"}};
        sleeper.send("count q " + path("counter") + " 100000");
        // Another moment each time.
        ASSERT_TRUE(eventually([&] { return counted() > round % 7; }));
        sleeper.stop();
        support::stopwatch const since;
        for (int turn = 0; turn < 3; ++turn)
            EXPECT_TRUE(mutex(*other, "q", {.order = ordering::fair}).try_acquire_for(20s));
        EXPECT_LT(since.elapsed(), lease + 8s);
        sleeper.kill();
        std::filesystem::remove(path("counter"));
    }
    done = true;
}

TEST_F(process_test, a_client_whose_wall_clock_is_off_by_an_hour) {
    for (auto const* const ahead : {"3600", "-3600"}) {
        auto const off =
            start({"/usr/bin/env", std::string{"LD_PRELOAD="} + HOLDFAST_TEST_OTHER_CLOCK,
                   std::string{"HOLDFAST_TEST_CLOCK_AHEAD="} + ahead});
        auto const right = start();
        auto const first = token(off->ask("acquire q lease=3000"));
        right->send("acquire q lease=3000");
        noting_client watcher{server_.url()};
        ASSERT_TRUE(eventually([&] {
            auto const seen = (*watcher).locks("q");
            return seen.size() == 1 && seen[0].waiters.size() == 1;
        }));
        auto const seen = (*watcher).locks("q").at(0);
        EXPECT_LT(seen.holders.at(0).age, 60s);
        EXPECT_LE(seen.holders.at(0).lease_left, 3s);
        // Renewed over three leases, and not lost.
        EXPECT_EQ(off->ask("await-loss 9000"), "silent");
        EXPECT_EQ(off->ask("release"), "released");
        auto const second = token(right->read());
        EXPECT_GT(second, first);
        EXPECT_EQ(right->ask("release"), "released");
        EXPECT_GT(token(off->ask("acquire q")), second);
        EXPECT_EQ(off->ask("release"), "released");
    }
}

// A number in a file that protects nothing by itself, read and written in separate steps.
TEST_F(process_test, no_update_of_eight_processes_is_lost) {
    constexpr int processes = 8;
    auto const times = support::large_count(100'000) / processes;
    std::vector<std::unique_ptr<process>> crowd;
    for (int i = 0; i < processes; ++i)
        crowd.push_back(start());
    for (auto const& each : crowd)
        each->send("count q " + path("counter") + " " + std::to_string(times));
    for (auto const& each : crowd)
        EXPECT_EQ(each->read(1500s), "done");
    EXPECT_EQ(counted(), processes * times);
    for (auto const& each : crowd)
        EXPECT_EQ(each->finish(), 0);
}

}  // namespace
}  // namespace holdfast::mysql_faults
