// Each field of lock_options has its effect; retry policies have a suite of their own.
#include <mutex>
#include <thread>

#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

class lock_options_test : public store_test {};
HOLDFAST_OVER_ALL_ROWS(lock_options_test);

TEST_P(lock_options_test, lease_is_what_the_store_keeps) {
    auto client = connect();
    mutex shared{client, "q", {.lease = 5s}};
    auto const held = shared.acquire();
    auto const info = listed(client, "q");
    ASSERT_EQ(info.holders.size(), 1U);
    EXPECT_GT(info.holders.front().lease_left, 1s);
    EXPECT_LE(info.holders.front().lease_left, 5s);
    EXPECT_LT(held.remaining(), 5s);
}

TEST_P(lock_options_test, lease_defaults_to_that_of_the_url) {
    client with{store().url_with("lease=7s")};
    mutex plain{with, "q"};
    mutex explicit_one{with, "r", {.lease = 90s}};
    auto const held = plain.acquire();
    auto const longer = explicit_one.acquire();
    EXPECT_LE(held.remaining(), 7s);
    EXPECT_GT(held.remaining(), 1s);
    EXPECT_GT(longer.remaining(), 60s);
    auto const client = connect();
    mutex other{client, "s"};
    EXPECT_GT(other.acquire().remaining(), 20s);  // 30 s where nobody says otherwise
}

TEST_P(lock_options_test, renew_keeps_a_hold_beyond_its_lease) {
    auto client = connect();
    mutex shared{client, "q", {.lease = 2s}};
    auto const held = shared.acquire();
    EXPECT_TRUE(throughout(4s, [&] { return held.held(); })) << held.loss_reason();
    EXPECT_GE(client.metrics()["renewals"], 2U);
    EXPECT_FALSE(held.lost().stop_requested());
}

TEST_P(lock_options_test, without_renew_a_hold_ends_with_its_lease_and_is_told_before) {
    auto const client = connect();
    auto const other = connect();
    mutex shared{client, "q", {.lease = 2s, .renew = false}};
    mutex theirs{other, "q"};
    stopwatch const since;
    auto held = shared.acquire();
    auto const trip = since.elapsed() + 2ms;  // in whole milliseconds, as the time below
    auto const lost = held.lost();
    auto const next = theirs.try_acquire_for(patience);
    ASSERT_TRUE(next);
    EXPECT_EQ(held.state(), lease_state::lost);
    EXPECT_EQ(held.remaining(), 0ms);
    // Where only the holder's client can end it, it does so by a reading of the clock that is early by a round trip at most.
    EXPECT_GE(since.elapsed(), 2s - trip);
    EXPECT_LT(since.elapsed(), 15s);
    EXPECT_GT(next->token(), held.token());
    EXPECT_NE(held.loss_reason(), "");
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
    EXPECT_EQ(held.release(), release_outcome::already_lost);
    EXPECT_TRUE(next->held());
}

TEST_P(lock_options_test, renew_every_sets_the_pace) {
    auto often = connect();
    auto seldom = connect();
    mutex eager{often, "q", {.lease = 30s, .renew_every = 50ms}};
    mutex calm{seldom, "r", {.lease = 30s}};
    auto const one = eager.acquire();
    auto const two = calm.acquire();
    EXPECT_TRUE(eventually([&] { return often.metrics()["renewals"] >= 5; }));
    EXPECT_EQ(seldom.metrics()["renewals"], 0U);
}

TEST_P(lock_options_test, max_hold_ends_a_hold_and_frees_the_name) {
    auto const client = connect();
    auto const other = connect();
    mutex shared{client, "q", {.lease = 60s, .max_hold = 500ms}};
    mutex theirs{other, "q"};
    stopwatch const since;
    auto held = shared.acquire();
    auto const lost = held.lost();
    auto const next = theirs.try_acquire_for(patience);
    ASSERT_TRUE(next);
    EXPECT_GE(since.elapsed(), 500ms);
    EXPECT_LT(since.elapsed(), 15s);  // not the lease
    EXPECT_EQ(held.state(), lease_state::lost);
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
    EXPECT_NE(held.loss_reason().find("max_hold"), std::string::npos) << held.loss_reason();
    EXPECT_EQ(held.release(), release_outcome::already_lost);
    EXPECT_TRUE(next->held());
}

