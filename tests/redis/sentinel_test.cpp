// A master that others take over from, found through sentinels.
#include <fstream>

#include "redis/after_a_switch.hpp"
#include "redis/fixture.hpp"
#include "redis/leaks.hpp"
#include "support/fenced_load.hpp"
#include "support/redis_sentinels.hpp"

namespace holdfast::redis_faults {
namespace {

using support::fenced_load;
using support::fenced_number;

using support::redis_sentinels;

// From the fault on: a second until it is noticed, the election, and a second to spare, on a busy machine.
constexpr auto sentinel_recovery = 20s;

enum class fault { asked_for, killed, stopped };

std::string name_of(testing::TestParamInfo<fault> const& which) {
    switch (which.param) {
    case fault::asked_for: return "asked_for";
    case fault::killed: return "killed";
    case fault::stopped: return "stopped";
    }
    return {};
}

class sentinel_switch : public testing::TestWithParam<fault> {
protected:
    void strike() {
        auto& old = servers_.master();
        switch (GetParam()) {
        case fault::asked_for: return servers_.fail_over();
        case fault::killed: old.kill(); break;
        case fault::stopped: old.stop(); break;
        }
        servers_.await_other_than(old);
    }
    void repair() {
        for (std::size_t i = 0; i < 3; ++i) {
            auto& each = servers_.server(i);
            each.is_alive() ? each.resume() : each.start();
        }
        servers_.await_in_step();
    }

    redis_sentinels servers_;
};

TEST_P(sentinel_switch, under_load_is_survived_and_fenced) {
    fenced_load load{servers_.url(), {"a", "b", "c"}};
    ASSERT_TRUE(load.goes_on(sentinel_recovery));
    for (int i = 0; i < 2; ++i) {
        strike();
        EXPECT_TRUE(load.goes_on(sentinel_recovery));
        repair();
    }
    expect_no_leaks(in_use(servers_));
    load.end();
}

TEST_P(sentinel_switch, loses_no_hold_that_a_replica_has_confirmed) {
    client mine{servers_.url() + "?replicas=1"};
    std::vector<lease> held;
    for (int i = 0; i < 50; ++i)
        held.push_back(mutex{mine, "n" + std::to_string(i), {.lease = 60s}}.acquire());
    strike();
    for (auto& each : held)
        EXPECT_TRUE(eventually([&] { return each.renew() == lease_state::held; }))
            << each.name() << ": " << each.loss_reason();
    EXPECT_EQ(mine.metrics()["losses"], 0U);
}

INSTANTIATE_TEST_SUITE_P(faults, sentinel_switch,
                         testing::Values(fault::asked_for, fault::killed, fault::stopped), name_of);

class sentinel_test : public testing::Test {
protected:
    redis_sentinels servers_;
};

// What no replica has is gone with the master: the holder is told, and the token catches what it still does.
TEST_F(sentinel_test, a_hold_that_no_replica_has_can_be_lost_and_is_fenced) {
    client mine{servers_.url() + "?timeout=1s"};
    client careful{servers_.url() + "?replicas=1&timeout=1s"};
    mutex{mine, "before"}.acquire().release();
    auto& old = servers_.master();
    // The sentinels put that right after some seconds. A stopped replica would read from its socket what was sent.
    for (std::size_t i = 0; i < 3; ++i) {
        auto& each = servers_.server(i);
        if (&each == &old) continue;
        ASSERT_EQ(each.ask({"REPLICAOF", "127.0.0.1", "1"}), "OK");
    }
    auto held = mutex{mine, "q", {.lease = 60s}}.acquire();
    EXPECT_EQ(support::failure_of([&] {
                  return mutex{careful, "r"}.try_acquire_for(2s);
              }),
              errc::store_unavailable)
        << "what no replica has is not granted";
    old.kill();
    servers_.await_other_than(old);
    auto const lost = held.lost();
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }, sentinel_recovery))
        << "told by the first word of the new master, not by the end of the lease";
    client other{servers_.url()};
    auto const next = mutex{other, "q"}.try_acquire_for(sentinel_recovery);
    ASSERT_TRUE(next);
    fenced_number account;
    EXPECT_TRUE(account.write(next->token(), 1, 1));
    EXPECT_FALSE(account.write(held.token(), 0, 2));
}

TEST_F(sentinel_test, one_sentinel_of_the_url_is_enough_and_the_others_are_learnt) {
    auto const first = std::to_string(servers_.sentinel(0).port());
    client mine{"redis+sentinel://127.0.0.1:1,127.0.0.1:" + first + "/main"};
    mutex wanted{mine, "q", {.lease = 60s}};
    auto held = wanted.acquire();
    servers_.sentinel(0).kill();
    auto& old = servers_.master();
    ASSERT_EQ(servers_.sentinel(1).ask({"SENTINEL", "FAILOVER", "main"}), "OK");
    servers_.await_other_than(old);
    EXPECT_TRUE(eventually([&] { return held.renew() == lease_state::held; }));
    EXPECT_EQ(held.release(), release_outcome::released);
    EXPECT_TRUE(wanted.try_acquire_for(sentinel_recovery));
}

