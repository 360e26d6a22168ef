// Fencing tokens rise, whatever ends a hold.
#include <atomic>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "conformance/store_test.hpp"
#include "support/counts.hpp"

namespace holdfast::conformance {

namespace {

class tokens_test : public store_test {
protected:
    /// Called by a holder with its token: it must be higher than all before.
    void see(std::uint64_t token) {
        auto const before = highest_.exchange(token, std::memory_order_relaxed);
        if (token <= before) ++falls_;
        grants_.fetch_add(1, std::memory_order_relaxed);
    }

    std::atomic<std::uint64_t> highest_{0};
    std::atomic<int> falls_{0};
    std::atomic<int> grants_{0};
};
HOLDFAST_OVER_ALL_ROWS(tokens_test);

TEST_P(tokens_test, rise_over_thousands_of_mixed_grants) {
    constexpr int rounds = 20;
    constexpr int clients = 3;
    constexpr int threads = 4;
    auto const wanted = support::large_count(200'000);
    auto const turns = wanted / (rounds * clients * threads) + 1;
    auto const seed = std::random_device{}();
    std::cout << "seed " << seed << '\n';
    std::mt19937 random{seed};
    // Servers on a busy machine may be too slow for the shortest of these leases for a while.
    client_options const patient{.patience = 2 * patience};
    std::vector<client> all;
    for (int i = 0; i < clients; ++i)
        all.push_back(connect(patient));
    for (int round = 0; round < rounds; ++round) {
        std::vector<std::jthread> crowd;
        for (int i = 0; i < clients * threads; ++i) {
            crowd.emplace_back([&, i] {
                mutex shared{all[static_cast<std::size_t>(i % clients)], "q"};
                for (int turn = 0; turn < turns; ++turn) {
                    std::lock_guard const guard{shared};
                    see(shared.token());
                }
            });
        }
        crowd.clear();
        auto& any = all[random() % clients];
        mutex brief{any, "q", {.lease = 50ms, .renew = false}};
        auto const expiring = brief.acquire();
        see(expiring.token());
        if (random() % 2 == 0) all[0].evict("q");
        auto const next = mutex{all[random() % clients], "q"}.acquire();
        EXPECT_TRUE(eventually([&] { return expiring.state() == lease_state::lost; }));
        see(next.token());
        if (round % 5 == 4) all[random() % clients] = connect(patient);  // clients come and go
    }
    EXPECT_EQ(falls_, 0);
    EXPECT_GE(grants_, wanted);
    for (auto& it : all)
        EXPECT_EQ(it.metrics()["tokens_not_rising"], 0U);
}

TEST_P(tokens_test, rise_with_every_local_pass) {
    auto client = connect();
    mutex shared{client, "q"};
    {
        std::vector<std::jthread> crowd;
        for (int i = 0; i < 8; ++i) {
            crowd.emplace_back([&] {
                for (int turn = 0; turn < 200; ++turn) {
                    std::lock_guard const guard{shared};
                    see(shared.token());
                }
            });
        }
    }
    EXPECT_EQ(falls_, 0);
    EXPECT_EQ(grants_, 8 * 200);
    EXPECT_GT(client.metrics()["passes"], 0U);
}

TEST_P(tokens_test, rise_over_clients_that_come_and_go) {
    auto const watcher = connect();  // the store outlives them
    for (int i = 0; i < 20; ++i) {
        auto client = connect();
        mutex shared{client, "q"};
        shared.lock();
        see(shared.token());
        client.close();
    }
    EXPECT_EQ(falls_, 0);
}

TEST_P(tokens_test, rise_over_a_store_that_begins_anew) {
    if (!can({ability::lasting_tokens})) return;
    for (int i = 0; i < 5; ++i) {
        {
            auto const client = connect();
            mutex shared{client, "q"};
            for (int turn = 0; turn < 50; ++turn)
                see(shared.acquire().token());
        }
        store().begin_anew();
    }
    EXPECT_EQ(falls_, 0);
    EXPECT_EQ(grants_, 5 * 50);
}

}  // namespace

}  // namespace holdfast::conformance
