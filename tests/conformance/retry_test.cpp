// lock_options::retry: who decides when to try again, and for how long.
#include <atomic>
#include <mutex>
#include <vector>

#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

/// A policy that counts how often it was asked and what it was told.
class witness {
public:
    [[nodiscard]] retry::policy around(retry::policy inner) {
        return [this, inner = std::move(inner)](retry::attempt const& it) {
            std::lock_guard const guard{mutex_};
            seen_.push_back(it);
            thread_ = std::this_thread::get_id();
            return inner(it);
        };
    }

    [[nodiscard]] std::vector<retry::attempt> seen() const {
        std::lock_guard const guard{mutex_};
        return seen_;
    }

    [[nodiscard]] std::thread::id thread() const {
        std::lock_guard const guard{mutex_};
        return thread_;
    }

private:
    mutable std::mutex mutex_;
    std::vector<retry::attempt> seen_;
    std::thread::id thread_;
};

class retry_test : public store_test {
protected:
    client holders_{connect()};
    client client_{connect()};
    mutex held_{holders_, "q"};
    lease hold_{held_.acquire()};
    witness witness_;
};
HOLDFAST_OVER_ALL_ROWS(retry_test);

TEST_P(retry_test, fixed_ends_after_its_attempts) {
    mutex waited{client_, "q", {.retry = witness_.around(retry::fixed(20ms, 4))}};
    stopwatch const since;
    EXPECT_FALSE(waited.try_acquire_for(patience));
    EXPECT_GE(since.elapsed(), 60ms);
    EXPECT_LT(since.elapsed(), 15s);
    auto const seen = witness_.seen();
    ASSERT_EQ(seen.size(), 4U);
    for (std::size_t i = 0; i < seen.size(); ++i) {
        EXPECT_EQ(seen[i].number, static_cast<int>(i) + 1);
        EXPECT_FALSE(seen[i].last_error);
        if (i > 0) {
            EXPECT_GE(seen[i].spent, seen[i - 1].spent + 20ms);
        }
    }
    EXPECT_TRUE(waits(holders_, "q", 0));
}

TEST_P(retry_test, lock_ends_in_timed_out_when_the_policy_ends) {
    mutex waited{client_, "q", {.retry = retry::fixed(1ms, 2)}};
    EXPECT_EQ(failure_of([&] { waited.lock(); }), errc::timed_out);
    EXPECT_EQ(failure_of([&] { return waited.acquire(); }), errc::timed_out);
    EXPECT_FALSE(waited.try_lock_for(patience));
    EXPECT_FALSE(waited.try_lock());
    EXPECT_TRUE(waits(holders_, "q", 0));
}

TEST_P(retry_test, never_makes_one_attempt_and_does_not_queue) {
    client_.ping();  // knows the servers from now on
    auto const before = client_.metrics()["requests"];
    mutex waited{client_, "q", {.retry = retry::never()}};
    EXPECT_FALSE(waited.try_acquire_for(patience));
    EXPECT_FALSE(waited.try_lock());
    EXPECT_EQ(failure_of([&] { waited.lock(); }), errc::timed_out);
    // A queued claim would have to be withdrawn: one request each, and one for the store's clock.
    EXPECT_LE(client_.metrics()["requests"] - before, 4U);
    EXPECT_EQ(hold_.release(), release_outcome::released);
    EXPECT_TRUE(waited.try_acquire());
}

TEST_P(retry_test, exponential_doubles_up_to_its_cap_and_ends_with_the_deadline) {
    mutex waited{client_, "q", {.retry = witness_.around(retry::exponential(10ms, 80ms))}};
    EXPECT_FALSE(waited.try_acquire_for(600ms));
    auto const seen = witness_.seen();
    ASSERT_GE(seen.size(), 3U);
    EXPECT_LE(seen.size(), 10U);  // 10, 20, 40, 80, 80, …: at most ten in 600 ms
    EXPECT_GE(seen[2].spent, 30ms);
    EXPECT_TRUE(waits(holders_, "q", 0));
}

