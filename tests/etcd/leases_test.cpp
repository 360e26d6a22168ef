// From when a lease counts, and what its end means.
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "etcd/fixture.hpp"
#include "support/eventually.hpp"

namespace holdfast::etcd_tests {

namespace {

using namespace std::chrono_literals;
using compare::kept;

seam::store_time store_now() {
    return seam::store_time{
        std::chrono::ceil<std::chrono::microseconds>(base::boot_clock::now().time_since_epoch())};
}

// The server may have begun to count when it got the request, and was slow only with its answer.
TEST(etcd_leases, count_from_when_they_were_asked_for_however_late_the_answer_is) {
    support::etcd_server server;
    party one{server.url() + "?timeout=20s"};
    server.stop();
    auto const opening = one.self.next_ticket();
    auto const keeping = one.self.next_ticket();
    one.self.driver().open(opening, new_session(), 30s, "another");
    one.self.driver().keep(keeping, {one.session});
    auto const asked = store_now();
    one.self.drive_for(500ms);
    server.resume();
    auto const opened = one.self.outcome_of(opening);
    ASSERT_TRUE(is<compare::opened>(opened)) << error_of(opened).text;
    EXPECT_LE(std::get<compare::opened>(opened).began, asked);
    auto const told = one.self.outcome_of(keeping);
    ASSERT_TRUE(is<std::vector<kept>>(told)) << error_of(told).text;
    auto const& state = std::get<std::vector<kept>>(told).front();
    EXPECT_EQ(state.found, kept::state::alive);
    EXPECT_LE(state.began, asked);
}

TEST(etcd_leases, a_sign_of_life_whose_stream_is_cut_says_nothing_of_the_session) {
    support::etcd_server server;
    party one{server.url() + "?timeout=20s"};
    for (int turn = 0; turn < 3; ++turn) {
        server.stop();
        auto const keeping = one.self.next_ticket();
        one.self.driver().keep(keeping, {one.session});
        one.self.drive_for(100ms);
        server.kill();  // the stream breaks
        server.start();
        auto const told = one.self.outcome_of(keeping);
        EXPECT_TRUE(is<compare::unknown>(told)) << driver_tests::words_of(told);
        EXPECT_TRUE(support::eventually([&] { return one.kept() == kept::state::alive; }));
    }
}

TEST(etcd_leases, one_that_is_gone_is_a_dead_session_also_where_its_record_was_written_again) {
    support::etcd_server const server;
    party one{server.url()};
    auto const id = base::hex(static_cast<std::uint64_t>(one.session));
    server.control({"lease", "revoke", id});
    server.control({"put", "holdfast/session/" + id, "a record without a lease"});
    EXPECT_EQ(one.kept(), kept::state::dead);
}

}  // namespace

}  // namespace holdfast::etcd_tests