TEST_F(sentinel_test, a_name_that_no_sentinel_knows_is_said) {
    auto url = servers_.url();
    url.replace(url.find("/main"), 5, "/mian");
    client mine{url, {.patience = 1s}};
    auto const words = support::words_of([&] { mutex{mine, "q"}.lock(); });
    EXPECT_NE(words.find("'mian'"), std::string::npos) << words;
}

// They count from the beginning: what they tell seems to be older than what was followed before.
TEST(sentinels_made_anew, are_followed) {
    redis_sentinels servers{{.epoch = 7}};
    std::atomic<int> told{0};
    client mine{servers.url(), {.log = [&told](log_level, std::string_view words) {
                    if (words.find("made anew") != std::string_view::npos) ++told;
                }}};
    mutex wanted{mine, "q", {.lease = 60s}};
    auto held = wanted.acquire();
    servers.make_sentinels_anew();
    auto& old = servers.master();
    old.kill();
    servers.await_other_than(old);
    EXPECT_TRUE(eventually([&] { return held.renew() == lease_state::held; }))
        << held.loss_reason();
    EXPECT_EQ(held.release(), release_outcome::released);
    EXPECT_TRUE(wanted.try_acquire_for(sentinel_recovery));
    EXPECT_GT(told, 0);
}

TEST(sentinel_logins, are_told_apart) {
    redis_sentinels servers{{.sentinel_lines = "user watcher on >se3cret ~* &* +@all\n"}};
    for (std::size_t i = 0; i < 3; ++i)
        ASSERT_EQ(
            servers.server(i).ask({"ACL", "SETUSER", "app", "on", ">s3cret", "~*", "&*", "+@all"}),
            "OK");
    support::temporary_directory place;
    auto const file = (place.path() / "password").string();
    std::ofstream{file} << "se3cret\n";
    auto const url = servers.url();
    auto const at = url.find("//") + 2;
    auto const whole = url.substr(0, at) + "app:s3cret@" + url.substr(at) +
                       "?sentineluser=watcher&sentinelpasswordfile=" + file;
    client mine{whole};
    mutex{mine, "q"}.acquire().release();
    EXPECT_NE(servers.master().ask({"CLIENT", "LIST"}).find("user=app"), std::string::npos);
    bool seen = false;
    for (std::size_t i = 0; i < 3; ++i)
        seen = seen || servers.sentinel(i).ask({"CLIENT", "LIST"}).find("user=watcher") !=
                           std::string::npos;
    EXPECT_TRUE(seen);
    EXPECT_EQ(mine.url().find("s3cret"), std::string::npos);
    EXPECT_NE(mine.url().find("sentinelpasswordfile="), std::string::npos);
    std::ofstream{file} << "wrong\n";
    client refused{whole, {.patience = 1s}};
    auto const words = support::words_of([&] { mutex{refused, "q"}.lock(); });
    EXPECT_FALSE(words.empty());
    EXPECT_EQ(words.find("wrong\n"), std::string::npos) << words;
}

// To sentinels and servers alike; and what a replica has confirmed is handed over.
TEST(sentinel_tls, carries_everything) {
    redis_sentinels servers{{.tls = true}};
    expect_handed_over_after(servers.url() + "?replicas=1&ca=" + servers.authority(),
                             [&] { servers.fail_over(); });
}

class sentinel_clocks : public testing::TestWithParam<std::chrono::seconds> {};

// The first server has the machine's clock, the other two another one.
TEST_P(sentinel_clocks, what_is_granted_after_a_switch_is_never_believed_past_its_lease) {
    redis_sentinels servers{{.clocks_ahead = {0s, GetParam(), GetParam()}}};
    client home{servers.url()};
    auto first = mutex{home, "q", {.lease = 60s}}.acquire();
    waiters_with_short_leases waiters{servers.url(), home, first};
    auto const& old = servers.master();
    servers.fail_over();
    // The one before goes on as a master for some seconds: what it is told by then is forgotten.
    ASSERT_TRUE(eventually([&] { return connections_of_ours(old) == 0; }));
    first.release();
    waiters.expect_all_served();
}

INSTANTIATE_TEST_SUITE_P(clocks, sentinel_clocks, testing::Values(5s, -5s), [](auto const& which) {
    return which.param > 0s ? std::string{"ahead"} : std::string{"behind"};
});

}  // namespace
}  // namespace holdfast::redis_faults
