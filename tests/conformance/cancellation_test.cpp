// Waits that end early, and what they leave behind: nothing.
#include <stop_token>
#include <thread>

#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

/// How long a wait that was told to end may go on, on a busy machine.
constexpr milliseconds at_once = 10s;

class cancellation_test : public store_test {
protected:
    client holders_{connect()};
    mutex held_{holders_, "q"};
    lease hold_{held_.acquire()};

    /// Only the holder is left.
    [[nodiscard]] bool no_claim_stays() {
        return eventually([&] {
            auto const info = listed(holders_, "q");
            return info.waiters.empty() && info.holders.size() == 1 &&
                   info.holders.front().token == hold_.token();
        });
    }

    /// And what waited can still be had.
    void expect_usable(basic_mutex& waited) {
        EXPECT_EQ(hold_.release(), release_outcome::released);
        auto const got = waited.try_acquire_for(patience);
        EXPECT_TRUE(got);
    }
};
HOLDFAST_OVER_ALL_ROWS(cancellation_test);

TEST_P(cancellation_test, a_stop_before_the_wait_ends_it) {
    auto const client = connect();
    mutex waited{client, "q"};
    std::stop_source stop;
    stop.request_stop();
    EXPECT_FALSE(waited.lock(stop.get_token()));
    EXPECT_FALSE(waited.acquire(stop.get_token()));
    EXPECT_FALSE(waited.try_acquire_for(patience, stop.get_token()));
    EXPECT_FALSE(waited.owns());
    EXPECT_TRUE(no_claim_stays());
    expect_usable(waited);
}

TEST_P(cancellation_test, a_stop_ends_a_wait_in_the_store_s_line) {
    auto client = connect();
    for (auto const order : orders()) {
        mutex waited{client, "q", {.order = order}};
        std::stop_source stop;
        auto waiter = elsewhere([&] { return waited.lock(stop.get_token()); });
        EXPECT_TRUE(waits_seen_by(holders_, client, "q", 1));
        stop.request_stop();
        ASSERT_TRUE(ready(waiter, at_once));
        EXPECT_FALSE(waiter.get());
        EXPECT_TRUE(no_claim_stays());
    }
    mutex waited{client, "q"};
    expect_usable(waited);
}

TEST_P(cancellation_test, a_stop_ends_a_wait_in_the_local_line) {
    std::stop_source stop;
    auto waiter = elsewhere([&] { return held_.acquire(stop.get_token()).has_value(); });
    auto other = elsewhere([&] { return held_.try_acquire_for(patience).has_value(); });
    EXPECT_TRUE(waits(holders_, "q", 2));
    stop.request_stop();
    ASSERT_TRUE(ready(waiter, at_once));
    EXPECT_FALSE(waiter.get());
    EXPECT_TRUE(waits(holders_, "q", 1));
    EXPECT_EQ(hold_.release(), release_outcome::released);
    EXPECT_TRUE(other.get());  // the one behind it is not forgotten
}

TEST_P(cancellation_test, a_stop_of_the_first_in_line_spares_those_behind) {
    auto client = connect();
    mutex waited{client, "q"};
    std::stop_source stop;
    auto first = elsewhere([&] { return waited.acquire(stop.get_token()).has_value(); });
    EXPECT_TRUE(waits_seen_by(holders_, client, "q", 1));
    auto second = elsewhere([&] { return waited.try_acquire_for(patience).has_value(); });
    EXPECT_TRUE(eventually([&] { return client.metrics().at("acquires") == 2; }));
    stop.request_stop();
    ASSERT_TRUE(ready(first, at_once));
    EXPECT_FALSE(first.get());
    EXPECT_EQ(hold_.release(), release_outcome::released);
    EXPECT_TRUE(second.get());
}

