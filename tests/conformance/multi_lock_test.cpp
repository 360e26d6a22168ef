// lock_all: several locks at once, all or none, without ever holding one while waiting for another.
#include <atomic>
#include <thread>
#include <vector>

#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

class multi_lock_test : public store_test {
protected:
    [[nodiscard]] static bool is_free(client& from, std::string_view name) {
        return listed(from, name).holders.empty();
    }
};
HOLDFAST_OVER_ALL_ROWS(multi_lock_test);

TEST_P(multi_lock_test, holds_all_under_one_lease) {
    auto client = connect();
    auto const other = connect();
    mutex a{client, "a"};
    mutex b{client, "b"};
    recursive_mutex c{client, "c"};
    auto all = lock_all(a, b, c);
    EXPECT_TRUE(all.held());
    EXPECT_EQ(all.state(), lease_state::held);
    EXPECT_GT(all.remaining(), 10s);
    EXPECT_EQ(all.name(), "a");
    EXPECT_EQ(all.token(), all.token("a"));
    for (auto const* const name : {"a", "b", "c"}) {
        EXPECT_FALSE(mutex(other, name).try_lock()) << name;
        EXPECT_EQ(all.token(name), listed(client, name).holders.at(0).token);
    }
    EXPECT_EQ(failure_of([&] { return all.token("d"); }), errc::bad_name);
    EXPECT_EQ(all.release(), release_outcome::released);
    EXPECT_EQ(all.state(), lease_state::released);
    EXPECT_EQ(all.remaining(), 0ms);
    EXPECT_EQ(all.release(), release_outcome::released);
    EXPECT_FALSE(all.lost().stop_requested());
    EXPECT_TRUE(client.locks().empty());
}

TEST_P(multi_lock_test, the_end_of_the_lease_gives_all_back) {
    auto client = connect();
    mutex a{client, "a"};
    mutex b{client, "b"};
    {
        auto first = lock_all(a, b);
        auto const second = std::move(first);
        EXPECT_TRUE(second.held());
        EXPECT_EQ(first.state(), lease_state::released);
    }
    EXPECT_TRUE(empties(client));
    auto const one = lock_all(a);  // also of one
    EXPECT_EQ(one.token("a"), one.token());
}

TEST_P(multi_lock_test, all_or_none) {
    auto client = connect();
    auto const other = connect();
    mutex a{client, "a"};
    mutex b{client, "b"};
    mutex c{client, "c"};
    auto held = mutex(other, "b").acquire();
    EXPECT_FALSE(try_lock_all_for(0ms, a, b, c));
    EXPECT_TRUE(eventually([&] { return is_free(client, "a") && is_free(client, "c"); }));
    EXPECT_TRUE(ends_with_its_time([&](auto time) { return try_lock_all_for(time, a, b, c); }));
    EXPECT_TRUE(eventually([&] { return client.locks().size() == 1; }));
    EXPECT_EQ(held.release(), release_outcome::released);
    auto const all = try_lock_all_for(10s, a, b, c);
    ASSERT_TRUE(all);
    EXPECT_GT(all->token("b"), held.token());
}

TEST_P(multi_lock_test, tokens_rise_for_every_name) {
    auto const client = connect();
    auto const other = connect();
    mutex a{client, "a"};
    mutex b{client, "b"};
    std::uint64_t before_a = 0;
    std::uint64_t before_b = 0;
    for (int i = 0; i < 5; ++i) {
        auto all = lock_all(b, a);
        EXPECT_GT(all.token("a"), before_a);
        EXPECT_GT(all.token("b"), before_b);
        EXPECT_EQ(all.release(), release_outcome::released);
        auto one = mutex(other, "a").acquire();
        EXPECT_GT(one.token(), all.token("a"));
        before_a = one.token();
        before_b = all.token("b");
        EXPECT_EQ(one.release(), release_outcome::released);
    }
}

// In the store's line: one who only tries is never there.
bool waits_at_store(client& from, std::string_view name) {
    return eventually([&] {
        auto const waiters = listed(from, name).waiters;
        return waiters.size() == 1 && !waiters.front().local;
    });
}

