// The report of owners who wait for each other, and its refusal.
#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

class deadlock_test : public store_test {
protected:
    [[nodiscard]] static lock_options owned_by(char const* owner, bool detect) {
        return {.owner = owner, .detect_deadlock = detect};
    }
};
HOLDFAST_OVER_ROWS_WITH(deadlock_test, ability::line);

TEST_P(deadlock_test, the_youngest_claim_of_a_cycle_is_refused) {
    auto one = connect();
    auto const two = connect();
    auto x = mutex(one, "x", owned_by("anna", true)).acquire();
    auto y = mutex(two, "y", owned_by("ben", true)).acquire();
    auto waiting = elsewhere([&] { return mutex(one, "y", owned_by("anna", true)).acquire(); });
    ASSERT_TRUE(waits(one, "y", 1));
    auto const words =
        words_of([&] { (void)mutex(two, "x", owned_by("ben", true)).try_acquire_for(patience); });
    EXPECT_NE(words.find("anna waits for 'y'"), std::string::npos) << words;
    EXPECT_NE(words.find("ben waits for 'x'"), std::string::npos) << words;
    EXPECT_FALSE(ready(waiting, 0ms));
    EXPECT_EQ(y.release(), release_outcome::released);
    ASSERT_TRUE(ready(waiting));
    EXPECT_TRUE(x.held());
}

TEST_P(deadlock_test, who_looks_is_refused_where_the_youngest_does_not_look) {
    auto one = connect();
    auto const two = connect();
    auto x = mutex(one, "x", owned_by("anna", true)).acquire();
    auto const y = mutex(two, "y", owned_by("ben", false)).acquire();
    auto looking = elsewhere([&] {
        return failure_of([&] {
            (void)mutex(one, "y", {.lease = 3s, .owner = "anna", .detect_deadlock = true})
                .acquire();
        });
    });
    ASSERT_TRUE(waits(one, "y", 1));
    auto waiting = elsewhere([&] { return mutex(two, "x", owned_by("ben", false)).acquire(); });
    ASSERT_TRUE(ready(looking)) << "it looks again when it shows that it is alive";
    EXPECT_EQ(looking.get(), errc::would_deadlock);
    EXPECT_FALSE(ready(waiting, 0ms));
    EXPECT_EQ(x.release(), release_outcome::released);
    ASSERT_TRUE(ready(waiting));
}

TEST_P(deadlock_test, threads_are_owners_where_none_is_named) {
    auto client = connect();
    lock_options const detect{.detect_deadlock = true};
    mutex x{client, "x", detect};
    mutex y{client, "y", detect};
    x.lock();
    auto other = elsewhere([&] {
        y.lock();
        auto const failure =
            failure_of([&] { x.lock(); });  // waits until the first thread gives up
        if (failure == std::error_code{}) x.unlock();
        y.unlock();
        return failure;
    });
    ASSERT_TRUE(waits(client, "x", 1));
    EXPECT_EQ(failure_of([&] { y.lock(); }), errc::would_deadlock);
    x.unlock();
    ASSERT_TRUE(ready(other));
    EXPECT_EQ(other.get(), std::error_code{});
}

TEST_P(deadlock_test, a_chain_without_a_cycle_is_left_in_peace) {
    auto one = connect();
    auto const two = connect();
    auto x = mutex(one, "x", owned_by("anna", true)).acquire();
    auto waiting = elsewhere([&] { return mutex(two, "x", owned_by("ben", true)).acquire(); });
    ASSERT_TRUE(waits(one, "x", 1));
    EXPECT_TRUE(find_deadlocks(one.locks()).empty());
    EXPECT_EQ(x.release(), release_outcome::released);
    ASSERT_TRUE(ready(waiting));
}

TEST_P(deadlock_test, what_a_minimum_hold_keeps_closes_no_cycle) {
    auto one = connect();
    auto const two = connect();
    mutex brief{one, "x", {.min_hold = 20s, .owner = "anna", .detect_deadlock = true}};
    EXPECT_EQ(brief.acquire().release(), release_outcome::released);
    auto y = mutex(two, "y", owned_by("ben", true)).acquire();
    auto waiting = elsewhere([&] { return mutex(two, "x", owned_by("ben", true)).acquire(); });
    ASSERT_TRUE(waits(one, "x", 1));
    EXPECT_TRUE(listed(one, "x").holders.at(0).kept);
    mutex wanted{one, "y", owned_by("anna", true)};
    EXPECT_FALSE(wanted.try_acquire_for(1s)) << "anna has let go of 'x'";
    EXPECT_EQ(one.evict("x"), 1U);
    ASSERT_TRUE(ready(waiting));
    EXPECT_EQ(y.release(), release_outcome::released);
}

TEST_P(deadlock_test, a_cycle_that_nobody_refuses_is_reported) {
    auto one = connect();
    auto const two = connect();
    auto x = mutex(one, "x", owned_by("anna", false)).acquire();
    auto const y = mutex(two, "y", owned_by("ben", false)).acquire();
    std::stop_source stop;
    // Fair claims are those of their owners; barging ones are handed on inside a client.
    auto const want = [&](client const& from, char const* name, char const* owner) {
        return elsewhere([&from, name, owner, &stop] {
            return mutex(from, name, {.order = ordering::fair, .owner = owner})
                .acquire(stop.get_token());
        });
    };
    auto first = want(one, "y", "anna");
    auto second = want(two, "x", "ben");
    ASSERT_TRUE(eventually([&] { return !find_deadlocks(one.locks()).empty(); }));
    auto const cycles = find_deadlocks(one.locks());
    ASSERT_EQ(cycles.size(), 1U);
    ASSERT_EQ(cycles.front().size(), 2U);
    EXPECT_NE(cycles.front()[0].waiter.owner, cycles.front()[1].waiter.owner);
    stop.request_stop();
    EXPECT_FALSE(first.get());
    EXPECT_FALSE(second.get());
}

}  // namespace

}  // namespace holdfast::conformance