TEST_P(cancellation_test, a_timeout_leaves_no_claim) {
    auto const client = connect();
    for (auto const order : orders()) {
        mutex waited{client, "q", {.order = order}};
        stopwatch const since;
        EXPECT_TRUE(ends_with_its_time([&](auto time) { return waited.try_lock_for(time); }));
        EXPECT_TRUE(ends_with_its_time([&](auto time) {
            return waited.try_acquire_until(std::chrono::steady_clock::now() + time);
        }));
        EXPECT_FALSE(waited.try_acquire_for(0s));
        EXPECT_FALSE(waited.try_acquire_for(-1s));
        EXPECT_LT(since.elapsed(), at_once);
        EXPECT_TRUE(no_claim_stays());
    }
    EXPECT_FALSE(held_.try_acquire_for(20ms));  // in the local line
    EXPECT_TRUE(no_claim_stays());
    mutex waited{client, "q"};
    expect_usable(waited);
}

TEST_P(cancellation_test, endless_timeouts_do_not_overflow) {
    auto client = connect();
    mutex waited{client, "q"};
    auto waiter =
        elsewhere([&] { return waited.try_acquire_for(std::chrono::hours::max()).has_value(); });
    EXPECT_TRUE(waits_seen_by(holders_, client, "q", 1));
    EXPECT_EQ(hold_.release(), release_outcome::released);
    EXPECT_TRUE(waiter.get());
}

TEST_P(cancellation_test, close_wakes_all_waiters) {
    auto client = connect();
    mutex waited{client, "q"};
    auto const wait = [&] { return failure_of([&] { waited.lock(); }); };
    auto first = elsewhere(wait);
    auto second = elsewhere(wait);
    auto timed =
        elsewhere([&] { return failure_of([&] { return waited.try_acquire_for(patience); }); });
    EXPECT_TRUE(eventually([&] { return client.metrics().at("acquires") == 3; }));
    EXPECT_TRUE(eventually([&] {
        auto& who = GetParam().can(ability::line) ? holders_ : client;
        return !listed(who, "q").waiters.empty();
    }));
    client.close();
    for (auto* const waiter : {&first, &second, &timed}) {
        ASSERT_TRUE(ready(*waiter, at_once));
        EXPECT_EQ(waiter->get(), errc::closed);
    }
    EXPECT_TRUE(no_claim_stays());
    EXPECT_EQ(failure_of([&] { waited.lock(); }), errc::closed);
    EXPECT_EQ(failure_of([&] { return waited.try_lock(); }), errc::closed);
    EXPECT_EQ(failure_of([&] { client.ping(); }), errc::closed);
    EXPECT_EQ(failure_of([&] { return client.locks(); }), errc::closed);
    EXPECT_NO_THROW(client.close());
}

TEST_P(cancellation_test, close_releases_what_is_held) {
    auto const other = connect();
    mutex theirs{other, "q"};
    auto const lost = hold_.lost();
    holders_.close();
    EXPECT_EQ(hold_.state(), lease_state::lost);
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
    EXPECT_NE(hold_.loss_reason(), "");
    EXPECT_EQ(hold_.release(), release_outcome::already_lost);
    EXPECT_TRUE(theirs.try_lock());
    theirs.unlock();
}

TEST_P(cancellation_test, stops_and_grants_at_the_same_time_lose_nothing) {
    auto client = connect();
    mutex waited{client, "r"};
    mutex rival{holders_, "r"};
    for (int i = 0; i < 100; ++i) {
        auto blocking = rival.acquire();
        std::stop_source stop;
        auto waiter = elsewhere([&] { return waited.acquire(stop.get_token()).has_value(); });
        EXPECT_TRUE(waits_seen_by(holders_, client, "r", 1));
        auto releaser = elsewhere([&] { return blocking.release(); });
        stop.request_stop();
        EXPECT_EQ(releaser.get(), release_outcome::released);
        static_cast<void>(waiter.get());  // either way
    }
    EXPECT_TRUE(eventually([&] { return listed(holders_, "r").holders.empty(); }));
}

}  // namespace

}  // namespace holdfast::conformance
