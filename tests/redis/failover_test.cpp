// The server behind an address is replaced by its replica, whose clock differs, while processes wait.
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "redis/after_a_switch.hpp"
#include "redis/fixture.hpp"
#include "support/proxy.hpp"

namespace holdfast::redis_faults {
namespace {

class failover : public testing::TestWithParam<std::chrono::seconds> {
protected:
    failover()
        : second_{{.arguments = {"--replicaof", "127.0.0.1", std::to_string(first_.port())},
                   .clock_ahead = GetParam()}} {}

    [[nodiscard]] bool in_step() const {
        return eventually([&] {
            auto const state = second_.ask({"INFO", "replication"});
            return state.find("master_link_status:up") != std::string::npos &&
                   second_.ask({"DBSIZE"}) == first_.ask({"DBSIZE"});
        });
    }

    // As an operator does, or a virtual address that moves.
    void fail_over() {
        ASSERT_TRUE(in_step());
        first_.kill();
        ASSERT_EQ(second_.ask({"REPLICAOF", "NO", "ONE"}), "OK");
        address_.lead_to(second_.port());
    }

    /// How many clients wait for messages of a server.
    static std::size_t listeners(redis_server const& at) {
        std::istringstream channels{at.ask({"PUBSUB", "CHANNELS", "holdfast:client:*"})};
        std::size_t out = 0;
        for (std::string channel; std::getline(channels, channel);)
            ++out;
        return out;
    }

    redis_server first_{{.arguments = {"--repl-diskless-sync-delay", "0"}}};
    redis_server second_;
    proxy address_{first_.port(), 1};
};

TEST_P(failover, what_is_granted_after_it_is_never_believed_past_its_lease) {
    client home{address_.url()};
    auto first = mutex{home, "q", {.lease = 60s}}.acquire();
    waiters_with_short_leases waiters{address_.url(), home, first};
    fail_over();
    first.release();
    waiters.expect_all_served();
}

// What a process that waits hears of the new server first is the grant itself: with nothing but a time of the one
// before, nobody can tell when it ends.
TEST_P(failover, a_grant_that_is_pushed_counts_only_when_the_server_that_gave_it_has_confirmed_it) {
    constexpr auto lease_time = 60s;
    proxy way{first_.port(), 1};
    client home{address_.url()};
    auto held = mutex{home, "q", {.lease = 60s}}.acquire();
    support::process waiter{{HOLDFAST_TEST_WORKER, way.url(), "60000"}};
    waiter.send("acquire q lease=60000");
    ASSERT_TRUE(eventually([&] {
        auto const seen = home.locks("q");
        return !seen.empty() && seen.front().waiters.size() == 1 && listeners(first_) == 2;
    }));
    way.hold_back("-commands");
    fail_over();
    way.lead_to(second_.port());
    ASSERT_TRUE(eventually([&] { return listeners(second_) == 2; })) << "both listen";
    ASSERT_TRUE(eventually([&] { return held.renew() == lease_state::held; }));
    ASSERT_EQ(held.release(), release_outcome::released);
    client observer{second_.url()};
    ASSERT_TRUE(eventually([&] {
        auto const seen = observer.locks("q");
        return !seen.empty() && seen.front().holders.size() == 1 && seen.front().waiters.empty();
    }));
    EXPECT_THROW((void)waiter.read(1s), std::runtime_error) << "nobody has confirmed it";
    way.let_go();
    auto const said = waiter.read();
    EXPECT_TRUE(said.starts_with("held ")) << said;
    std::chrono::milliseconds const left{std::stoll(waiter.ask("remaining"))};
    EXPECT_LE(left, lease_time);
    EXPECT_GT(left, lease_time / 2);
}

TEST_P(failover, a_hold_goes_on_by_the_clock_of_the_server_that_renews_it) {
    client mine{address_.url()};
    mutex wanted{mine, "q", {.lease = 20s}};
    auto got = wanted.acquire();
    fail_over();
    EXPECT_TRUE(eventually([&] { return got.renew() == lease_state::held; }));
    EXPECT_LE(got.remaining(), 20s);
    EXPECT_GT(got.remaining(), 15s);
    EXPECT_EQ(got.release(), release_outcome::released);
}

INSTANTIATE_TEST_SUITE_P(clocks, failover, testing::Values(5s, -5s), [](auto const& which) {
    return which.param > 0s ? std::string{"ahead"} : std::string{"behind"};
});

// An address behind which two servers stand for a moment: what one has granted is not confirmed by the replicas of the
// other.
TEST(confirmation, counts_only_the_replicas_of_the_server_that_granted) {
    auto const replica_of = [](redis_server const& of) {
        return support::redis_server_options{
            .arguments = {"--replicaof", "127.0.0.1", std::to_string(of.port())}};
    };
    redis_server granting{{.arguments = {"--repl-diskless-sync-delay", "0"}}};
    redis_server other{{.arguments = {"--repl-diskless-sync-delay", "0"}}};
    redis_server const others_replica{replica_of(other)};
    ASSERT_TRUE(eventually([&] {
        return others_replica.ask({"INFO", "replication"}).find("master_link_status:up") !=
               std::string::npos;
    }));
    proxy address{granting.port(), 1};
    client mine{address.url() + "&replicas=1"};
    (void)mine.locks();  // connects for commands, and has nothing to confirm
    address.lead_new_ones_to(other.port());
    auto failure = std::async(std::launch::async, [&] {
        return support::failure_of([&] { return mutex{mine, "q"}.try_acquire_for(3s); });
    });
    // Asked while the call waits: at its end it withdraws what it may have been granted.
    EXPECT_TRUE(eventually([&] {
        return granting.ask({"EXISTS", "holdfast:name:{q}"}) == "1";
    })) << "it was granted there";
    EXPECT_EQ(failure.get(), errc::store_unavailable);
    EXPECT_EQ(other.ask({"EXISTS", "holdfast:replicated"}), "1") << "and the other was asked";
}

// What waits for a replica when its server is made one itself is in doubt: the server that is found next may have it.
TEST(confirmation, is_in_doubt_when_the_server_becomes_a_replica) {
    redis_server master{{.arguments = {"--repl-diskless-sync-delay", "0"}}};
    redis_server replica{
        {.arguments = {"--replicaof", "127.0.0.1", std::to_string(master.port())}}};
    client mine{master.url() + "?replicas=1&timeout=6s"};
    (void)mutex{mine, "before"}.acquire().release();
    replica.stop();
    auto failure = std::async(std::launch::async, [&] {
        return support::failure_of([&] { return mutex{mine, "q"}.try_acquire_for(3s); });
    });
    ASSERT_TRUE(eventually([&] {
        return master.ask({"INFO", "clients"}).find("blocked_clients:1") != std::string::npos;
    }));
    ASSERT_EQ(master.ask({"REPLICAOF", "127.0.0.1", std::to_string(replica.port())}), "OK");
    EXPECT_EQ(failure.get(), errc::store_unavailable);
    replica.resume();
}

}  // namespace
}  // namespace holdfast::redis_faults
