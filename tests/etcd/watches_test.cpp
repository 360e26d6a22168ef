// Watches over a connection that comes and goes.
#include <gtest/gtest.h>

#include "etcd/fixture.hpp"
#include "support/eventually.hpp"

namespace holdfast::etcd_tests {

namespace {

using namespace std::chrono_literals;

TEST(etcd_watches, what_happens_while_the_server_is_away_is_told_afterwards) {
    support::etcd_server server;
    party one{server.url()};
    party two{server.url()};
    auto const dying = new_session();
    ASSERT_TRUE(is<compare::opened>(two.self.open(dying, 30s)));
    ASSERT_TRUE(is<compare::in_force>(one.self.watch({"q", false})));
    one.self.driver().watch_session(dying);
    one.self.drive_for(100ms);
    server.kill();
    server.start();
    // The first one sleeps: it hears of all this only when it has connected again.
    auto const sent = [&](compare::step const& what) {
        return support::eventually([&] { return is<compare::committed>(two.self.commit(what)); });
    };
    EXPECT_TRUE(sent(two.writing("q")));
    EXPECT_TRUE(sent(two.writing_to(one.session, "hello")));
    EXPECT_TRUE(sent(two.writing_to(one.session, "again")));
    two.self.driver().close(dying);
    two.self.drive_for(200ms);
    EXPECT_TRUE(one.self.drive_until([&] {
        return one.self.letters.size() == 2 && one.self.changes_of({"q", false}) == 1 &&
               one.self.ends_of(dying) == 1;
    })) << one.self.letters.size()
        << one.self.changes_of({"q", false}) << one.self.ends_of(dying);
    EXPECT_EQ(one.self.letters.front().body, "hello");
    EXPECT_EQ(one.self.letters.back().body, "again");
    EXPECT_EQ(one.self.gaps, 0);
    EXPECT_GE(one.self.doubts, 1);
}

TEST(etcd_watches, history_that_is_lost_is_a_gap_and_watches_are_in_force_afterwards) {
    support::etcd_server server;
    party one{server.url()};
    party two{server.url()};
    auto const dying = new_session();
    ASSERT_TRUE(is<compare::opened>(two.self.open(dying, 30s)));
    ASSERT_TRUE(is<compare::in_force>(one.self.watch({"q", false})));
    one.self.driver().watch_session(dying);
    one.self.drive_for(100ms);
    server.kill();
    server.start();
    ASSERT_TRUE(support::eventually(
        [&] { return is<compare::committed>(two.self.commit(two.writing("q"))); }));
    ASSERT_TRUE(is<compare::committed>(two.self.commit(two.writing("r"))));
    two.self.driver().close(dying);
    two.self.drive_for(200ms);
    auto const found = two.self.commit(two.writing("s"));
    server.control({"compact", std::to_string(static_cast<std::uint64_t>(
                                   std::get<compare::committed>(found).written))});
    EXPECT_TRUE(one.self.drive_until([&] { return one.self.gaps > 0; }));
    EXPECT_TRUE(one.self.drive_until([&] { return one.self.ends_of(dying) == 1; }));
    EXPECT_TRUE(is<compare::committed>(two.self.commit(two.writing_to(one.session, "hello"))));
    EXPECT_TRUE(one.self.drive_until([&] { return one.self.letters.size() == 1; }));
}

TEST(etcd_watches, a_change_that_is_not_announced_is_not_told) {
    support::etcd_server const server;
    party one{server.url()};
    ASSERT_TRUE(is<compare::in_force>(one.self.watch({"q", false})));
    auto next = one.writing("q");
    for (bool const announced : {true, false, false, true}) {
        next.head->announced = announced;
        auto const found = one.self.commit(next);
        ASSERT_TRUE(is<compare::committed>(found));
        next.expected = std::get<compare::committed>(found).written;
    }
    EXPECT_TRUE(one.self.drive_until([&] { return one.self.changes_of({"q", false}) >= 2; }));
    one.self.drive_for(100ms);
    EXPECT_EQ(one.self.changes_of({"q", false}), 2);
}

// A session that is only the end of something else has no client who could read a letter.
TEST(etcd_watches, an_end_has_no_watch) {
    support::etcd_server const server;
    party one{server.url()};
    auto const before = server.received({"Watch"});
    for (int count = 0; count < 20; ++count)
        ASSERT_TRUE(is<compare::opened>(one.self.open(new_session(), 30s, "")));
    EXPECT_EQ(server.received({"Watch"}), before);
    EXPECT_TRUE(is<compare::committed>(one.self.commit(one.writing_to(one.session, "hello"))));
    EXPECT_TRUE(one.self.drive_until([&] { return one.self.letters.size() == 1; }));
}

TEST(etcd_watches, defragmentation_disturbs_nobody) {
    support::etcd_server const server;
    party one{server.url()};
    party two{server.url()};
    for (int turn = 0; turn < 5; ++turn) {
        server.control({"defrag"});
        EXPECT_TRUE(is<compare::committed>(
            two.self.commit(two.writing_to(one.session, std::to_string(turn)))));
    }
    EXPECT_TRUE(one.self.drive_until([&] { return one.self.letters.size() == 5; }));
}

}  // namespace

}  // namespace holdfast::etcd_tests
