// A cluster whose leader dies, stops or is cut off, and one that loses its majority, while twenty processes contend.
#include <optional>

#include "etcd/faults.hpp"
#include "support/failure.hpp"
#include "support/fenced_load.hpp"

namespace holdfast::etcd_tests {
namespace {

struct leader_fault {
    std::string name;
    std::function<void(support::etcd_server&, std::size_t)> begin;
    std::function<void(support::etcd_server&, std::size_t)> end;
    /// No hold is lost: leases are longer than the fault. Not for a leader that goes on believing that it is one: with
    /// the etcd of the tests, such a one may end leases that were renewed elsewhere.
    bool loses_nothing;
};

class leader_test : public testing::TestWithParam<leader_fault> {
protected:
    support::etcd_server server_{{.members = 3, .cuttable = true}};
};

TEST_P(leader_test, under_load) {
    auto const& fault = GetParam();
    support::fenced_load load{
        server_.url() + "?timeout=1s", {"a", "b", "c", "d"}, {.lease = 10s, .processes = 20}};
    ASSERT_TRUE(load.goes_on(30s));
    for (int turn = 0; turn < 2; ++turn) {
        auto const leader = server_.leader();
        fault.begin(server_, leader);
        EXPECT_TRUE(load.goes_on(60s)) << fault.name;
        fault.end(server_, leader);
        EXPECT_TRUE(load.goes_on(60s)) << "after it: " << fault.name;
    }
    load.end();
    if (fault.loses_nothing) {
        EXPECT_EQ(load.losses(), 0U);
        EXPECT_EQ(load.refused(), 0U) << "two were inside, and the fence told them apart";
    }
    EXPECT_TRUE(is_empty(server_, 20s));
}

INSTANTIATE_TEST_SUITE_P(
    faults, leader_test,
    testing::Values(leader_fault{"killed", [](auto& server, auto which) { server.kill(which); },
                                 [](auto& server, auto which) { server.start(which); }, true},
                    leader_fault{"stopped", [](auto& server, auto which) { server.stop(which); },
                                 [](auto& server, auto which) { server.resume(which); }, false},
                    leader_fault{"cut_off", [](auto& server, auto which) { server.cut_off(which); },
                                 [](auto& server, auto) { server.heal(); }, false}),
    [](auto const& which) { return which.param.name; });

TEST(majority_test, without_one_holds_are_lost_in_time_and_with_one_again_names_are_free) {
    support::etcd_server server{{.members = 3}};
    client mine{server.url() + "?timeout=1s"};
    auto held = mutex{mine, "q", {.lease = 4s}}.acquire();
    client other{server.url() + "?timeout=1s", {.patience = 1s}};
    auto const leader = server.leader();
    auto const second = (leader + 1) % 3;
    server.kill(leader);
    server.kill(second);
    stopwatch const since;
    EXPECT_EQ(support::failure_of([&] {
                  return mutex{other, "r"}.try_acquire();
              }),
              errc::store_unavailable);
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_FALSE(held.held());
    EXPECT_LT(since.elapsed(), 5s);  // the lease began before
    server.start(leader);
    server.start(second);
    // The new leader counts the lease from the start.
    std::optional<lease> next;
    EXPECT_TRUE(eventually([&] {
        try {
            next = mutex{other, "q", {.lease = 4s}}.try_acquire_for(1s);
        } catch (std::system_error const& error) {
            EXPECT_EQ(error.code(), errc::store_unavailable) << error.what();
        }
        return next.has_value();
    }));
    ASSERT_TRUE(next);
    EXPECT_GT(next->token(), held.token());
    EXPECT_TRUE(eventually([&] {
        try {
            return mutex{mine, "s"}.try_lock();
        } catch (std::system_error const&) {
            return false;
        }
    })) << "the same client goes on";
}

}  // namespace
}  // namespace holdfast::etcd_tests
