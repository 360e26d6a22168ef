// A follower that is cut off from its leader goes on answering its clients, long after the leader has ended their sessions.
#include <optional>
#include <thread>
#include <vector>

#include "support/counts.hpp"
#include "zookeeper/faults.hpp"

namespace holdfast::zookeeper_tests {
namespace {

constexpr unsigned parties = 12;

// The holders' signs of life come at different moments, so that for some of them the cut falls right behind one, before
// the follower has told its leader.
TEST(follower_test, its_holders_know_that_they_have_lost_before_others_hold) {
    support::zookeeper_server server{
        {.members = 3, .cuttable = true, .tick = 2s, .sync_limit = 20}};
    auto const leader = server.leader();
    auto const follower = (leader + 1) % 3;
    std::vector<client> holders;
    std::vector<lease> held;
    client other{server.url(leader)};
    for (int round = 0; round < support::large_count(20); ++round) {
        std::string const name = "q" + std::to_string(round) + "-";
        for (unsigned each = 0; each < parties; ++each) {
            holders.emplace_back(server.url(follower));
            held.push_back(
                mutex{holders.back(), name + std::to_string(each), {.lease = 12s}}.acquire());
            (void)throughout(300ms, [] { return true; });
        }
        server.cut_off_from(follower, leader);
        stopwatch const since;
        all_at_once(parties, [&](unsigned each) {
            auto const mine = mutex{other, name + std::to_string(each)}.acquire();
            EXPECT_FALSE(held[each].held())
                << "both hold, " << since.elapsed().count() << " ms after the cut";
        });
        EXPECT_LT(since.elapsed(), 40s) << "the follower was given up before the sessions were";
        server.heal();
        held.clear();
        holders.clear();
    }
}

// A leader that does not know yet that it is one no more goes on answering its clients as well.
TEST(follower_test,
     holders_of_a_leader_that_is_cut_off_know_that_they_have_lost_before_others_hold) {
    support::zookeeper_server server{{.members = 3, .cuttable = true, .sync_limit = 10}};
    auto const leader = server.leader();
    std::vector<client> holders;
    std::vector<lease> held;
    client other{server.url((leader + 1) % 3), {.patience = 120s}};
    for (unsigned each = 0; each < parties; ++each) {
        holders.emplace_back(server.url(leader));
        held.push_back(mutex{holders.back(), "q" + std::to_string(each), {.lease = 4s}}.acquire());
        (void)throughout(100ms, [] { return true; });
    }
    server.cut_off(leader);
    all_at_once(parties, [&](unsigned each) {
        auto const mine = mutex{other, "q" + std::to_string(each)}.acquire();
        EXPECT_FALSE(held[each].held()) << "both hold";
        EXPECT_GT(mine.token(), held[each].token());
    });
    server.heal();
    EXPECT_TRUE(eventually([&] {
        try {
            return mutex{holders.front(), "again"}.try_lock();
        } catch (std::system_error const&) {
            return false;
        }
    })) << "a client of the old leader goes on";
}

}  // namespace
}  // namespace holdfast::zookeeper_tests
