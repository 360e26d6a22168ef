// Nodes of a Cluster that send requests away: to another, to themselves, or until later.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "support/eventually.hpp"
#include "unit/redis_cluster_node.hpp"
#include "unit/redis_fixture.hpp"

namespace holdfast::test {
namespace {

using support::raw_socket;

constexpr auto try_again = "-TRYAGAIN Multiple keys request during rehashing of slot\r\n";
constexpr auto usual = ":5\r\n";  // granted, or released

/// Drives until it is so.
template <class Condition>
bool drive_until(peer& whom, Condition is_so) {
    return support::eventually([&] {
        whom.store().drive(base::boot_clock::now() + 1ms);
        return is_so();
    });
}

seam::request_id begin_submit(peer& whom, std::string name) {
    return whom.begin(seam::submit{{whom.claim(std::move(name))}, false, seam::store_time::max()});
}

// Whoever is sent back to the same connection must not write to it while answers are read from it.
TEST(redis_servers, a_node_that_sends_a_request_to_itself_and_is_gone_harms_nobody) {
    std::atomic<bool> gone{false};
    redis_cluster_node const there{[&](std::string const&, raw_socket const& from) {
        from.send("-MOVED 100 " + there.address() + "\r\n");
        from.reset();
        gone = true;
        return std::string{};
    }};
    peer mine{there.url("?timeout=15s")};
    ASSERT_FALSE(error_of(mine.send(seam::hello{}))) << "connected";
    auto const sent_back = begin_submit(mine, "a");
    ASSERT_TRUE(support::eventually([&] { return gone.load(); })) << "written without a driver";
    auto const error = error_of(mine.await(sent_back));
    EXPECT_TRUE(error.is(errc::store_unavailable)) << error.text;
}

TEST(redis_servers, what_is_asked_later_stays_behind_what_was_sent_away_for_now) {
    std::atomic<bool> refuses{true};
    std::atomic<int> refused{0};
    std::mutex guards;
    std::vector<std::string> done;
    redis_cluster_node const there{[&](std::string const& call, raw_socket const&) {
        if (call.ends_with(" a") && refuses) {
            ++refused;
            return try_again;
        }
        if (call.starts_with("many")) return "-ERR each alone, so that the order is seen\r\n";
        std::lock_guard const held{guards};
        done.push_back(call);
        return usual;
    }};
    peer mine{there.url("?timeout=15s")};
    auto const ended = mine.begin(seam::settle{{mine.claim("a")}});
    // From now on the pauses are long.
    ASSERT_TRUE(drive_until(mine, [&] { return refused >= 6; }));
    mine.store().drive(base::boot_clock::now() + 10ms);  // reads what was said last
    refuses = false;
    auto const wanted = begin_submit(mine, "a");
    auto const other = begin_submit(mine, "b");
    EXPECT_TRUE(is_granted(mine.await(other)));
    EXPECT_TRUE(std::holds_alternative<seam::settled>(mine.await(ended).body));
    EXPECT_TRUE(is_granted(mine.await(wanted)));
    std::lock_guard const held{guards};
    EXPECT_EQ(std::erase(done, "submit b"), 1U);
    EXPECT_EQ(done, (std::vector<std::string>{"settle a", "submit a"}));
}

TEST(redis_servers, what_is_sent_elsewhere_stays_behind_what_was_sent_away_for_now) {
    std::mutex guards;
    std::vector<std::string> got;
    redis_cluster_node const there{[&](std::string const& call, raw_socket const&) -> std::string {
        if (call.starts_with("many")) return "-ERR each alone, so that the order is seen\r\n";
        std::lock_guard const held{guards};
        got.push_back(call);
        if (std::ranges::count(got, call) > 1) return usual;
        return call == "settle a" ? try_again : "-MOVED 1 " + there.address() + "\r\n";
    }};
    peer mine{there.url("?timeout=15s")};
    ASSERT_FALSE(error_of(mine.send(seam::hello{}))) << "connected";
    auto const ended = mine.begin(seam::settle{{mine.claim("a")}});
    auto const wanted = begin_submit(mine, "a");
    EXPECT_TRUE(std::holds_alternative<seam::settled>(mine.await(ended).body));
    EXPECT_TRUE(is_granted(mine.await(wanted)));
    std::lock_guard const held{guards};
    EXPECT_EQ(got, (std::vector<std::string>{"settle a", "submit a", "settle a", "submit a"}));
}

// The node is silent for less than it may be, but until the time is over for which a request may be sent away.
TEST(redis_servers, what_was_sent_away_for_long_does_not_end_the_connection_of_others) {
    constexpr auto timeout = 1s;
    std::atomic<base::instant> first{base::instant{}};
    std::atomic<bool> is_slow{false};
    redis_cluster_node const there{[&](std::string const& call, raw_socket const& from) {
        if (!call.ends_with(" a")) return usual;
        auto const now = base::boot_clock::now();
        if (first.load() == base::instant{}) first = now;
        if (now >= first.load() + timeout - 400ms && !is_slow.exchange(true))
            (void)from.rest(
                std::chrono::ceil<std::chrono::milliseconds>(first.load() + timeout + 150ms - now));
        return try_again;
    }};
    peer mine{there.url("?timeout=1s")};
    ASSERT_FALSE(error_of(mine.send(seam::hello{}))) << "connected";
    auto const stuck = begin_submit(mine, "a");
    ASSERT_TRUE(drive_until(mine, [&] { return is_slow.load(); }));
    auto const other = begin_submit(mine, "b");
    auto const reply = mine.await(other);
    EXPECT_TRUE(is_granted(reply)) << error_of(reply).text;
    auto const error = error_of(mine.await(stuck));
    EXPECT_TRUE(error.is(errc::store_unavailable)) << error.text;
    EXPECT_NE(error.text.find("TRYAGAIN"), std::string::npos) << error.text;
}

}  // namespace
}  // namespace holdfast::test
