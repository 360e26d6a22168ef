// A store that falls silent: doubt, early loss, honest answers, and the way back.
#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

class outage_test : public store_test {};
HOLDFAST_OVER_ALL_ROWS(outage_test);

TEST_P(outage_test, a_hold_goes_into_doubt_and_is_lost_before_the_store_frees_it) {
    if (!can({ability::silence})) return;
    auto const client = connect();
    auto const other = connect();
    auto held = mutex{client, "q", {.lease = 6s}}.acquire();
    auto const lost = held.lost();
    auto const left = held.remaining();
    store().silence();
    stopwatch const since;
    EXPECT_TRUE(eventually([&] { return held.state() == lease_state::in_doubt; }));
    EXPECT_TRUE(held.held());
    EXPECT_EQ(held.loss_reason(), "");
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
    EXPECT_EQ(held.state(), lease_state::lost);
    EXPECT_LT(since.elapsed(), left + 5s);
    EXPECT_NE(held.loss_reason(), "");
    store().restore();
    auto const next = mutex{other, "q"}.try_acquire_for(patience);
    ASSERT_TRUE(next);
    EXPECT_GT(next->token(), held.token());
    EXPECT_EQ(held.release(), release_outcome::already_lost);
}

TEST_P(outage_test, a_hold_that_was_in_doubt_is_held_again) {
    if (!can({ability::silence})) return;
    auto client = connect();
    auto const held = mutex{client, "q", {.lease = 6s}}.acquire();
    store().silence();
    EXPECT_TRUE(eventually([&] { return held.state() == lease_state::in_doubt; }));
    store().restore();
    EXPECT_TRUE(eventually([&] { return held.state() == lease_state::held; }));
    EXPECT_TRUE(throughout(3s, [&] { return held.held(); }));
    EXPECT_FALSE(held.lost().stop_requested());
    EXPECT_GE(client.metrics()["doubts"], 1U);
    EXPECT_EQ(client.metrics()["losses"], 0U);
}

TEST_P(outage_test, silence_is_not_busy) {
    if (!can({ability::silence})) return;
    auto const client = connect();
    mutex shared{client, "q"};
    shared.lock();
    EXPECT_TRUE(elsewhere([&] {
                    return ends_with_its_time([&](auto time) { return shared.try_lock_for(time); });
                }).get());
    shared.unlock();
    store().silence();
    mutex other{client, "r"};
    stopwatch const since;
    EXPECT_EQ(failure_of([&] { return other.try_acquire_for(300ms); }), errc::store_unavailable);
    EXPECT_EQ(failure_of([&] { return other.try_lock_for(300ms); }), errc::store_unavailable);
    EXPECT_GE(since.elapsed(), 600ms);
    EXPECT_LT(since.elapsed(), 20s);
    store().restore();
    EXPECT_TRUE(other.try_lock_for(patience));
    other.unlock();
}

TEST_P(outage_test, a_wait_that_heard_busy_before_ends_busy) {
    if (!can({ability::silence})) return;
    auto holder = connect();
    auto client = connect();
    auto const held = mutex{holder, "q"}.acquire();
    mutex waited{client, "q"};
    auto waiter = elsewhere([&] { return waited.try_acquire_for(3s).has_value(); });
    // A waiter may be listed before it is answered; so long afterwards it has been.
    auto& looking = GetParam().can(ability::line) ? holder : client;
    EXPECT_TRUE(eventually([&] {
        auto const waiters = listed(looking, "q").waiters;
        return waiters.size() == 1 && waiters.front().age >= 500ms;
    }));
    store().silence();
    EXPECT_FALSE(waiter.get());
    store().restore();
    EXPECT_TRUE(waits(holder, "q", 0));
}

// Its first call has to connect, or to open a file and make its tables.
TEST_P(outage_test, the_first_call_of_a_client_keeps_its_deadline) {
    if (!can({ability::silence})) return;
    auto watcher = connect();
    store().silence();
    auto const fresh = connect();
    auto const hasty = connect({.patience = 200ms});
    stopwatch const since;
    EXPECT_EQ(failure_of([&] {
                  return mutex{fresh, "q"}.try_acquire_for(100ms);
              }),
              errc::store_unavailable);
    EXPECT_EQ(failure_of([&] { return mutex{hasty, "q"}.acquire(); }), errc::store_unavailable);
    EXPECT_LT(since.elapsed(), 8s);
    store().restore();
    EXPECT_TRUE(mutex(fresh, "q").try_acquire_for(patience));
    EXPECT_TRUE(mutex(hasty, "r").try_acquire_for(patience));
    EXPECT_TRUE(empties(watcher));
}

TEST_P(outage_test, a_given_up_acquire_takes_nothing) {
    if (!can({ability::silence})) return;
    auto watcher = connect();
    auto const client = connect();
    mutex shared{client, "q"};
    EXPECT_TRUE(shared.try_acquire());
    EXPECT_TRUE(empties(watcher));
    store().silence();
    EXPECT_EQ(failure_of([&] { return shared.try_acquire_for(200ms); }), errc::store_unavailable);
    store().restore();
    auto const nothing_comes = [&] {
        return empties(watcher) && throughout(500ms, [&] { return watcher.locks().empty(); });
    };
    // Without a clock, from which tokens come as well, a store cannot refuse what comes late: then it is undone.
    bool const refuses = GetParam().can(ability::lasting_tokens);
    EXPECT_TRUE(refuses ? nothing_comes() : eventually(nothing_comes));
}

