// Connections are killed, scripts and data are forgotten, again and again, while many contend.
#include <fstream>
#include <memory>
#include <set>

#include "redis/fixture.hpp"
#include "support/process.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::redis_faults {
namespace {

constexpr int clients = 8;
constexpr int processes = 3;

class storm_test : public ::testing::Test {
protected:
    void TearDown() override { calm_ = true; }

    /// Does something bad to the server at uneven times, until `calm`.
    template <class Blow>
    void brew(std::chrono::milliseconds longest_pause, Blow blow) {
        storm_ = std::async(std::launch::async, [this, longest_pause, blow] {
            std::mt19937_64 random{seed_};
            while (!calm_) {
                blow(random());
                ++blows_;
                auto const pause = random() % static_cast<std::uint64_t>(longest_pause.count());
                (void)throughout(std::chrono::milliseconds{pause + 1}, [&] { return !calm_; });
            }
        });
    }

    void calm() {
        calm_ = true;
        storm_.get();
    }

    /// Threads with a client each and some processes count in one file, which nothing protects but
    /// the lock.
    void count_together(int times) {
        auto const path = (place_.path() / "counter").string();
        std::vector<std::unique_ptr<support::process>> others;
        for (int i = 0; i < processes; ++i) {
            others.push_back(std::make_unique<support::process>(
                std::vector<std::string>{HOLDFAST_TEST_WORKER, server_.url()}));
            others.back()->send("count q " + path + " " + std::to_string(times));
        }
        all_at_once(clients, [&](unsigned i) {
            client mine{server_.url()};
            mutex shared{mine, "q", {.order = i % 2 == 0 ? ordering::barging : ordering::fair}};
            for (int turn = 0; turn < times; ++turn) {
                auto const held = shared.acquire();
                tokens_.add(held.token());
                long value = 0;
                std::ifstream{path} >> value;
                std::ofstream{path} << value + 1 << '\n';
            }
        });
        for (auto& it : others)
            EXPECT_EQ(it->read(60s), "done");
        calm();
        long value = 0;
        std::ifstream{path} >> value;
        EXPECT_EQ(value, (clients + processes) * times);
        EXPECT_EQ(tokens_.count(), clients * times);
        for (auto& it : others)
            EXPECT_EQ(it->finish(), 0);
        EXPECT_TRUE(is_empty(server_, 15s));
    }

    std::uint64_t seed_{seed_of_run()};
    redis_server server_;
    support::temporary_directory place_;
    rising_tokens tokens_;
    std::atomic<bool> calm_{false};
    std::atomic<int> blows_{0};
    std::future<void> storm_;
};

TEST_F(storm_test, connections_are_killed) {
    brew(60ms, [this](std::uint64_t random) {
        server_.ask({"CLIENT", "KILL", "TYPE", random % 2 == 0 ? "normal" : "pubsub"});
    });
    count_together(400);
    EXPECT_GT(blows_, 10);
}

TEST_F(storm_test, scripts_are_forgotten) {
    brew(4ms, [this](std::uint64_t) { server_.ask({"SCRIPT", "FLUSH"}); });
    count_together(120);
    EXPECT_GT(blows_, 20);
}

// What a server forgets nobody holds: all that is left to promise is that tokens differ and rise, and
// that nobody waits for ever.
TEST_F(storm_test, everything_is_forgotten) {
    brew(100ms, [this](std::uint64_t) { server_.ask({"FLUSHALL"}); });
    std::mutex guard;
    std::set<std::uint64_t> all;
    all_at_once(clients, [&](unsigned i) {
        client mine{server_.url()};
        auto const order = i % 2 == 0 ? ordering::barging : ordering::fair;
        mutex shared{mine, "q", {.lease = 1500ms, .order = order}};
        std::uint64_t last = 0;
        for (int turn = 0; turn < 400; ++turn) {
            auto const held = shared.try_acquire_for(support::patience);
            ASSERT_TRUE(held) << "it waits for ever";
            EXPECT_GT(held->token(), last);
            last = held->token();
            std::lock_guard const hold{guard};
            EXPECT_TRUE(all.insert(last).second) << "one token for two";
        }
    });
    calm();
    EXPECT_GE(blows_, 2);
    EXPECT_TRUE(is_empty(server_, 15s));
}

}  // namespace
}  // namespace holdfast::redis_faults