TEST_P(multi_lock_test, holds_nothing_while_it_waits) {
    if (!can({ability::line})) return;
    auto client = connect();
    auto const other = connect();
    mutex a{client, "a"};
    mutex b{client, "b"};
    auto held = mutex(other, "b").acquire();
    auto waiting = elsewhere([&] { return lock_all(a, b); });
    ASSERT_TRUE(waits_at_store(client, "b"));
    ASSERT_TRUE(eventually([&] { return is_free(client, "a"); }));
    EXPECT_TRUE(throughout(100ms, [&] { return is_free(client, "a"); }));
    auto other_one = mutex(other, "a").try_acquire_for(10s);
    ASSERT_TRUE(other_one);
    // It gets b, finds a busy, and must let b go again.
    EXPECT_EQ(held.release(), release_outcome::released);
    ASSERT_TRUE(waits_at_store(client, "a"));
    ASSERT_TRUE(eventually([&] { return is_free(client, "b"); }));
    EXPECT_TRUE(throughout(100ms, [&] { return is_free(client, "b"); }));
    EXPECT_FALSE(ready(waiting, 0ms));
    EXPECT_EQ(other_one->release(), release_outcome::released);
    ASSERT_TRUE(ready(waiting));
    EXPECT_TRUE(waiting.get().held());
}

TEST_P(multi_lock_test, opposite_orders_from_many_threads_finish) {
    if (!can({ability::fair_order})) return;
    constexpr int threads = 9;
    constexpr int turns = 12;
    std::vector<client> clients;
    for (int i = 0; i < 3; ++i)
        clients.push_back(connect());
    int counts[3] = {};  // guarded by the locks
    {
        std::vector<std::jthread> crowd;
        for (std::size_t i = 0; i < threads; ++i) {
            crowd.emplace_back([&, i] {
                lock_options const how{.order = i % 3 == 2 ? ordering::fair : ordering::barging};
                auto const& mine = clients[i / 3];
                mutex a{mine, "a", how};
                mutex b{mine, "b", how};
                mutex c{mine, "c", how};
                for (int k = 0; k < turns; ++k) {
                    auto const all = i % 3 == 0   ? lock_all(a, b, c)
                                     : i % 3 == 1 ? lock_all(c, b, a)
                                                  : lock_all(b, a);
                    ++counts[0];
                    ++counts[1];
                    if (i % 3 != 2) ++counts[2];
                }
            });
        }
    }
    EXPECT_EQ(counts[0], threads * turns);
    EXPECT_EQ(counts[1], threads * turns);
    EXPECT_EQ(counts[2], threads * turns * 2 / 3);
    EXPECT_TRUE(empties(clients.front()));
}

TEST_P(multi_lock_test, who_wants_one_part_is_served_beside_those_who_want_all) {
    auto const client = connect();
    auto const other = connect();
    int shared_count = 0;
    auto all = elsewhere([&] {
        mutex a{client, "a"};
        mutex b{client, "b"};
        for (int i = 0; i < 40; ++i) {
            auto const held = lock_all(a, b);
            ++shared_count;
        }
    });
    mutex b{other, "b"};
    for (int i = 0; i < 40; ++i) {
        std::lock_guard const guard{b};
        ++shared_count;
    }
    ASSERT_TRUE(ready(all));
    EXPECT_EQ(shared_count, 80);
}

TEST_P(multi_lock_test, is_lost_as_soon_as_one_part_is) {
    auto client = connect();
    auto other = connect();
    mutex a{client, "a"};
    mutex b{client, "b"};
    auto all = lock_all(a, b);
    auto const lost = all.lost();
    EXPECT_FALSE(lost.stop_requested());
    EXPECT_EQ(all.loss_reason(), "");
    EXPECT_EQ(other.evict("b"), 1U);
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
    EXPECT_EQ(all.state(), lease_state::lost);
    EXPECT_FALSE(all.held());
    EXPECT_EQ(all.remaining(), 0ms);
    EXPECT_NE(all.loss_reason().find('b'), std::string::npos) << all.loss_reason();
    EXPECT_TRUE(all.lost().stop_requested());
    EXPECT_EQ(all.renew(), lease_state::lost);
    EXPECT_EQ(all.release(), release_outcome::already_lost);
    EXPECT_TRUE(empties(client));
}

