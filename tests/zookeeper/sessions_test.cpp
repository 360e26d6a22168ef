// Sessions that end, connections that break, and what becomes of the client.
#include <optional>

#include "zookeeper/faults.hpp"

namespace holdfast::zookeeper_tests {
namespace {

class sessions_test : public testing::Test {
protected:
    support::zookeeper_server server_;
};

TEST_F(sessions_test, a_session_that_expired_is_followed_by_another_one_for_the_same_client) {
    proxy network{server_.port(), 1};
    client mine{url_by(network)};
    client other{server_.url()};
    auto held = mutex{mine, "q", {.lease = 2s}}.acquire();
    auto waiting = std::async(std::launch::async, [&] { return mutex{other, "q"}.acquire(); });
    network.stall(true);
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    auto const next = waiting.get();
    EXPECT_FALSE(held.held());
    EXPECT_GT(next.token(), held.token());
    network.stall(false);
    std::optional<lease> again;
    EXPECT_TRUE(eventually([&] {
        try {
            again = mutex{mine, "r", {.lease = 2s}}.try_acquire();
        } catch (std::system_error const& error) {
            EXPECT_EQ(error.code(), errc::store_unavailable) << error.what();
        }
        return again.has_value();
    }));
    EXPECT_FALSE(mutex(mine, "q").try_acquire());
    EXPECT_FALSE(mutex(other, "r").try_acquire());
}

TEST_F(sessions_test, a_hold_outlives_connections_that_break_all_the_time) {
    proxy network{server_.port(), 1};
    client mine{url_by(network)};
    client other{server_.url()};
    auto held = mutex{mine, "q", {.lease = 3s}}.acquire();
    std::atomic<int> changes{0};
    auto const watching =
        election{mine, "chair"}.observe([&](std::optional<leader_info> const&) { ++changes; });
    for (int turn = 0; turn < 15; ++turn) {
        EXPECT_TRUE(throughout(300ms, [&] { return held.held(); })) << held.loss_reason();
        network.lead_to(server_.port());  // what is open breaks
    }
    EXPECT_GT(network.connections(), 10);
    auto const before = changes.load();
    auto const term = election{other, "chair"}.campaign("other");
    EXPECT_TRUE(eventually([&] { return changes > before; })) << "watches are in force again";
    EXPECT_EQ(held.release(), release_outcome::released);
    EXPECT_EQ(mine.metrics()["losses"], 0U);
}

TEST_F(sessions_test, a_server_that_is_killed_and_started_again_has_kept_everything) {
    client mine{server_.url()};
    client other{server_.url()};
    auto held = mutex{mine, "q", {.lease = 60s}}.acquire();
    server_.kill();
    server_.start();
    EXPECT_TRUE(eventually([&] { return !failure_of([&] { return other.locks(); }); }));
    EXPECT_FALSE(mutex(other, "q").try_acquire_for(5s));  // time for an answer on a busy machine
    EXPECT_TRUE(held.held());
    EXPECT_EQ(held.release(), release_outcome::released);
    EXPECT_TRUE(mutex(other, "q").try_acquire_for(30s));
}

TEST_F(sessions_test, whose_node_an_operator_deletes_is_lost_and_no_other_is) {
    client mine{server_.url()};
    client other{server_.url()};
    auto held = mutex{mine, "q", {.lease = 20s}}.acquire();
    auto const found = server_.control("ls /holdfast/session");
    auto const at = found.rfind('[') + 1;  // the only one
    auto const node = found.substr(at, found.rfind(']') - at);
    auto lasting = mutex{mine, "lasting", {.lease = 40s}}.acquire();
    auto waiting = std::async(std::launch::async, [&] { return mutex{other, "q"}.acquire(); });
    EXPECT_TRUE(eventually([&] { return other.locks("q").front().waiters.size() == 1; }));
    server_.control("delete /holdfast/session/" + node);
    stopwatch const since;
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_LT(since.elapsed(), 15s) << "by a heartbeat, not by the end of the lease";
    EXPECT_FALSE(held.held());
    EXPECT_FALSE(held.loss_reason().empty());
    EXPECT_EQ(held.release(), release_outcome::already_lost);
    EXPECT_GT(waiting.get().token(), held.token());
    EXPECT_EQ(lasting.renew(), lease_state::held);
    EXPECT_EQ(lasting.release(), release_outcome::released);
    // Claims of the same length get a session again.
    EXPECT_TRUE(mutex(mine, "again", {.lease = 20s}).try_acquire_for(10s));
    EXPECT_EQ(mine.metrics()["losses"], 1U);
}

}  // namespace
}  // namespace holdfast::zookeeper_tests
