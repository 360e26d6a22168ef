// A cluster whose nodes die, take over from each other, come and go, and whose slots move.
#include <algorithm>
#include <set>

#include "redis/after_a_switch.hpp"
#include "redis/fixture.hpp"
#include "redis/leaks.hpp"
#include "support/counts.hpp"
#include "support/fenced_load.hpp"
#include "support/redis_cluster.hpp"

namespace holdfast::redis_faults {
namespace {

using support::fenced_load;

using support::redis_cluster;

// From the fault on: a second until it is noticed, the election, and more to spare, on a busy machine.
constexpr auto cluster_recovery = 20s;

// Names whose slots are 15495, 3300 and 7365: one for each of the three masters.
std::vector<std::string> const names{"a", "b", "c"};
constexpr unsigned slot_of_b = 3300;
constexpr unsigned slot_of_c = 7365;

enum class fault { asked_for, forced, taken_over, killed, stopped };

std::string name_of(testing::TestParamInfo<fault> const& which) {
    switch (which.param) {
    case fault::asked_for: return "asked_for";
    case fault::forced: return "forced";
    case fault::taken_over: return "taken_over";
    case fault::killed: return "killed";
    case fault::stopped: return "stopped";
    }
    return {};
}

class cluster_switch : public testing::TestWithParam<fault> {
protected:
    void strike() {
        auto& old = nodes_.master_of(slot_of_b);
        switch (GetParam()) {
        case fault::asked_for: return nodes_.fail_over(slot_of_b);
        case fault::forced: return nodes_.fail_over(slot_of_b, "FORCE");
        case fault::taken_over: return nodes_.fail_over(slot_of_b, "TAKEOVER");
        case fault::killed: old.kill(); break;
        case fault::stopped: old.stop(); break;
        }
        nodes_.await_other_than(old, slot_of_b);
    }
    void repair() {
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            auto& each = nodes_.node(i);
            each.is_alive() ? each.resume() : each.start();
        }
        nodes_.await_in_step();
    }

    redis_cluster nodes_;
};

TEST_P(cluster_switch, under_load_is_survived_and_fenced) {
    fenced_load load{nodes_.url(), names};
    ASSERT_TRUE(load.goes_on(cluster_recovery));
    strike();
    EXPECT_TRUE(load.goes_on(cluster_recovery));
    repair();
    EXPECT_TRUE(load.goes_on(cluster_recovery));
    expect_no_leaks(in_use(nodes_));
    load.end();
}

TEST_P(cluster_switch, loses_no_hold_that_a_replica_has_confirmed) {
    client mine{nodes_.url() + "?replicas=1"};
    std::vector<lease> held;
    for (int i = 0; i < 50; ++i)
        held.push_back(mutex{mine, "n" + std::to_string(i), {.lease = 60s}}.acquire());
    strike();
    repair();  // a master without a replica has nobody to confirm anything
    for (auto& each : held)
        EXPECT_TRUE(eventually([&] { return each.renew() == lease_state::held; }))
            << each.name() << ": " << each.loss_reason();
    EXPECT_EQ(mine.metrics()["losses"], 0U);
}

INSTANTIATE_TEST_SUITE_P(faults, cluster_switch,
                         testing::Values(fault::asked_for, fault::forced, fault::taken_over,
                                         fault::killed, fault::stopped),
                         name_of);

/// The names that a server has keys of.
std::set<std::string> names_at(redis_server const& server) {
    std::set<std::string> out;
    std::istringstream keys{server.ask({"KEYS", "holdfast:name:{*}"})};
    for (std::string key; std::getline(keys, key);)
        out.insert(key.substr(key.find('{') + 1, key.size() - key.find('{') - 2));
    return out;
}

class cluster_test : public testing::Test {
protected:
    redis_cluster nodes_;
};

TEST_F(cluster_test, names_of_all_masters_are_listed_once_each_with_who_waits) {
    client mine{nodes_.url()};
    client other{nodes_.url()};
    std::vector<lease> held;
    std::set<std::string> wanted;
    for (int i = 0; i < 30; ++i) {
        held.push_back(mutex{mine, "n" + std::to_string(i)}.acquire());
        wanted.insert(held.back().name());
    }
    std::vector<std::future<bool>> waiting;
    for (auto const& each : wanted)
        waiting.push_back(std::async(std::launch::async, [&other, each] {
            return mutex{other, each}.try_acquire_for(60s).has_value();
        }));
    EXPECT_TRUE(eventually([&] {
        std::multiset<std::string> seen;
        for (auto const& each : mine.locks("n"))
            if (each.holders.size() == 1 && each.waiters.size() == 1) seen.insert(each.name);
        return std::multiset<std::string>{wanted.begin(), wanted.end()} == seen;
    }));
    held.clear();
    for (auto& each : waiting)
        EXPECT_TRUE(each.get());
    for (auto* const each : nodes_.masters())
        EXPECT_EQ(each->ask({"KEYS", "holdfast:mark"}), "") << "a mark that is no slot's";
}

// As while a slot moves: the search of one node finds a name before its keys leave, that of the other after they came.
TEST_F(cluster_test, a_name_that_two_masters_have_keys_of_is_listed_once) {
    client mine{nodes_.url()};
    auto const held = mutex{mine, "b"}.acquire();
    auto& from = nodes_.master_of(slot_of_b);
    auto& to = nodes_.master_of(slot_of_c);
    nodes_.begin_move(slot_of_b, from, to);
    std::vector<std::string> copy{
        "MIGRATE", "127.0.0.1", std::to_string(to.port()), "", "0", "5000", "COPY", "KEYS"};
    std::istringstream keys{from.ask({"KEYS", "holdfast:name:{b}*"})};
    for (std::string key; std::getline(keys, key);)
        copy.push_back(key);
    ASSERT_EQ(from.ask(copy), "OK");
    nodes_.give_up_move(slot_of_b, from, to);
    ASSERT_EQ(names_at(from), std::set<std::string>{"b"});
    ASSERT_EQ(names_at(to), std::set<std::string>{"b"});
    auto const seen = mine.locks();
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen.front().name, "b");
    EXPECT_EQ(seen.front().holders.size(), 1U);
}