TEST_P(outage_test, a_stop_ends_a_wait_for_a_silent_store) {
    if (!can({ability::silence})) return;
    auto const client = connect();
    mutex shared{client, "q"};
    EXPECT_TRUE(shared.try_acquire());
    store().silence();
    std::stop_source stop;
    auto waiter =
        elsewhere([&] { return failure_of([&] { EXPECT_FALSE(shared.lock(stop.get_token())); }); });
    EXPECT_TRUE(eventually([&] { return client.metrics().at("acquires") == 2; }));
    stop.request_stop();
    ASSERT_TRUE(ready(waiter, 10s));
    EXPECT_FALSE(waiter.get());
    store().restore();
}

TEST_P(outage_test, destructors_and_unlock_do_not_wait_for_the_store) {
    if (!can({ability::silence})) return;
    auto watcher = connect();
    auto const client = connect();
    mutex shared{client, "q", {.lease = 3s}};
    mutex locked{client, "r", {.lease = 3s}};
    std::optional<lease> held{shared.acquire()};
    locked.lock();
    store().silence();
    stopwatch const since;
    held.reset();
    locked.unlock();
    EXPECT_LT(since.elapsed(), 8s);
    store().restore();
    EXPECT_TRUE(empties(watcher));  // released in the background, or at the end of the lease
}

TEST_P(outage_test, release_says_that_it_does_not_know) {
    if (!can({ability::silence})) return;
    auto const client = connect({.patience = time_to_answer});
    auto held = mutex{client, "q"}.acquire();
    store().silence();
    stopwatch const since;
    EXPECT_EQ(held.release(), release_outcome::unknown);
    EXPECT_LT(since.elapsed(), 20s);
    EXPECT_FALSE(held.held());
    EXPECT_EQ(held.release(), release_outcome::unknown);
    store().restore();
}

TEST_P(outage_test, a_release_that_waits_delays_no_other) {
    if (!can({ability::silence})) return;
    auto const client = connect({.patience = 5s});
    auto held = mutex{client, "q", {.lease = 60s}}.acquire();
    store().silence();
    auto stuck = std::async(std::launch::async, [&] { return held.release(); });
    EXPECT_TRUE(throughout(100ms, [&] { return !ready(stuck, 0ms); }));
    holdfast::client const healthy{"memory:delays"};
    std::vector<lease> others;
    for (int i = 0; i < 500; ++i)
        others.push_back(mutex{healthy, "other/" + std::to_string(i)}.acquire());
    for (auto& it : others)
        EXPECT_EQ(it.release(), release_outcome::released);
    EXPECT_FALSE(ready(stuck, 0ms)) << "they waited for a store that is not theirs";
    EXPECT_EQ(held.release(), stuck.get()) << "who comes second repeats what the first was told";
    store().restore();
}

TEST_P(outage_test, close_is_bounded_by_patience) {
    if (!can({ability::silence})) return;
    auto client = connect({.patience = time_to_answer});
    auto const held = mutex{client, "q", {.lease = 60s}}.acquire();
    store().silence();
    stopwatch const since;
    client.close();
    EXPECT_LT(since.elapsed(), 15s);
    EXPECT_EQ(held.state(), lease_state::lost);
    store().restore();
}

TEST_P(outage_test, everything_may_be_destroyed_while_the_store_is_gone) {
    if (!can({ability::silence})) return;
    stopwatch since;
    {
        auto const client = connect({.patience = 3s});
        mutex shared{client, "q"};
        auto const held = shared.acquire();
        mutex locked{client, "r"};
        locked.lock();
        store().silence();
        since = {};
    }
    EXPECT_LT(since.elapsed(), 15s);
    store().restore();
}

TEST_P(outage_test, the_death_of_a_holder_frees_its_name) {
    if (!can({ability::processes})) return;
    auto const client = connect();
    auto const before = store().kill_holder("q", lease_of(5s));
    auto const next = mutex{client, "q"}.try_acquire_for(60s);
    ASSERT_TRUE(next);
    EXPECT_GT(next->token(), before);
}

TEST_P(outage_test, a_waiter_whose_mutex_was_lost_before_it_stood_in_line_looks_for_itself) {
    if (!can({ability::silence, ability::conditions})) return;
    auto client = connect();
    client.ping();
    holdfast::client elsewhere_kept{"memory:conditions-lost-mutex"};
    store().silence();
    std::promise<std::stop_token> held;
    auto waiting = elsewhere([&] {
        mutex guard{elsewhere_kept, "m", {.lease = 300ms, .renew = false}};
        std::unique_lock lock{guard};
        held.set_value(guard.lost());
        // Somebody else may hold the mutex and give the notice while this one is not yet in line.
        return condition_variable(client, "c").wait_for(lock, patience);
    });
    auto const lost = held.get_future().get();
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
    store().restore();
    ASSERT_TRUE(ready(waiting, 2 * patience));
    EXPECT_EQ(waiting.get(), std::cv_status::no_timeout);
    EXPECT_TRUE(empties(client));
}

}  // namespace

}  // namespace holdfast::conformance
