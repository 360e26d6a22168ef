// latch: a count that falls to zero, agreed in the store.
#include <atomic>
#include <thread>
#include <vector>

#include "conformance/store_test.hpp"
#include "conformance/worker.hpp"

namespace holdfast::conformance {

namespace {

class latch_test : public store_test {};
HOLDFAST_OVER_ROWS_WITH(latch_test, ability::latches);

TEST_P(latch_test, counts_down_over_clients_and_opens_at_zero) {
    auto const one = connect();
    auto const two = connect();
    latch ours{one, "q", 3};
    latch theirs{two, "q", 3};
    EXPECT_EQ(ours.name(), "q");
    EXPECT_EQ(ours.count(), 3U);
    ours.count_down();
    EXPECT_EQ(theirs.count(), 2U);
    EXPECT_FALSE(theirs.try_wait());
    theirs.count_down(2);
    EXPECT_EQ(ours.count(), 0U);
    EXPECT_TRUE(ours.try_wait());
    ours.wait();
    EXPECT_TRUE(theirs.wait_for(10s));
}

TEST_P(latch_test, constructing_one_tells_nobody) {
    auto client = connect();
    latch const unused{client, "q", 3};
    EXPECT_TRUE(client.locks().empty());
    EXPECT_EQ(failure_of([&] { latch(client, "", 1); }), errc::bad_name);
    EXPECT_EQ(failure_of([&] { latch(client, "a\nb", 1); }), errc::bad_name);
}

TEST_P(latch_test, the_first_count_is_kept_and_another_harms_nothing) {
    auto const one = connect();
    auto const two = connect();
    latch ours{one, "q", 3};
    ours.count_down();
    latch theirs{two, "q", 5};
    EXPECT_EQ(failure_of([&] { theirs.count_down(); }), errc::limit_mismatch);
    EXPECT_EQ(failure_of([&] { return theirs.count(); }), errc::limit_mismatch);
    EXPECT_EQ(failure_of([&] { return theirs.try_wait(); }), errc::limit_mismatch);
    EXPECT_EQ(failure_of([&] { theirs.wait(); }), errc::limit_mismatch);
    EXPECT_EQ(failure_of([&] { return theirs.wait_for(10s); }), errc::limit_mismatch);
    EXPECT_EQ(failure_of([&] { theirs.arrive_and_wait(); }), errc::limit_mismatch);
    auto const words = words_of([&] { theirs.count_down(); });
    EXPECT_NE(words.find('3'), std::string::npos) << words;
    EXPECT_NE(words.find('5'), std::string::npos) << words;
    EXPECT_EQ(ours.count(), 2U);
    ours.count_down(2);
    EXPECT_TRUE(ours.try_wait());
    EXPECT_EQ(failure_of([&] { return theirs.try_wait(); }), errc::limit_mismatch);
}

TEST_P(latch_test, a_finished_one_stays_finished) {
    auto const one = connect();
    {
        latch first{one, "q", 2};
        first.count_down(2);
    }
    auto const two = connect();
    latch later{two, "q", 2};
    EXPECT_TRUE(later.try_wait());
    later.count_down();
    EXPECT_EQ(later.count(), 0U);
    EXPECT_TRUE(later.wait_for(0ms));
    later.arrive_and_wait();
}

TEST_P(latch_test, a_reset_begins_a_new_round_open_or_not) {
    auto const one = connect();
    auto const two = connect();
    latch ours{one, "q", 2};
    latch follower{two, "q"};
    for (int day = 0; day < 3; ++day) {
        ours.reset(2);
        EXPECT_EQ(follower.count(), 2U);
        EXPECT_FALSE(follower.try_wait());
        ours.count_down();
        ours.reset(2);  // not open yet
        EXPECT_EQ(ours.count(), 2U);
        follower.count_down(2);
        EXPECT_TRUE(ours.wait_for(10s));
    }
    latch fresh{two, "fresh", 7};
    fresh.reset(1);  // declares it
    EXPECT_EQ(latch(one, "fresh").count(), 1U);
    fresh.reset(0);
    EXPECT_TRUE(latch(one, "fresh").try_wait());
}

TEST_P(latch_test, a_reset_may_agree_on_another_count) {
    auto one = connect();
    auto const two = connect();
    latch ours{one, "q", 2};
    latch theirs{two, "q", 2};
    ours.count_down();
    ours.reset(3);
    EXPECT_EQ(ours.count(), 3U);
    EXPECT_EQ(failure_of([&] { return theirs.count(); }), errc::limit_mismatch);
    EXPECT_EQ(listed(one, "q").limit, 3U);
    theirs.reset(5);
    EXPECT_EQ(theirs.count(), 5U);
    EXPECT_EQ(failure_of([&] { ours.count_down(); }), errc::limit_mismatch);
}

// A wait is for the round that it sees first, so each of these is repeated until it has seen one.
TEST_P(latch_test, who_waits_is_told_of_a_reset_and_of_a_removal) {
    auto const one = connect();
    auto const two = connect();
    latch ours{one, "q", 1};
    for (bool const removed : {false, true}) {
        EXPECT_EQ(ours.count(), 1U);
        auto counted = elsewhere([&] { return failure_of([&] { latch(two, "q", 1).wait(); }); });
        auto follower = elsewhere([&] { return failure_of([&] { latch(two, "q").wait(); }); });
        EXPECT_TRUE(eventually([&] {
            EXPECT_EQ(ours.count(), 1U);  // declares it where it was removed
            bool const both = ready(counted, 20ms) && ready(follower, 20ms);
            if (!both && removed) ours.remove();
            if (!both && !removed) ours.reset(1);
            return both;
        }));
        EXPECT_EQ(counted.get(), errc::lost);
        EXPECT_EQ(follower.get(), errc::lost);
    }
}

TEST_P(latch_test, an_end_is_not_missed_though_a_reset_or_a_removal_follows_at_once) {
    auto const one = connect();
    auto const two = connect();
    for (int i = 0; i < 20; ++i) {
        latch ours{one, "q", 1};
        auto waiting = elsewhere([&] { return latch(two, "q").wait_for(1h); });
        EXPECT_TRUE(eventually([&] {
            EXPECT_EQ(ours.count(), 1U);
            if (ready(waiting, 20ms)) return true;
            ours.count_down();
            i % 2 == 0 ? ours.reset(1) : ours.remove();
            return ready(waiting, 20ms);
        }));
        EXPECT_TRUE(waiting.get());
    }
}

TEST_P(latch_test, a_removed_one_is_as_if_it_had_never_been) {
    auto client = connect();
    latch ours{client, "q", 2};
    ours.remove();  // there is none
    ours.count_down();
    ours.remove();
    EXPECT_TRUE(client.locks().empty());
    EXPECT_EQ(failure_of([&] { return latch(client, "q").count(); }), errc::bad_option);
    EXPECT_FALSE(latch(client, "q").try_wait());
    EXPECT_TRUE(ends_with_its_time([&](auto time) { return latch(client, "q").wait_for(time); }));
    latch other{client, "q", 5};
    EXPECT_EQ(other.count(), 5U);
    other.count_down(5);
    other.remove();
    EXPECT_FALSE(ours.try_wait());
    EXPECT_EQ(ours.count(), 2U);
    auto const held = mutex(client, "lock").acquire();
    EXPECT_EQ(failure_of([&] { latch(client, "lock", 1).reset(1); }), errc::kind_mismatch);
    latch(client, "lock").remove();  // there is no such latch
    EXPECT_TRUE(held.held());
}

TEST_P(latch_test, the_count_stops_at_zero) {
    auto const client = connect();
    latch it{client, "q", 3};
    it.count_down(0);
    EXPECT_EQ(it.count(), 3U);
    it.count_down(2);
    it.count_down(UINT32_MAX);
    EXPECT_EQ(it.count(), 0U);
    latch large{client, "large", UINT32_MAX};
    large.count_down(UINT32_MAX - 1);
    EXPECT_EQ(large.count(), 1U);
    latch open{client, "open", 0};
    open.wait();
    EXPECT_TRUE(open.try_wait());
}

TEST_P(latch_test, a_wait_ends_with_its_time) {
    auto const client = connect();
    latch it{client, "q", 1};
    EXPECT_FALSE(it.wait_for(0ms));
    EXPECT_FALSE(it.wait_for(-1s));
    stopwatch const since;
    EXPECT_TRUE(ends_with_its_time([&](auto time) { return it.wait_for(time); }));
    EXPECT_TRUE(ends_with_its_time(
        [&](auto time) { return it.wait_until(std::chrono::steady_clock::now() + time); }));
    EXPECT_FALSE(it.wait_until(std::chrono::system_clock::now() - 1s));
    EXPECT_LT(since.elapsed(), patience);
    EXPECT_EQ(it.count(), 1U);
}

TEST_P(latch_test, a_stop_ends_the_wait) {
    auto const client = connect();
    latch it{client, "q", 1};
    std::stop_source stop;
    auto waiting = elsewhere([&] { return it.wait(stop.get_token()); });
    auto timed = elsewhere([&] { return it.wait_for(1h, stop.get_token()); });
    EXPECT_FALSE(ready(waiting, 100ms));
    stop.request_stop();
    ASSERT_TRUE(ready(waiting));
    EXPECT_FALSE(waiting.get());
    ASSERT_TRUE(ready(timed));
    EXPECT_FALSE(timed.get());
    EXPECT_FALSE(it.wait(stop.get_token()));  // requested before
    it.count_down();
    EXPECT_TRUE(it.wait(std::stop_token{}));
}

TEST_P(latch_test, a_wait_is_told_of_the_end_and_does_not_poll_for_it) {
    auto const one = connect();
    auto const two = connect();
    latch theirs{two, "q", 2};
    auto waiting = elsewhere([&] { theirs.wait(); });
    latch ours{one, "q", 2};
    ours.count_down();
    EXPECT_FALSE(ready(waiting, 100ms));
    stopwatch const since;
    ours.count_down();
    ASSERT_TRUE(ready(waiting));
    EXPECT_LT(since.elapsed(), 4s);  // the slow poll comes after five
}

TEST_P(latch_test, without_a_count_it_is_as_somebody_else_declares_it) {
    auto const one = connect();
    auto const two = connect();
    latch follower{two, "q"};
    EXPECT_EQ(failure_of([&] { follower.count_down(); }), errc::bad_option);
    EXPECT_EQ(failure_of([&] { return follower.count(); }), errc::bad_option);
    EXPECT_TRUE(ends_with_its_time([&](auto time) { return follower.wait_for(time); }));
    EXPECT_FALSE(follower.wait_for(0ms));
    EXPECT_FALSE(follower.try_wait());
    auto waiting = elsewhere([&] { latch(two, "q").wait(); });
    EXPECT_FALSE(ready(waiting, 100ms));
    latch declared{one, "q", 2};
    EXPECT_EQ(declared.count(), 2U);
    follower.count_down();
    EXPECT_EQ(follower.count(), 1U);
    EXPECT_FALSE(ready(waiting, 50ms));
    declared.count_down();
    ASSERT_TRUE(ready(waiting));
    EXPECT_TRUE(follower.try_wait());
}

TEST_P(latch_test, who_arrives_last_opens_it_for_all) {
    constexpr std::uint32_t parties = 24;
    std::vector<client> clients;
    for (int i = 0; i < 4; ++i)
        clients.push_back(connect());
    std::atomic<std::uint32_t> arrived{0};
    std::atomic<int> early{0};
    {
        std::vector<std::jthread> crowd;
        for (std::uint32_t i = 0; i < parties; ++i) {
            crowd.emplace_back([&, i] {
                latch it{clients[i % 4], "q", parties};
                ++arrived;
                it.arrive_and_wait();
                if (arrived != parties) ++early;
            });
        }
    }
    EXPECT_EQ(early, 0);
    EXPECT_EQ(latch(clients.front(), "q", parties).count(), 0U);
}

TEST_P(latch_test, no_count_is_lost_and_none_is_counted_twice) {
    constexpr std::uint32_t threads = 16;
    constexpr std::uint32_t turns = 10;
    std::vector<client> clients;
    for (int i = 0; i < 4; ++i)
        clients.push_back(connect());
    latch watched{clients.front(), "q", threads * turns + 1};
    {
        std::vector<std::jthread> crowd;
        for (std::uint32_t i = 0; i < threads; ++i) {
            crowd.emplace_back([&, i] {
                latch it{clients[i % 4], "q", threads * turns + 1};
                for (std::uint32_t k = 0; k < turns; ++k)
                    it.count_down();
            });
        }
    }
    EXPECT_EQ(watched.count(), 1U);
}

TEST_P(latch_test, objects_that_end_do_not_deafen_those_that_wait) {
    auto const one = connect();
    auto const two = connect();
    for (int i = 0; i < 20; ++i) {
        auto const name = "q" + std::to_string(i);
        auto waiting = elsewhere([&] { latch(one, name, 1).wait(); });
        std::stop_source stop;
        auto brief = elsewhere([&] { return latch(one, name, 1).wait(stop.get_token()); });
        stop.request_stop();
        EXPECT_FALSE(brief.get());
        latch(two, name, 1).count_down();
        stopwatch const since;
        ASSERT_TRUE(ready(waiting));
        EXPECT_LT(since.elapsed(), 4s);
    }
}

TEST_P(latch_test, a_name_has_one_kind) {
    auto const client = connect();
    {
        auto const held = mutex(client, "lock").acquire();
        latch it{client, "lock", 1};
        EXPECT_EQ(failure_of([&] { it.count_down(); }), errc::kind_mismatch);
        EXPECT_EQ(failure_of([&] { return it.count(); }), errc::kind_mismatch);
        EXPECT_EQ(failure_of([&] { it.wait(); }), errc::kind_mismatch);
        EXPECT_TRUE(held.held());
    }
    latch it{client, "latch", 2};
    it.count_down();
    EXPECT_EQ(failure_of([&] { mutex(client, "latch").lock(); }), errc::kind_mismatch);
    EXPECT_EQ(failure_of([&] { return mutex(client, "latch").try_lock(); }), errc::kind_mismatch);
    EXPECT_EQ(failure_of([&] { semaphore(client, "latch", 2).acquire(); }), errc::kind_mismatch);
    EXPECT_EQ(failure_of([&] { barrier(client, "latch", 2).arrive_and_wait(); }),
              errc::kind_mismatch);
    EXPECT_EQ(it.count(), 1U);
}

TEST_P(latch_test, a_listing_shows_what_is_left_and_an_eviction_spares_it) {
    auto client = connect();
    latch it{client, "q", 5};
    it.count_down(2);
    auto const info = listed(client, "q");
    EXPECT_EQ(info.kind, lock_kind::latch);
    EXPECT_EQ(info.limit, 5U);
    EXPECT_EQ(info.count, 3U);
    EXPECT_TRUE(info.holders.empty());
    EXPECT_TRUE(info.waiters.empty());
    EXPECT_EQ(client.evict("q"), 0U);  // nobody holds it
    EXPECT_EQ(it.count(), 3U);
}

TEST_P(latch_test, closing_the_client_ends_a_wait) {
    auto client = connect();
    latch it{client, "q", 1};
    auto waiting = elsewhere([&] { return failure_of([&] { it.wait(); }); });
    EXPECT_TRUE(eventually([&] { return listed(client, "q").count == 1; }));
    EXPECT_FALSE(ready(waiting, 50ms));
    client.close();
    ASSERT_TRUE(ready(waiting));
    EXPECT_EQ(waiting.get(), errc::closed);
    EXPECT_EQ(failure_of([&] { it.count_down(); }), errc::closed);
}

TEST_P(latch_test, a_silent_store_is_an_error_and_a_wait_outlasts_it) {
    if (!can({ability::silence})) return;
    auto const brief = connect({.patience = time_to_answer});
    auto const patient = connect({.patience = 30s});
    latch it{brief, "q", 2};
    latch theirs{patient, "q", 2};
    it.count_down();
    auto waiting = elsewhere([&] { theirs.wait(); });
    EXPECT_FALSE(ready(waiting, 50ms));
    store().silence();
    EXPECT_EQ(failure_of([&] { it.count_down(); }), errc::store_unavailable);
    store().restore();
    // Whether the one without an answer was counted is open; no more than that one was.
    EXPECT_LE(it.count(), 1U);
    it.count_down();
    ASSERT_TRUE(ready(waiting));
}

TEST_P(latch_test, outlives_the_process_that_counted) {
    if (!can({ability::processes})) return;
    auto const client = connect();
    auto const worker = start_worker(store().url());
    EXPECT_EQ(worker->ask("count-down q 2"), "counted");
    worker->kill();
    latch it{client, "q", 2};
    EXPECT_EQ(it.count(), 1U);
    it.arrive_and_wait();
}

}  // namespace

}  // namespace holdfast::conformance