TEST_P(multi_lock_test, a_loss_before_anybody_asked_is_told_too) {
    auto client = connect();
    mutex a{client, "a"};
    mutex b{client, "b"};
    auto const all = lock_all(a, b);
    EXPECT_EQ(client.evict("a"), 1U);
    EXPECT_TRUE(eventually([&] { return all.state() == lease_state::lost; }));
    auto const lost = all.lost();
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
}

TEST_P(multi_lock_test, renews_all_parts) {
    auto client = connect();
    lock_options const brief{.lease = 5s, .renew = false};
    mutex a{client, "a", brief};
    mutex b{client, "b", brief};
    auto all = lock_all(a, b);
    EXPECT_LE(all.remaining(), 5s);
    EXPECT_EQ(all.renew(60s), lease_state::held);
    EXPECT_GT(all.remaining(), 30s);
    for (auto const* const name : {"a", "b"})
        EXPECT_GT(listed(client, name).holders.at(0).lease_left, 30s) << name;
}

TEST_P(multi_lock_test, a_part_without_renewal_ends_the_whole_with_its_lease) {
    auto const client = connect();
    mutex a{client, "a"};
    mutex b{client, "b", {.lease = 200ms, .renew = false}};
    auto all = lock_all(a, b);
    EXPECT_LE(all.remaining(), 200ms);
    auto const lost = all.lost();
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
    EXPECT_EQ(all.state(), lease_state::lost);
    EXPECT_EQ(all.release(), release_outcome::already_lost);
}

TEST_P(multi_lock_test, a_stop_ends_the_wait) {
    auto client = connect();
    auto const other = connect();
    mutex a{client, "a"};
    mutex b{client, "b"};
    auto const held = mutex(other, "b").acquire();
    std::stop_source stop;
    auto waiting = elsewhere([&] { return lock_all(stop.get_token(), a, b); });
    ASSERT_TRUE(waits(client, "b", 1));
    stop.request_stop();
    ASSERT_TRUE(ready(waiting));
    EXPECT_FALSE(waiting.get());
    EXPECT_TRUE(waits(client, "b", 0));
    EXPECT_TRUE(eventually([&] { return is_free(client, "a"); }));
    EXPECT_FALSE(lock_all(stop.get_token(), a));  // requested before
    EXPECT_TRUE(lock_all(std::stop_token{}, a));
}

TEST_P(multi_lock_test, shared_parts_are_shared) {
    if (!can({ability::shared_holds})) return;
    auto client = connect();
    auto const other = connect();
    mutex a{client, "a"};
    mutex b{other, "b"};
    shared_mutex ours{client, "r"};
    shared_mutex theirs{other, "r"};
    auto first = lock_all(a, shared(ours));
    auto second = lock_all(shared(theirs), b);
    EXPECT_TRUE(first.held());
    EXPECT_TRUE(second.held());
    EXPECT_EQ(second.name(), "r");
    EXPECT_EQ(listed(client, "r").holders.size(), 2U);
    EXPECT_TRUE(ends_with_its_time([&](auto time) { return try_lock_all_for(time, ours); }));
    EXPECT_EQ(first.release(), release_outcome::released);
    EXPECT_EQ(second.release(), release_outcome::released);
    auto const writer = lock_all(ours, a);
    EXPECT_FALSE(theirs.try_acquire_shared());
}