TEST_P(retry_test, a_release_starts_the_next_attempt_before_the_delay_is_over) {
    if (!can({ability::line})) return;
    mutex waited{client_, "q", {.retry = witness_.around(retry::fixed(10min, 9))}};
    auto waiter = elsewhere([&] { return waited.try_acquire_for(5min).has_value(); });
    EXPECT_TRUE(eventually([&] { return witness_.seen().size() == 1; }));
    EXPECT_EQ(hold_.release(), release_outcome::released);
    ASSERT_TRUE(ready(waiter));
    EXPECT_TRUE(waiter.get());
}

TEST_P(retry_test, a_policy_runs_on_the_notifier_thread) {
    mutex waited{client_, "q", {.retry = witness_.around(retry::fixed(1ms, 2))}};
    EXPECT_FALSE(waited.try_acquire_for(patience));
    EXPECT_NE(witness_.thread(), std::thread::id{});
    EXPECT_NE(witness_.thread(), std::this_thread::get_id());
}

TEST_P(retry_test, a_policy_may_use_the_library) {
    mutex other{client_, "r"};
    std::atomic<int> taken{0};
    mutex waited{
        client_, "q", {.retry = [&](retry::attempt const& it) -> std::optional<milliseconds> {
            if (auto const side = other.try_acquire()) ++taken;
            return it.number < 3 ? std::optional<milliseconds>{1ms} : std::nullopt;
        }}};
    EXPECT_FALSE(waited.try_acquire_for(patience));
    EXPECT_EQ(taken, 3);
}

TEST_P(retry_test, a_policy_that_throws_ends_the_acquire) {
    auto const throws = [](retry::attempt const&) -> std::optional<milliseconds> {
        throw std::runtime_error{"!"};
    };
    mutex waited{client_, "q", {.retry = throws}};
    EXPECT_EQ(failure_of([&] { waited.lock(); }), errc::timed_out);
    EXPECT_TRUE(waits(holders_, "q", 0));
}

TEST_P(retry_test, a_delay_without_end_waits_for_the_release) {
    if (!can({ability::line})) return;
    mutex waited{client_, "q", {.retry = witness_.around([](auto const&) {
                     return std::optional<milliseconds>{milliseconds::max()};
                 })}};
    auto waiter = elsewhere([&] { return waited.try_acquire_for(5min).has_value(); });
    EXPECT_TRUE(eventually([&] { return witness_.seen().size() == 1; }));
    EXPECT_TRUE(throughout(200ms, [&] { return witness_.seen().size() == 1; }));
    EXPECT_EQ(hold_.release(), release_outcome::released);
    ASSERT_TRUE(ready(waiter));
    EXPECT_TRUE(waiter.get());
}

TEST_P(retry_test, values_out_of_range_are_refused) {
    EXPECT_EQ(failure_of([] { return retry::fixed(-1ms, 3); }), errc::bad_option);
    EXPECT_EQ(failure_of([] { return retry::fixed(1ms, 0); }), errc::bad_option);
    EXPECT_EQ(failure_of([] { return retry::exponential(2s, 1s); }), errc::bad_option);
    EXPECT_EQ(failure_of([] { return retry::exponential(-1ms, 1s); }), errc::bad_option);
}

TEST_P(retry_test, failed_requests_are_attempts_too) {
    if (!can({ability::silence})) return;
    auto const url = store().url_with("timeout=100ms");
    client impatient{url};
    mutex waited{impatient, "r", {.retry = witness_.around(retry::fixed(10ms, 3))}};
    auto const acquires = [&] {
        try {
            return waited.try_acquire().has_value();
        } catch (std::system_error const&) {
            return false;  // connections may take longer than that
        }
    };
    ASSERT_TRUE(eventually(acquires));
    auto const before = witness_.seen().size();
    store().silence();
    EXPECT_EQ(failure_of([&] { return waited.try_acquire_for(patience); }),
              errc::store_unavailable);
    auto const seen = witness_.seen();
    ASSERT_EQ(seen.size(), before + 3);
    EXPECT_EQ(seen.back().last_error, errc::store_unavailable);
    store().restore();
    // What was given up may take effect now, until the clean-up that is on its way has ended it.
    EXPECT_TRUE(eventually(acquires));
}

}  // namespace

}  // namespace holdfast::conformance
