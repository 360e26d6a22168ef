// Half-open connections: bytes vanish on those that there are, nobody is told, and new ones work.
#include <memory>
#include <optional>
#include <thread>

#include "redis/fixture.hpp"
#include "support/proxy.hpp"

namespace holdfast::redis_faults {
namespace {

/// A way to a server that passes by a proxy.
struct way {
    std::string what;
    std::string scheme{"redis"};
    std::string options{};
    bool replica{false};
};

void PrintTo(way const& it, std::ostream* to) { *to << it.what; }

class half_open_test : public ::testing::TestWithParam<way> {
protected:
    half_open_test() {
        if (!GetParam().replica) return;
        replica_ = std::make_unique<redis_server>(support::redis_server_options{
            .arguments = {"--replicaof", "127.0.0.1", std::to_string(server_.port())}});
        // The server itself must say so: it counts no replica before it has heard from it.
        EXPECT_TRUE(eventually([&] {
            return replica_->ask({"INFO", "replication"}).find("master_link_status:up") !=
                       std::string::npos &&
                   server_.ask({"INFO", "replication"}).find("state=online") != std::string::npos;
        }));
    }

    [[nodiscard]] static std::string url(proxy const& by, std::string const& options) {
        return GetParam().scheme + "://127.0.0.1:" + std::to_string(by.port()) + "?" +
               GetParam().options + options;
    }

    /// A hold with this lease outlives two half-open moments, each for longer than the lease.
    void hold_through_silence(std::chrono::milliseconds lease_length) {
        proxy network{server_.port(), 1};
        client mine{url(network, "timeout=3s")};
        mutex shared{
            mine, "lease of " + std::to_string(lease_length.count()), {.lease = lease_length}};
        auto held = shared.acquire();
        for (int moment = 0; moment < 2; ++moment) {
            auto const before = mine.metrics()["renewals"];
            ASSERT_TRUE(eventually([&] { return mine.metrics()["renewals"] > before + 1; }));
            network.swallow();
            ASSERT_TRUE(throughout(lease_length + 500ms, [&] { return held.held(); }))
                << held.name() << ": " << held.loss_reason();
        }
        EXPECT_EQ(mine.metrics()["losses"], 0U);
        EXPECT_EQ(held.release(), release_outcome::released);
    }

    redis_server server_{
        {.tls = GetParam().scheme == "rediss", .arguments = {"--repl-diskless-sync-delay", "0"}}};
    std::unique_ptr<redis_server> replica_;
};

TEST_P(half_open_test, short_leases_survive) {
    all_at_once(2, [&](unsigned i) { hold_through_silence(i == 0 ? 2s : 3s); });
}

// The subscription says nothing for long by itself, so it is asked when another connection was dead.
TEST_P(half_open_test, messages_arrive_again) {
    proxy network{server_.port(), 1};
    client mine{url(network, "timeout=3s")};
    client other{server_.url() + (GetParam().scheme == "rediss" ? "?insecure=1" : "")};
    mutex keeper{mine, "kept", {.lease = 2s}};
    mutex theirs{other, "q"};
    auto const kept = keeper.acquire();
    auto held = std::optional<lease>{theirs.acquire()};
    mutex wanted{mine, "q", {.lease = 60s, .order = ordering::fair}};
    auto waits = std::async(std::launch::async, [&] { return wanted.acquire(); });
    ASSERT_TRUE(eventually(
        [&] { return !other.locks("q").empty() && other.locks("q").front().waiters.size() == 1; }));
    auto const channels = [&] { return server_.ask({"PUBSUB", "CHANNELS", "*"}); };
    ASSERT_TRUE(eventually([&] { return !channels().empty(); }));
    auto const connections = network.connections();
    network.swallow();
    // Commands, messages, and with replicas a third.
    EXPECT_TRUE(eventually([&] { return network.connections() >= connections + 2; }, 6s));
    EXPECT_TRUE(kept.held());
    held.reset();
    EXPECT_EQ(waits.wait_for(10s), std::future_status::ready) << "it waits for the slow poll";
}

// By itself it is asked after 5 s without a message, and has the time of `timeout` to answer.
TEST_P(half_open_test, a_subscription_alone_is_made_again) {
    proxy network{server_.port(), 1};
    client mine{url(network, "timeout=1s")};
    latch gate{mine, "gate", 1};
    EXPECT_FALSE(gate.wait_for(1s));
    auto const numbers = [&] {
        return server_.ask({"PUBSUB", "NUMSUB", server_.ask({"PUBSUB", "CHANNELS", "*"})});
    };
    ASSERT_TRUE(eventually([&] { return numbers().ends_with("1"); }));
    auto const connections = network.connections();
    constexpr int of_messages = 1;  // the second that is made
    network.swallow(of_messages);
    EXPECT_TRUE(eventually([&] { return network.connections() > connections; }, 10s));
    EXPECT_TRUE(eventually([&] { return numbers().ends_with("1"); }));
}

INSTANTIATE_TEST_SUITE_P(
    ways, half_open_test,
    ::testing::Values(way{"plain"},
                      way{.what = "tls", .scheme = "rediss", .options = "insecure=1&"},
                      way{.what = "replicated", .options = "replicas=1&", .replica = true}),
    [](auto const& its) { return its.param.what; });

}  // namespace
}  // namespace holdfast::redis_faults