TEST_P(lock_options_test, min_hold_keeps_the_name_after_an_early_release) {
    auto const client = connect();
    auto const other = connect();
    mutex shared{client, "q", {.min_hold = 1500ms}};
    mutex theirs{other, "q"};
    stopwatch const since;
    EXPECT_EQ(shared.acquire().release(), release_outcome::released);
    if (since.elapsed() < 1s) {
        EXPECT_FALSE(theirs.try_lock());
        EXPECT_FALSE(shared.try_lock());
    }
    auto const next = theirs.try_acquire_for(patience);
    ASSERT_TRUE(next);
    EXPECT_GE(since.elapsed(), 1500ms);
    EXPECT_LT(since.elapsed(), 15s);
}

TEST_P(lock_options_test, min_hold_holds_among_the_threads_of_a_client) {
    auto const client = connect();
    mutex shared{client, "q", {.min_hold = 700ms}};
    stopwatch const since;
    shared.lock();
    auto next = elsewhere([&] {
        std::lock_guard const guard{shared};
        return since.elapsed();
    });
    EXPECT_TRUE(eventually([&] { return client.metrics().at("acquires") == 2; }));
    shared.unlock();
    EXPECT_GE(next.get(), 700ms);
}

TEST_P(lock_options_test, grace_tells_of_the_loss_before_the_deadline) {
    auto const client = connect();
    auto other = connect();
    mutex shared{client, "q", {.lease = 17s, .renew = false, .grace = 15s}};
    mutex theirs{other, "q"};
    auto held = shared.acquire();
    EXPECT_LE(held.remaining(), 2s);
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_EQ(held.state(), lease_state::lost);
    auto const info = listed(other, "q");
    ASSERT_EQ(info.holders.size(), 1U) << "within its grace the hold is still there";
    EXPECT_EQ(info.holders.front().token, held.token());
    EXPECT_GT(info.holders.front().lease_left, 0ms);
    EXPECT_FALSE(theirs.try_lock());
    held.release();  // who winds up early lets the next in early
    EXPECT_TRUE(theirs.try_lock_for(10s));
    theirs.unlock();
}

TEST_P(lock_options_test, label_and_owner_are_listed) {
    if (!can({ability::holder_details})) return;
    auto client = connect({.label = "billing"});
    mutex plain{client, "q"};
    mutex labelled{client, "r", {.label = "nightly run", .owner = "job 7"}};
    auto const one = plain.acquire();
    auto const two = labelled.acquire();
    auto const first = listed(client, "q").holders.at(0);
    auto const second = listed(client, "r").holders.at(0);
    EXPECT_EQ(first.label, "billing");
    EXPECT_NE(first.owner, "");
    EXPECT_EQ(second.label, "nightly run");
    EXPECT_EQ(second.owner, "job 7");
}

TEST_P(lock_options_test, the_longest_time_of_all_is_for_ever) {
    auto endless = connect({.patience = milliseconds::max()});
    EXPECT_NO_THROW(endless.ping());
    auto held = mutex{endless, "q", {.max_hold = milliseconds::max()}}.acquire();
    EXPECT_TRUE(throughout(200ms, [&] { return held.held(); })) << held.loss_reason();
    EXPECT_EQ(held.release(), release_outcome::released);
}

TEST_P(lock_options_test, values_out_of_range_are_refused) {
    auto const client = connect();
    lock_options const bad[] = {
        {.lease = 0ms},
        {.lease = -1s},
        {.lease = 19ms},
        {.lease = 1s, .renew_every = 1s},
        {.renew_every = 0ms},
        {.renew_every = -1ms},
        {.max_hold = 0ms},
        {.min_hold = -1ms},
        {.max_hold = 1s, .min_hold = 2s},
        {.grace = -1ms},
        {.lease = 1s, .grace = 1s},
        {.local_passes = -1},
        {.local_passes = 256},
    };
    for (auto const& options : bad) {
        EXPECT_EQ(failure_of([&] { mutex{client, "q", options}; }), errc::bad_option);
        EXPECT_EQ(failure_of([&] { recursive_mutex{client, "q", options}; }), errc::bad_option);
    }
    auto held = mutex{client, "q", {.grace = 1s}}.acquire();
    for (auto const wanted : {milliseconds{19}, milliseconds{1s}, milliseconds{366 * 24h}})
        EXPECT_EQ(failure_of([&] { return held.renew(wanted); }), errc::bad_option);
    EXPECT_TRUE(held.held());
    EXPECT_NO_THROW((mutex{client, "q", {.lease = 20ms, .local_passes = 255}}));
    EXPECT_NO_THROW((mutex{client, "q", {.local_passes = 0}}));
}

}  // namespace

}  // namespace holdfast::conformance