TEST_F(cluster_test, a_slot_that_moves_or_is_left_half_way_is_waited_for) {
    fenced_load load{nodes_.url(), names};
    ASSERT_TRUE(load.goes_on(cluster_recovery));
    auto& from = nodes_.master_of(slot_of_b);
    auto& to = nodes_.master_of(slot_of_c);
    for (int i = 0; i < 2; ++i) {
        nodes_.move_slot(slot_of_b, from, to);
        EXPECT_TRUE(load.goes_on(cluster_recovery));
        nodes_.move_slot(slot_of_b, to, from);
        EXPECT_TRUE(load.goes_on(cluster_recovery));
    }
    nodes_.begin_move(slot_of_b, from, to);
    (void)throughout(5s, [] { return true; });
    nodes_.end_move(slot_of_b, from, to);
    EXPECT_TRUE(load.goes_on(cluster_recovery));
    expect_no_leaks(in_use(nodes_));
    load.end();
    EXPECT_EQ(load.losses(), 0U);
    EXPECT_EQ(load.refused(), 0U);
}

TEST_F(cluster_test, a_node_that_comes_and_goes_is_followed) {
    fenced_load load{nodes_.url(), names};
    ASSERT_TRUE(load.goes_on(cluster_recovery));
    auto& home = nodes_.master_of(slot_of_b);
    auto& fresh = nodes_.add_node();
    nodes_.move_slot(slot_of_b, home, fresh);
    EXPECT_TRUE(load.goes_on(cluster_recovery));
    nodes_.move_slot(slot_of_b, fresh, home);
    auto const id = redis_cluster::id_of(fresh);
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (auto& each = nodes_.node(i); &each != &fresh) each.ask({"CLUSTER", "FORGET", id});
    EXPECT_TRUE(load.goes_on(cluster_recovery));
    expect_no_leaks(in_use(nodes_, &fresh));
    fresh.kill();
    EXPECT_TRUE(load.goes_on(cluster_recovery));
    load.end();
    EXPECT_EQ(load.losses(), 0U);
    EXPECT_EQ(load.refused(), 0U);
}

