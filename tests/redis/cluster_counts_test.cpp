// How many commands the nodes of a cluster get, by their own count: as many as one server would.
#include <cstdint>
#include <string>
#include <vector>

#include "redis/crowd.hpp"
#include "redis/fixture.hpp"
#include "support/redis_cluster.hpp"

namespace holdfast::redis_faults {
namespace {

class cluster_counts : public testing::Test {
protected:
    void count_anew() {
        for (auto* const each : masters_)
            each->ask({"CONFIG", "RESETSTAT"});
    }

    /// By clients, to all masters. What nodes and the test itself ask is not theirs, nor is the question for the topology
    /// that each client repeats every five seconds.
    [[nodiscard]] std::uint64_t sent() const {
        std::uint64_t out = 0;
        for (auto* const each : masters_) {
            out += commands_sent_to(*each);
            auto counts = commands_of(*each);
            for (auto const* const other : {"replconf", "ping", "cluster|slots", "cluster|nodes",
                                            "cluster|myid", "cluster|info"})
                out -= counts[other];
        }
        return out;
    }
    void await_quiet() const {
        std::uint64_t before = 0;
        EXPECT_TRUE(eventually([&] {
            auto const then = std::exchange(before, sent());
            return throughout(200ms, [&] { return sent() == then; });
        }));
    }

    support::redis_cluster nodes_{{.node_timeout = 1min}};
    std::vector<redis_server*> masters_{nodes_.masters()};
};

TEST_F(cluster_counts, a_lock_and_its_unlock_are_two_commands_on_every_master) {
    client mine{nodes_.url()};
    constexpr unsigned pairs = 100;
    for (std::string const name : {"a", "b", "c"}) {  // one for each of them
        mutex lock{mine, name};
        lock.lock();  // connects, and loads the scripts
        lock.unlock();
        await_quiet();
        count_anew();
        for (unsigned i = 0; i < pairs; ++i) {
            lock.lock();
            lock.unlock();
        }
        EXPECT_TRUE(eventually([&] { return sent() >= 2 * pairs; }));
        EXPECT_EQ(sent(), 2 * pairs) << "and nothing else";
    }
}

// One to ask, one to let go: whoever waits is told by a message.
TEST_F(cluster_counts, a_hand_over_is_two_commands) {
    constexpr unsigned clients = 4;
    constexpr int turns = 50;
    std::vector<client> all;
    for (unsigned i = 0; i < clients; ++i)
        (void)mutex{all.emplace_back(nodes_.url()), "q"}.acquire().release();
    auto const take_turns = [&](int count) {
        all_at_once(clients, [&](unsigned i) {
            mutex wanted{all[i], "q", {.lease = 120s, .order = ordering::fair}};
            for (int turn = 0; turn < count; ++turn)
                (void)wanted.acquire().release();
        });
    };
    take_turns(5);  // subscribes
    await_quiet();
    count_anew();
    take_turns(turns);
    auto const each = static_cast<double>(sent()) / (turns * clients);
    std::cout << each << " commands for each hand-over" << std::endl;
    EXPECT_NEAR(each, 2, 0.05);
}

}  // namespace
}  // namespace holdfast::redis_faults
