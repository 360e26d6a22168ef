// Members that die, stop, or were never there.
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "etcd/fixture.hpp"
#include "support/eventually.hpp"

namespace holdfast::etcd_tests {

namespace {

using namespace std::chrono_literals;
using compare::kept;

constexpr auto nowhere = "127.0.0.1:1";  // nobody listens there

TEST(etcd_members, a_server_that_is_not_there_is_rejected_for_certain_and_blocks_nobody) {
    client self{reach(std::string{"etcd://"} + nowhere)};
    auto const which = self.next_ticket();
    support::stopwatch const watch;
    self.driver().open(which, new_session(), 5s, "me");
    EXPECT_LT(watch.elapsed(), 1s);
    auto const found = self.outcome_of(which);
    ASSERT_TRUE(is<compare::rejected>(found));
    EXPECT_TRUE(error_of(found).is(errc::store_unavailable));
    EXPECT_NE(error_of(found).text.find(nowhere), std::string::npos) << error_of(found).text;
}

TEST(etcd_members, an_address_that_swallows_everything_is_given_up_in_time) {
    client self{reach("etcd://10.255.255.1:2379?timeout=300ms")};
    support::stopwatch const watch;
    auto const found = self.open(new_session(), 5s);
    EXPECT_TRUE(is<compare::rejected>(found)) << error_of(found).text;
    EXPECT_LT(watch.elapsed(), 10s);
}

TEST(etcd_members, others_are_used_when_one_is_not_there) {
    support::etcd_server const server;
    for (int turn = 0; turn < 4; ++turn)  // each begins with a member of its own choice
        party const one{std::string{"etcd://"} + nowhere +
                        ",127.0.0.1:" + std::to_string(server.port())};
}

TEST(etcd_members, what_was_sent_to_a_stopped_server_is_of_unknown_outcome_and_raising_ends_it) {
    support::etcd_server server;
    party one{server.url() + "?timeout=500ms"};
    server.stop();
    auto const lost = one.self.commit(one.writing("q"));
    EXPECT_TRUE(is<compare::unknown>(lost));
    EXPECT_TRUE(error_of(lost).is(errc::store_unavailable)) << error_of(lost).text;
    EXPECT_GE(one.self.doubts, 1);
    // From now on nothing is given to the network: it answers no greeting.
    EXPECT_TRUE(is<compare::rejected>(one.self.commit(one.writing("r"))));
    server.resume();
    compare::outcome raised;
    ASSERT_TRUE(support::eventually([&] {
        raised = one.self.raise(one.session);
        return is<compare::raised>(raised);
    }));
    EXPECT_TRUE(is<compare::fenced>(one.self.commit(one.writing("s"))));
    one.opened.current = std::get<compare::raised>(raised).current;
    EXPECT_TRUE(is<compare::committed>(one.self.commit(one.writing("s"))));
}

TEST(etcd_members, a_look_at_nothing_tells_whether_the_store_is_there) {
    support::etcd_server server;
    party one{server.url() + "?timeout=500ms"};
    EXPECT_TRUE(is<compare::views>(one.self.fetch({})));
    server.kill();
    auto const gone = one.self.fetch({});
    EXPECT_TRUE(error_of(gone).is(errc::store_unavailable)) << driver_tests::words_of(gone);
}

TEST(etcd_members, a_session_outlives_the_member_by_which_it_was_opened) {
    support::etcd_server server{{.members = 3}};
    party one{server.url() + "?timeout=1s"};
    party two{server.url() + "?timeout=1s"};
    for (std::size_t each = 0; each < 3; ++each) {
        server.kill(each);
        EXPECT_TRUE(support::eventually([&] { return one.kept() == kept::state::alive; }));
        server.start(each);
    }
    for (std::size_t each = 0; each < 3; ++each) {
        server.stop(each);
        EXPECT_TRUE(support::eventually([&] { return one.kept() == kept::state::alive; }));
        server.resume(each);
    }
    EXPECT_TRUE(support::eventually([&] {
        return is<compare::committed>(two.self.commit(two.writing_to(one.session, "hello")));
    }));
    EXPECT_TRUE(one.self.drive_until([&] { return !one.self.letters.empty(); }));
    EXPECT_EQ(one.self.gaps, 0);
}

TEST(etcd_members, a_sign_of_life_counts_only_with_a_majority) {
    support::etcd_server server{{.members = 3}};
    auto const leader = server.leader();
    party one{server.url(leader) + "?timeout=2s"};
    EXPECT_EQ(one.kept(), kept::state::alive);
    for (std::size_t each = 0; each < 3; ++each)
        if (each != leader) server.stop(each);
    // For a while the leader believes itself to be one, and answers a sign of life at once.
    EXPECT_EQ(one.kept(), kept::state::unknown);
    for (std::size_t each = 0; each < 3; ++each)
        if (each != leader) server.resume(each);
    EXPECT_TRUE(support::eventually([&] { return one.kept() == kept::state::alive; }));
}

TEST(etcd_members, a_session_that_was_revoked_is_dead_and_stays_dead) {
    support::etcd_server const server;
    party one{server.url()};
    server.control({"lease", "revoke", base::hex(static_cast<std::uint64_t>(one.session))});
    EXPECT_EQ(one.kept(), kept::state::dead);
    EXPECT_TRUE(is<compare::fenced>(one.self.raise(one.session)));
    EXPECT_TRUE(is<compare::fenced>(one.self.commit(one.writing("q"))));
    EXPECT_EQ(server.count_keys(), 0U);
}

TEST(etcd_members, what_is_granted_counts_and_begins_when_it_was_asked_for) {
    support::etcd_server const server;
    client self{reach(server.url())};
    auto const before = base::boot_clock::now().time_since_epoch();
    auto const found = self.open(new_session(), 300ms);
    ASSERT_TRUE(is<compare::opened>(found));
    auto const& opened = std::get<compare::opened>(found);
    EXPECT_GE(opened.lease, 1s);  // etcd's least
    EXPECT_GE(opened.began.time_since_epoch(),
              std::chrono::floor<std::chrono::microseconds>(before));
    EXPECT_LE(opened.began, self.when().now);
}

TEST(etcd_members, a_session_that_is_closed_leaves_nothing_behind) {
    support::etcd_server const server;
    {
        party one{server.url()};
        EXPECT_TRUE(is<compare::committed>(one.self.commit(one.writing("q"))));
        one.self.driver().close(one.session);
    }  // the driver ends before the answer
    EXPECT_TRUE(support::eventually(
        [&] { return server.count_keys() == 1; }));  // the head is bound to nobody
}

}  // namespace

}  // namespace holdfast::etcd_tests
