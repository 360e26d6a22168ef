// Servers that have names: unknown ones, slow answers, names that move.
#include <ctime>

#include <gtest/gtest.h>

#include "support/eventually.hpp"
#include "support/zookeeper_server.hpp"
#include "zookeeper/driver_client.hpp"
#include "zookeeper/names_of_servers.hpp"

namespace holdfast::zookeeper_tests {
namespace {

using namespace std::chrono_literals;
using driver_tests::expect;
namespace compare = stores::compare;

std::chrono::milliseconds spent_by_this_process() {
    return std::chrono::milliseconds{std::clock() * 1000 / CLOCKS_PER_SEC};
}

TEST(zookeeper_lookup, a_name_that_nobody_knows_is_told_and_asked_for_in_steps) {
    auto mine = client_of("zookeeper://unknown.test?timeout=500ms");
    auto const before = spent_by_this_process();
    auto const asked = names_of_servers::asked();
    for (std::uint64_t id = 1; id < 4; ++id) {
        auto const refused = expect<compare::rejected>(mine.open(compare::session_id{id}, 2s));
        EXPECT_EQ(refused.error.code, errc::store_unavailable);
    }
    mine.drive_for(500ms);
    EXPECT_LT(names_of_servers::asked() - asked, 150);
    EXPECT_LT(spent_by_this_process() - before, 700ms) << "of two seconds";
}

TEST(zookeeper_lookup, a_name_service_that_takes_its_time_holds_nobody_up) {
    support::zookeeper_server server;
    names_of_servers::set("slow.test", "127.0.0.1");
    names_of_servers::be_silent();
    auto mine = client_of("zookeeper://slow.test:" + std::to_string(server.port()) +
                          "?timeout=20s&tick=200ms");
    support::stopwatch const since;
    auto const which = mine.next_ticket();
    mine.driver().open(which, compare::session_id{7}, 2s, "who I am");
    mine.drive_for(100ms);
    EXPECT_LT(since.elapsed(), 5s) << "the call waits for the name";
    EXPECT_FALSE(mine.answered(which));
    names_of_servers::answer_again();
    (void)expect<compare::opened>(mine.outcome_of(which));
}

TEST(zookeeper_lookup, a_name_that_has_moved_is_found_where_it_is) {
    support::zookeeper_server server;
    names_of_servers::set("moves.test", "127.0.0.2");  // where nobody listens
    auto mine = client_of("zookeeper://moves.test:" + std::to_string(server.port()) +
                          "?timeout=10s&tick=200ms");
    auto const which = mine.next_ticket();
    mine.driver().open(which, compare::session_id{8}, 2s, "who I am");
    mine.drive_for(200ms);
    EXPECT_FALSE(mine.answered(which));
    names_of_servers::set("moves.test", "127.0.0.1");
    (void)expect<compare::opened>(mine.outcome_of(which));
}

}  // namespace
}  // namespace holdfast::zookeeper_tests
