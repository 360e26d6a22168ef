// The layout that other clients have, in a Cluster: a name without braces is a slot of its own.
#include <algorithm>
#include <string>
#include <vector>

#include "support/redis_cluster.hpp"
#include "unit/redis_fixture.hpp"

namespace holdfast::test {
namespace {

using support::redis_cluster;
using support::redis_server;

// Names of the three masters.
struct place {
    char const* name;
    unsigned slot;
};
constexpr place places[]{{"a", 15495}, {"b", 3300}, {"c", 7365}};

/// Whether the only mark of a server is one of this slot.
void expect_mark_in(redis_server const& home, unsigned slot) {
    auto const marks = home.ask({"KEYS", "holdfast:mark*"});
    EXPECT_TRUE(marks.starts_with("holdfast:mark:{")) << marks;
    EXPECT_EQ(home.ask({"CLUSTER", "KEYSLOT", marks}), std::to_string(slot)) << marks;
}

TEST(redis_plain_cluster, does_what_it_does_on_one_server) {
    redis_cluster nodes;
    auto const url = nodes.url() + "?layout=plain";
    peer mine{url};
    peer other{url};
    std::vector<seam::claim> held;
    for (auto const& [name, slot] : places) {
        auto const& claim = held.emplace_back(mine.claim(name));
        auto const granted = mine.submit(claim);
        ASSERT_TRUE(is_granted(granted)) << name << ": " << error_of(granted).text;
        auto const& home = nodes.master_of(slot);
        EXPECT_TRUE(home.ask({"GET", name}).starts_with(seam::to_string(claim.id) + ":"));
        expect_mark_in(home, slot);
        EXPECT_TRUE(is_refused(other.submit(other.claim(name)), seam::refusal::busy));
        EXPECT_EQ(mine.renew(claim, 60s).found, seam::renewal::status::alive);
        EXPECT_GT(std::stol(home.ask({"PTTL", name})), 30'000);
    }
    // Each master tells its own, in no order.
    auto page = std::get<seam::page>(other.send(seam::inspect{}).body);
    ASSERT_EQ(page.names.size(), std::size(places));
    std::ranges::sort(page.names, {}, &seam::listed::name);
    EXPECT_TRUE(std::ranges::equal(page.names, places, {}, &seam::listed::name, &place::name));
    for (auto const& claim : held) {
        EXPECT_EQ(mine.settle(claim), seam::ending::released);
        EXPECT_TRUE(is_granted(other.submit(other.claim(claim.name()))));
    }
}

TEST(redis_plain_cluster, bars_a_submit_that_comes_after_it_was_given_up) {
    redis_cluster nodes;
    peer mine{nodes.url() + "?layout=plain"};
    for (auto const& [name, slot] : places) {
        auto const late = mine.claim(name);
        auto const now = mine.send(seam::hello{}).now;
        auto const ended =
            mine.send(seam::settle{.subject = late, .keep_for = {}, .tombstone_until = now + 60s});
        EXPECT_EQ(std::get<seam::settled>(ended.body).how, seam::ending::gone);
        EXPECT_TRUE(is_refused(mine.submit(late), seam::refusal::too_late)) << name;
        EXPECT_EQ(nodes.master_of(slot).ask({"EXISTS", name}), "0");
    }
}

}  // namespace
}  // namespace holdfast::test
