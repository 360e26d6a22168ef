// A master that is cut off from the others, with half of its clients.
#include <algorithm>

#include "redis/fixture.hpp"
#include "redis/leaks.hpp"
#include "redis/partitioned_network.hpp"
#include "support/fenced_load.hpp"
#include "support/redis_cluster.hpp"
#include "support/redis_sentinels.hpp"

namespace holdfast::redis_faults {
namespace {

using support::fenced_load;
using support::load_options;

// From the cut on: two seconds until it is noticed, the election, a lease that ends, and more to spare, on a busy machine.
constexpr auto partition_recovery = 90s;  // Sentinel tries again after 6 s when its votes are split

std::vector<std::string> const contended{"a", "b", "c"};

// Processes are on one side and the other in turn.
load_options on_both_sides(partitioned_network const& network) {
    return {.routes = {network.routes_of_large_side(), network.routes_of_small_side()}};
}
constexpr fenced_load::part large_side{.first = 0, .step = 2};
constexpr fenced_load::part small_side{.first = 1, .step = 2};

TEST(cluster_partition, is_survived_by_the_larger_side_and_fenced) {
    partitioned_network network{6, {0}};
    support::redis_cluster nodes{{.node_timeout = 2s, .places = network.places()}};
    constexpr unsigned slot = 3300;
    auto& old = nodes.node(0);
    ASSERT_EQ(&nodes.master_of(slot), &old);
    fenced_load load{nodes.url(), contended, on_both_sides(network)};
    ASSERT_TRUE(load.goes_on(partition_recovery, large_side));
    ASSERT_TRUE(load.goes_on(partition_recovery, small_side));
    network.cut();
    EXPECT_TRUE(load.goes_on(partition_recovery, large_side));
    // It has stopped by itself: nobody is let in there any more.
    EXPECT_TRUE(eventually([&] {
        return old.ask({"CLUSTER", "INFO"}).find("cluster_state:fail") != std::string::npos;
    }));
    EXPECT_FALSE(load.goes_on(2s, small_side));
    network.heal();
    EXPECT_TRUE(load.goes_on(partition_recovery, small_side));
    EXPECT_TRUE(load.goes_on(partition_recovery, large_side));
    expect_no_leaks(in_use(nodes));
    load.end();
}

/// Three servers and three sentinels; the master and one sentinel are on the smaller side.
class sentinel_partition : public ::testing::Test {
protected:
    partitioned_network network{6, {0, 3}};
    support::redis_sentinels servers{[this] {
        support::redis_sentinels_options out{.down_after = 2s};
        std::ranges::copy(network.places(), out.places.begin());
        return out;
    }()};
};

// A sentinel of the smaller side says that the master is still the one before, and that one goes on: only the tokens tell
// the sides apart.
TEST_F(sentinel_partition, lets_both_sides_in_and_is_fenced) {
    auto& old = servers.server(0);
    ASSERT_EQ(&servers.master(), &old);
    fenced_load load{servers.url(), contended, on_both_sides(network)};
    ASSERT_TRUE(load.goes_on(partition_recovery, large_side));
    ASSERT_TRUE(load.goes_on(partition_recovery, small_side));
    network.cut();
    // Which of the sentinels that are left finds the new one first is theirs to choose.
    auto const sees_another = [&](std::size_t which) {
        auto const said = servers.sentinel(which).ask(
            {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", support::redis_sentinels::master_name});
        return !said.ends_with("\n" + std::to_string(old.port()));
    };
    EXPECT_TRUE(eventually([&] { return sees_another(1) && sees_another(2); }, partition_recovery));
    EXPECT_TRUE(load.goes_on(partition_recovery, large_side));
    EXPECT_TRUE(load.goes_on(partition_recovery, small_side));
    network.heal();
    EXPECT_TRUE(eventually([&] {
        return old.ask({"INFO", "replication"}).find("role:slave") != std::string::npos;
    }));
    EXPECT_TRUE(load.goes_on(partition_recovery, small_side));
    EXPECT_TRUE(load.goes_on(partition_recovery, large_side));
    expect_no_leaks(in_use(servers));
    load.end();
    EXPECT_GT(load.refused(), 0U) << "the sides never met, so nothing was tried";
}

// What replicas do not confirm is not granted: the side without them stands still.
TEST_F(sentinel_partition, stops_the_side_without_replicas_where_they_must_confirm) {
    fenced_load load{servers.url() + "?replicas=1&timeout=1s", contended, on_both_sides(network)};
    ASSERT_TRUE(load.goes_on(partition_recovery, large_side));
    ASSERT_TRUE(load.goes_on(partition_recovery, small_side));
    network.cut();
    EXPECT_TRUE(load.goes_on(partition_recovery, large_side));
    EXPECT_FALSE(load.goes_on(2s, small_side));
    network.heal();
    EXPECT_TRUE(load.goes_on(partition_recovery, small_side));
    load.end();
}

}  // namespace
}  // namespace holdfast::redis_faults