// A node that was to have a slot, and never got it.
TEST_F(cluster_test, a_node_that_was_asked_by_the_way_is_left_again) {
    client mine{nodes_.url()};
    mutex wanted{mine, "b"};
    auto& home = nodes_.master_of(slot_of_b);
    auto& fresh = nodes_.add_node();
    nodes_.begin_move(slot_of_b, home, fresh);
    EXPECT_EQ(support::failure_of([&] { return wanted.try_acquire_for(1s); }),
              errc::store_unavailable);
    EXPECT_GT(connections_of_ours(fresh), 0U) << "it was asked";
    nodes_.give_up_move(slot_of_b, home, fresh);
    EXPECT_TRUE(wanted.try_acquire_for(cluster_recovery));
    EXPECT_TRUE(eventually([&] { return connections_of_ours(fresh) == 0; }));
}

// To nodes that tell and servers alike; and what a replica has confirmed is handed over.
TEST(cluster_tls, carries_everything) {
    redis_cluster servers{{.tls = true}};
    expect_handed_over_after(servers.url() + "?replicas=1&ca=" + servers.authority(),
                             [&] { servers.fail_over(slot_of_b); });
}

// Grants are pushed by one node and judged by its clock, while the client knows those of all others.
TEST(cluster_clocks, no_hold_is_believed_past_its_lease) {
    constexpr auto lease_time = 3s;
    constexpr unsigned waiters = 4;
    redis_cluster nodes{{.clocks_ahead = {0s, 5s, -5s, 5s, -5s, 0s}}};
    client home{nodes.url()};
    std::vector<lease> first;
    for (auto const& name : names)
        first.push_back(mutex{home, name, {.lease = 60s}}.acquire());
    std::vector<std::future<void>> all;
    for (unsigned i = 0; i < waiters; ++i)
        all.push_back(std::async(std::launch::async, [&, i] {
            client mine{nodes.url()};
            all_at_once(static_cast<unsigned>(names.size()), [&](unsigned which) {
                mutex wanted{mine, names[which], {.lease = lease_time, .renew = false}};
                auto got = wanted.try_acquire_for(60s);
                ASSERT_TRUE(got);
                EXPECT_LE(got->remaining(), lease_time);
                stopwatch const since;
                if (i % 2 == 0) {
                    EXPECT_TRUE(eventually([&] { return !got->held(); }, 10s));
                    EXPECT_LE(since.elapsed(), lease_time);
                }
                got->release();
            });
        }));
    ASSERT_TRUE(eventually([&] {
        auto const seen = home.locks();
        return seen.size() == names.size() && std::ranges::all_of(seen, [&](auto const& each) {
                   return each.waiters.size() == waiters;
               });
    }));
    for (auto& each : first)
        EXPECT_EQ(each.release(), release_outcome::released);
    for (auto& one : all)
        EXPECT_NO_THROW(one.get());
}

TEST(cluster_health, one_sick_node_puts_no_hold_of_another_in_doubt) {
    auto const count = support::large_count(100'000U);
    constexpr auto lease_time = 30s;
    redis_cluster nodes{{.node_timeout = 10min}};
    client mine{nodes.url()};
    constexpr unsigned threads = 8;
    std::vector<std::vector<lease>> held(threads);
    all_at_once(threads, [&](unsigned i) {
        for (auto n = i; n < count; n += threads)
            held[i].push_back(
                mutex{mine, "n" + std::to_string(n), {.lease = lease_time}}.acquire());
    });
    auto& sick = nodes.master_of(slot_of_b);
    auto const concerned = names_at(sick);
    EXPECT_GT(concerned.size(), count / 4);
    EXPECT_LT(concerned.size(), count / 2);
    std::size_t in_doubt = 0;
    std::string wrongly;
    auto const look = [&] {
        in_doubt = 0;
        for (auto const& some : held)
            for (auto const& each : some) {
                if (each.state() == lease_state::held) continue;
                ++in_doubt;
                if (!concerned.contains(each.name())) wrongly = each.name();
            }
        return wrongly.empty();
    };
    sick.stop();
    // A renewal comes after a third of the lease, and its doubt a sixth later: by then every hold has had its turn.
    EXPECT_TRUE(throughout(lease_time / 2, look)) << wrongly << " is another node's";
    EXPECT_GT(in_doubt, concerned.size() / 2) << "and those that are concerned are in doubt";
    sick.resume();
    EXPECT_TRUE(eventually([&] { return look() && in_doubt == 0; })) << wrongly;
    EXPECT_EQ(mine.metrics()["losses"], 0U);
}

}  // namespace
}  // namespace holdfast::redis_faults