TEST_P(multi_lock_test, a_recursive_mutex_that_is_held_counts_once_more) {
    auto client = connect();
    auto const other = connect();
    recursive_mutex r{client, "r"};
    mutex m{client, "m"};
    r.lock();
    auto const token = r.token();
    {
        auto all = lock_all(r, m);
        EXPECT_EQ(all.token("r"), token);
        EXPECT_EQ(all.release(), release_outcome::released);
    }
    EXPECT_TRUE(r.owns());
    {
        auto const in_the_way = mutex(other, "m").acquire();
        EXPECT_TRUE(ends_with_its_time([&](auto time) { return try_lock_all_for(time, m, r); }));
        EXPECT_TRUE(r.owns());
    }
    EXPECT_FALSE(recursive_mutex(other, "r").try_lock());
    r.unlock();
    EXPECT_FALSE(r.owns());
    EXPECT_TRUE(recursive_mutex(other, "r").try_acquire_for(10s));
    auto const all = lock_all(r, m);
    EXPECT_TRUE(r.owns());
    auto const nested = r.acquire();
    EXPECT_EQ(nested.token(), all.token("r"));
}

TEST_P(multi_lock_test, wishes_that_make_no_sense_are_refused) {
    auto client = connect();
    auto const other = connect();
    mutex a{client, "a"};
    mutex again{client, "a", {.lease = 5s}};
    mutex b{client, "b"};
    mutex theirs{other, "c"};
    shared_mutex r{client, "r"};
    EXPECT_EQ(failure_of([&] { return lock_all(a, b, a); }), errc::would_deadlock);
    EXPECT_EQ(failure_of([&] { return lock_all(a, again); }), errc::would_deadlock);
    EXPECT_EQ(failure_of([&] { return lock_all(r, shared(r)); }), errc::would_deadlock);
    EXPECT_EQ(failure_of([&] { return try_lock_all_for(10s, a, theirs); }), errc::bad_option);
    EXPECT_TRUE(client.locks().empty());
}

TEST_P(multi_lock_test, an_error_of_one_part_leaves_none_held) {
    if (!can({ability::semaphores})) return;
    auto client = connect();
    auto const permit = semaphore(client, "s", 2).acquire_lease();
    mutex a{client, "a"};
    mutex s{client, "s"};
    EXPECT_EQ(failure_of([&] { return lock_all(a, s); }), errc::kind_mismatch);
    EXPECT_EQ(failure_of([&] { return try_lock_all_for(10s, s, a); }), errc::kind_mismatch);
    EXPECT_TRUE(eventually([&] { return client.locks().size() == 1; }));
}

TEST_P(multi_lock_test, a_retry_policy_ends_the_wait) {
    auto const client = connect();
    auto const other = connect();
    auto const held = mutex(other, "b").acquire();
    lock_options const once{.retry = retry::never()};
    mutex a{client, "a", once};
    mutex b{client, "b", once};
    EXPECT_EQ(failure_of([&] { return lock_all(a, b); }), errc::timed_out);
    EXPECT_FALSE(try_lock_all_for(1h, a, b));
}

TEST_P(multi_lock_test, a_silent_store_is_an_error_and_never_busy) {
    if (!can({ability::silence})) return;
    auto client = connect({.patience = time_to_answer});
    mutex a{client, "a"};
    mutex b{client, "b"};
    client.ping();
    store().silence();
    EXPECT_EQ(failure_of([&] { return try_lock_all_for(200ms, a, b); }), errc::store_unavailable);
    EXPECT_EQ(failure_of([&] { return lock_all(a, b); }), errc::store_unavailable);
    store().restore();
    auto const all = try_lock_all_for(20s, a, b);
    ASSERT_TRUE(all);
    EXPECT_TRUE(all->held());
}

TEST_P(multi_lock_test, closing_the_client_ends_the_wait) {
    auto client = connect();
    auto other = connect();
    auto const held = mutex(client, "b").acquire();
    mutex a{other, "a"};
    mutex b{other, "b"};
    auto waiting = elsewhere([&] { return failure_of([&] { return lock_all(a, b); }); });
    ASSERT_TRUE(waits_seen_by(client, other, "b", 1));
    other.close();
    ASSERT_TRUE(ready(waiting));
    EXPECT_EQ(waiting.get(), errc::closed);
    EXPECT_TRUE(waits(client, "b", 0));
    EXPECT_TRUE(is_free(client, "a"));
}

}  // namespace

}  // namespace holdfast::conformance
