// client: its options, pings, counters and end.
#include <mutex>
#include <thread>

#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

class client_test : public store_test {};
HOLDFAST_OVER_ALL_ROWS(client_test);

TEST_P(client_test, pings) {
    auto client = connect();
    auto const requests = client.metrics()["requests"];
    EXPECT_NO_THROW(client.ping());
    EXPECT_EQ(client.metrics()["requests"], requests + 1);
}

TEST_P(client_test, is_a_shared_handle) {
    auto client = connect();
    auto copy = client;  // NOLINT(performance-unnecessary-copy-initialization)
    copy.ping();
    EXPECT_EQ(client.metrics(), copy.metrics());
    EXPECT_EQ(client.url(), store().url());
    copy.close();
    EXPECT_EQ(failure_of([&] { client.ping(); }), errc::closed);
}

TEST_P(client_test, does_no_io_in_constructors) {
    auto client = connect();
    mutex const one{client, "q"};
    recursive_mutex const two{client, "q"};
    EXPECT_EQ(client.metrics()["requests"], 0U);
}

TEST_P(client_test, counts) {
    auto client = connect();
    auto other = connect();
    mutex shared{client, "q"};
    EXPECT_EQ(shared.acquire().release(), release_outcome::released);
    auto held = shared.acquire();
    EXPECT_FALSE(shared.try_acquire());
    EXPECT_EQ(held.renew(), lease_state::held);
    EXPECT_EQ(other.evict("q"), 1U);
    EXPECT_TRUE(eventually([&] { return held.state() == lease_state::lost; }));
    auto counters = client.metrics();
    for (auto const* const name :
         {"acquires", "grants", "passes", "busy", "failures", "releases", "losses", "requests",
          "requests_failed", "renewals", "doubts", "late_grants", "orphans", "tokens_not_rising"})
        EXPECT_TRUE(counters.contains(name)) << name;
    EXPECT_EQ(counters["acquires"], 3U);
    EXPECT_EQ(counters["grants"], 2U);
    EXPECT_EQ(counters["busy"], 1U);
    EXPECT_EQ(counters["releases"], 1U);
    EXPECT_EQ(counters["losses"], 1U);
    EXPECT_GE(counters["renewals"], 1U);
    EXPECT_EQ(counters["failures"], 0U);
    EXPECT_EQ(counters["tokens_not_rising"], 0U);
    EXPECT_EQ(other.metrics()["acquires"], 0U);
}

TEST_P(client_test, an_uncontended_pair_costs_no_more_than_two_requests) {
    auto client = connect();
    mutex shared{client, "q"};
    EXPECT_EQ(shared.acquire().release(), release_outcome::released);  // and the clock is known
    auto const before = client.metrics()["requests"];
    for (int i = 0; i < 20; ++i)
        EXPECT_EQ(shared.acquire().release(), release_outcome::released);
    EXPECT_LE(client.metrics()["requests"], before + 40);
}

TEST_P(client_test, logs_a_loss_on_the_notifier_thread) {
    struct {
        std::mutex mutex;
        std::string words;
        log_level level{log_level::debug};
        std::thread::id thread;
    } heard;
    auto client = connect({.log = [&](log_level level, std::string_view words) {
        std::lock_guard const guard{heard.mutex};
        heard.words += words;
        heard.level = level;
        heard.thread = std::this_thread::get_id();
    }});
    auto other = connect();
    mutex shared{client, "orders/42"};
    auto const held = shared.acquire();
    EXPECT_EQ(other.evict("orders/42"), 1U);
    auto const told = [&] {
        std::lock_guard const guard{heard.mutex};
        return heard.words.find("orders/42") != std::string::npos;
    };
    EXPECT_TRUE(eventually(told));
    EXPECT_GE(heard.level, log_level::warning);
    EXPECT_NE(heard.thread, std::this_thread::get_id());
    client.close();  // `heard` ends before the client
}

TEST_P(client_test, refuses_a_negative_patience) {
    EXPECT_EQ(failure_of([&] { return connect({.patience = -1ms}); }), errc::bad_option);
}

TEST_P(client_test, label_is_listed_for_what_has_none_of_its_own) {
    if (!can({ability::holder_details})) return;
    auto client = connect({.label = "billing"});
    mutex shared{client, "q"};
    auto const held = shared.acquire();
    auto waiter = elsewhere([&] { return shared.acquire(); });
    EXPECT_TRUE(waits(client, "q", 1));
    auto const info = listed(client, "q");
    EXPECT_EQ(info.holders.at(0).label, "billing");
    EXPECT_EQ(info.waiters.at(0).label, "billing");
    client.evict("q");
    static_cast<void>(waiter.get());
}

TEST_P(client_test, patience_bounds_calls_without_a_deadline) {
    if (!can({ability::silence})) return;
    auto client = connect({.patience = time_to_answer});
    mutex shared{client, "q"};
    EXPECT_TRUE(shared.try_acquire());
    store().silence();
    stopwatch const since;
    EXPECT_EQ(failure_of([&] { shared.lock(); }), errc::store_unavailable);
    EXPECT_GE(since.elapsed(), time_to_answer);
    EXPECT_LT(since.elapsed(), 10s);  // the default patience
    store().restore();
    EXPECT_NO_THROW(shared.lock());  // the same client serves again
    shared.unlock();
}

}  // namespace

}  // namespace holdfast::conformance
