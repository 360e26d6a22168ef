// An ensemble whose leader dies, stops or is cut off, and one that loses its majority, while twenty processes contend.
#include <optional>

#include "support/fenced_load.hpp"
#include "zookeeper/faults.hpp"

namespace holdfast::zookeeper_tests {
namespace {

struct leader_fault {
    std::string name;
    std::function<void(support::zookeeper_server&, std::size_t)> begin;
    std::function<void(support::zookeeper_server&, std::size_t)> end;
};

// Members elect by connections of another kind, which are not cut: as soon as it has noticed that it leads nobody, it must not
// be elected again.
void cut_off(support::zookeeper_server& server, std::size_t leader) {
    server.cut_off(leader);
    EXPECT_TRUE(eventually([&] { return !server.leads(leader); }));
    server.stop(leader);
}

class ensemble_test : public testing::TestWithParam<leader_fault> {
protected:
    support::zookeeper_server server_{{.members = 3, .cuttable = true, .sync_limit = 10}};
};

TEST_P(ensemble_test, under_load) {
    auto const& fault = GetParam();
    support::fenced_load load{
        server_.url() + "&timeout=1s", {"a", "b", "c", "d"}, {.lease = 10s, .processes = 20}};
    ASSERT_TRUE(load.goes_on(30s));
    auto const leader = server_.leader();
    fault.begin(server_, leader);
    EXPECT_TRUE(load.goes_on(60s)) << fault.name;
    fault.end(server_, leader);
    EXPECT_TRUE(load.goes_on(60s)) << "after it: " << fault.name;
    load.end();
}

INSTANTIATE_TEST_SUITE_P(
    faults, ensemble_test,
    testing::Values(leader_fault{"killed", [](auto& server, auto which) { server.kill(which); },
                                 [](auto& server, auto which) { server.start(which); }},
                    leader_fault{"stopped", [](auto& server, auto which) { server.stop(which); },
                                 [](auto& server, auto which) { server.resume(which); }},
                    leader_fault{"cut_off", cut_off,
                                 [](auto& server, auto which) {
                                     server.heal();
                                     server.resume(which);
                                 }}),
    [](auto const& which) { return which.param.name; });

TEST(majority_test, without_one_holds_are_lost_in_time_and_with_one_again_names_are_free) {
    support::zookeeper_server server{{.members = 3}};
    client mine{server.url() + "&timeout=1s"};
    auto held = mutex{mine, "q", {.lease = 4s}}.acquire();
    client other{server.url() + "&timeout=1s", {.patience = 1s}};
    auto const leader = server.leader();
    auto const second = (leader + 1) % 3;
    server.kill(leader);
    server.kill(second);
    stopwatch const since;
    EXPECT_EQ(failure_of([&] { return mutex{other, "r"}.try_acquire(); }), errc::store_unavailable);
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_FALSE(held.held());
    EXPECT_LT(since.elapsed(), 6s);  // the lease began before
    server.start_dead();
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
}  // namespace holdfast::zookeeper_tests
