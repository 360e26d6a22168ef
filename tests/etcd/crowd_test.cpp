// Many threads, clients and processes on few names: no conflict reaches a user, no wake-up is lost, nothing is left.
#include <array>
#include <fstream>
#include <random>

#include "etcd/faults.hpp"
#include "support/counts.hpp"
#include "support/process.hpp"

namespace holdfast::etcd_tests {
namespace {

TEST(crowd_test, two_hundred_threads_on_twenty_names) {
    constexpr unsigned threads = 200;
    constexpr unsigned names = 20;
    constexpr unsigned processes = 10;  // that is, clients
    support::etcd_server const server;
    auto const seed = support::seed_of_run();
    std::vector<client> clients;
    for (unsigned i = 0; i < processes; ++i)
        clients.emplace_back(server.url());
    std::array<support::room, names> rooms;
    std::array<support::rising_tokens, names> tokens;
    std::array<std::atomic<long>, names> visits{};
    stopwatch const since;
    auto const span = support::large_count(60'000ms);
    all_at_once(threads, [&](unsigned i) {
        std::mt19937_64 random{seed + i};
        while (since.elapsed() < span) {
            auto const which = random() % names;
            // Every name has its order, since one excludes the other.
            mutex shared{
                clients[i % processes],
                "n" + std::to_string(which),
                {.lease = 60s, .order = which % 2 == 0 ? ordering::fair : ordering::barging}};
            auto const held = shared.acquire();
            tokens[which].add(held.token());
            rooms[which].visit();
            ++visits[which];
        }
    });
    long all = 0;
    for (unsigned i = 0; i < names; ++i) {
        EXPECT_EQ(rooms[i].visits(), visits[i]);
        EXPECT_GT(visits[i], 0);
        all += visits[i];
    }
    std::cout << all << " visits in " << since.elapsed().count() << " ms" << std::endl;
    for (auto& each : clients) {
        EXPECT_EQ(each.metrics()["losses"], 0U);
        EXPECT_EQ(each.metrics()["tokens_not_rising"], 0U);
        each.close();
    }
    EXPECT_TRUE(is_empty(server, 20s));
}

TEST(crowd_test, eight_processes_count_together) {
    constexpr int processes = 8;
    support::etcd_server const server;
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
        EXPECT_EQ(each->read(600s), "done");
    std::cout << turns * processes << " turns in " << since.elapsed().count() << " ms" << std::endl;
    int counted = 0;
    std::ifstream{path} >> counted;
    EXPECT_EQ(counted, turns * processes);
    for (auto const& each : all)
        EXPECT_EQ(each->finish(), 0);
    EXPECT_TRUE(is_empty(server, 20s));
}

}  // namespace
}  // namespace holdfast::etcd_tests
