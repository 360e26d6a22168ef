// Holders that are stopped past their lease, sessions of one client of which one is lost, and what renewal costs.
#include <algorithm>

#include "etcd/faults.hpp"
#include "support/counts.hpp"
#include "support/fenced_file.hpp"
#include "support/process.hpp"

namespace holdfast::etcd_tests {
namespace {

std::uint64_t token_in(std::string const& answer) {
    constexpr std::string_view held = "held ";
    EXPECT_TRUE(answer.starts_with(held)) << answer;
    return answer.starts_with(held) ? std::stoull(answer.substr(held.size())) : 0;
}

TEST(stopped_test, a_holder_that_overslept_knows_it_first_and_delayed_nobody_beyond_its_lease) {
    support::etcd_server const server;
    support::temporary_directory const place;
    auto const account = (place.path() / "account").string();
    support::process sleeper{{HOLDFAST_TEST_WORKER, server.url()}};
    auto const before = token_in(sleeper.ask("acquire q lease=3000"));
    client next{server.url()};
    // Its lease counts from a sign of life, and no longer from when it was granted.
    ASSERT_TRUE(eventually([&] { return server.received({"LeaseKeepAlive"}) > 0; }));
    sleeper.stop();
    sleeper.send("state");  // read before any of its threads had time to think
    stopwatch const since;
    auto const held = mutex{next, "q"}.try_acquire_for(30s);
    ASSERT_TRUE(held);
    // etcd looks for leases that have run out twice a second, and one that was renewed just before lasts in full.
    EXPECT_LT(since.elapsed(), 3s + 5s);
    EXPECT_GT(held->token(), before);
    EXPECT_TRUE(support::fenced_file{account}.write(held->token(), "next"));
    sleeper.resume();
    EXPECT_EQ(sleeper.read(), "lost");
    EXPECT_EQ(sleeper.ask("write " + account + " late"), "refused");
    EXPECT_EQ(sleeper.ask("release"), "already lost");
    EXPECT_TRUE(held->held());
    EXPECT_GT(token_in(sleeper.ask("acquire r lease=3000")), held->token()) << "it goes on";
}

// Wherever it is stopped, in the middle of a request or between two.
TEST(stopped_test, one_that_is_stopped_at_any_moment_delays_nobody_beyond_its_lease) {
    support::etcd_server const server;
    support::temporary_directory const place;
    auto const path = (place.path() / "count").string();
    client other{server.url()};
    auto const turns = support::large_count(100);
    for (int turn = 0; turn < turns; ++turn) {
        support::process busy{{HOLDFAST_TEST_WORKER, server.url() + "?lease=2s"}};
        busy.send("count q " + path + " 1000000");
        EXPECT_TRUE(eventually([&] { return !other.locks("q").empty(); }));
        (void)throughout(std::chrono::milliseconds{7 * turn}, [] { return true; });
        busy.stop();
        stopwatch const since;
        ASSERT_TRUE((mutex{other, "q"}.try_acquire_for(30s)));
        EXPECT_LT(since.elapsed(), 2s + 5s);
        busy.kill();
    }
}

TEST(sessions_test, one_that_is_lost_takes_its_own_holds_and_no_others) {
    support::etcd_server const server;
    client mine{server.url()};
    auto brief = mutex{mine, "brief", {.lease = 20s}}.acquire();
    auto const before = server.control({"lease", "list"});
    auto lasting = mutex{mine, "lasting", {.lease = 60s}}.acquire();
    auto const at = before.find('\n') + 1;  // "found 1 leases", and one in each line
    server.control({"lease", "revoke", before.substr(at, before.find('\n', at) - at)});
    EXPECT_TRUE(eventually([&] { return brief.renew() == lease_state::lost; }));
    EXPECT_TRUE(eventually([&] { return brief.lost().stop_requested(); }));
    EXPECT_FALSE(brief.loss_reason().empty());
    EXPECT_EQ(lasting.renew(), lease_state::held);
    EXPECT_FALSE(lasting.lost().stop_requested());
    auto const again = mutex{mine, "brief", {.lease = 20s}}.try_acquire_for(10s);
    ASSERT_TRUE(again);
    EXPECT_GT(again->token(), brief.token());
    EXPECT_EQ(lasting.release(), release_outcome::released);
}

TEST(many_leases_test, are_renewed_by_a_handful_of_requests) {
    auto const count = support::large_count(10'000U);
    support::etcd_server const server;
    client mine{server.url()};
    std::vector<lease> all;
    for (unsigned i = 0; i < count; ++i)
        all.push_back(mutex{mine, "n" + std::to_string(i), {.lease = 3s}}.acquire());
    std::vector<std::string> const methods{"Txn", "Range", "Put", "LeaseKeepAlive", "LeaseGrant"};
    // The first renewals of those that were just acquired are over.
    (void)throughout(3s, [] { return true; });
    auto const before = server.received(methods);
    auto const began = mine.metrics()["renewals"];
    EXPECT_TRUE(throughout(6s, [&] {
        return std::ranges::all_of(all, [](lease const& each) { return each.held(); });
    }));
    auto const requests = server.received(methods) - before;
    std::cout << count << " leases of 3 s, for 6 s: " << requests << " requests, "
              << mine.metrics()["renewals"] - began << " renewals" << std::endl;
    // A sign of life and the read that confirms it; several batches may be under way at once.
    EXPECT_LE(requests, 60U);
    EXPECT_GE(requests, 4U);
    EXPECT_EQ(mine.metrics()["losses"], 0U);
}

// A transaction has at most 128 operations, and each session is written to.
TEST(many_leases_test, of_one_name_are_evicted_also_when_one_transaction_cannot) {
    constexpr unsigned count = 150;
    support::etcd_server const server;
    client mine{server.url()};
    std::vector<lease> all;
    for (unsigned i = 0; i < count; ++i)  // a session for each length
        all.push_back(semaphore{mine, "q", count, {.lease = 60s + std::chrono::milliseconds{i}}}
                          .acquire_lease());
    client other{server.url()};
    EXPECT_EQ(other.evict("q"), count);
    EXPECT_TRUE(eventually([&] {
        return std::ranges::all_of(all,
                                   [](lease const& each) { return each.lost().stop_requested(); });
    }));
    EXPECT_EQ((semaphore{other, "q", count}.available()), count);
}

}  // namespace
}  // namespace holdfast::etcd_tests
