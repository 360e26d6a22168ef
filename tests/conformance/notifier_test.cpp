// User code runs on the notifier thread, and holds nothing up but itself.
#include <atomic>
#include <latch>
#include <optional>
#include <stop_token>
#include <thread>

#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

class notifier_test : public store_test {};
HOLDFAST_OVER_ALL_ROWS(notifier_test);

using callback = std::stop_callback<std::function<void()>>;

TEST_P(notifier_test, loss_is_told_on_another_thread) {
    auto const client = connect();
    auto other = connect();
    mutex shared{client, "q"};
    auto const held = shared.acquire();
    std::atomic<std::thread::id> where{};
    callback const told{held.lost(), [&] { where = std::this_thread::get_id(); }};
    EXPECT_EQ(other.evict("q"), 1U);
    EXPECT_TRUE(eventually([&] { return where.load() != std::thread::id{}; }));
    EXPECT_NE(where.load(), std::this_thread::get_id());
}

TEST_P(notifier_test, all_losses_are_told_on_one_thread) {
    auto const client = connect();
    auto other = connect();
    auto const one = mutex{client, "a"}.acquire();
    auto const two = mutex{client, "b"}.acquire();
    std::atomic<std::thread::id> first{};
    std::atomic<std::thread::id> second{};
    callback const told_one{one.lost(), [&] { first = std::this_thread::get_id(); }};
    callback const told_two{two.lost(), [&] { second = std::this_thread::get_id(); }};
    EXPECT_EQ(other.evict("a") + other.evict("b"), 2U);
    EXPECT_TRUE(eventually(
        [&] { return first.load() != std::thread::id{} && second.load() != std::thread::id{}; }));
    EXPECT_EQ(first.load(), second.load());
}

TEST_P(notifier_test, a_callback_may_release_and_acquire) {
    auto const client = connect();
    auto other = connect();
    mutex shared{client, "q"};
    auto held = shared.acquire();
    std::optional<lease> again;
    std::latch done{1};
    release_outcome outcome{release_outcome::unknown};
    callback const told{held.lost(), [&] {
                            outcome = held.release();
                            again = shared.try_acquire_for(patience);
                            done.count_down();
                        }};
    EXPECT_EQ(other.evict("q"), 1U);
    done.wait();
    EXPECT_EQ(outcome, release_outcome::already_lost);
    ASSERT_TRUE(again);
    EXPECT_GT(again->token(), held.token());
}

TEST_P(notifier_test, a_callback_may_destroy_the_lease) {
    auto const client = connect();
    auto other = connect();
    mutex shared{client, "q"};
    std::optional<lease> held{shared.acquire()};
    std::latch done{1};
    callback const told{held->lost(), [&] {
                            held.reset();
                            done.count_down();
                        }};
    EXPECT_EQ(other.evict("q"), 1U);
    done.wait();
    EXPECT_TRUE(empties(other));
}

TEST_P(notifier_test, a_callback_may_end_its_client) {
    auto other = connect();
    auto ended = std::make_shared<std::latch>(1);
    {
        auto const client = connect();
        auto held = std::make_shared<std::optional<lease>>(mutex{client, "q"}.acquire());
        auto owned = std::make_shared<std::optional<holdfast::client>>(client);
        auto const lost = (*held)->lost();
        auto* const told = new std::optional<callback>;
        told->emplace(lost, [held, owned, ended] {
            held->reset();
            owned->reset();  // may be the last owner of the client
            ended->count_down();
        });
        EXPECT_EQ(other.evict("q"), 1U);
        ended->wait();
        told->reset();  // waits for the callback
        delete told;
    }
    EXPECT_TRUE(empties(other));
}

TEST_P(notifier_test, a_slow_callback_delays_no_renewal) {
    auto client = connect();
    auto other = connect();
    auto const kept = mutex{client, "kept", {.lease = 2s}}.acquire();
    auto const doomed = mutex{client, "doomed"}.acquire();
    std::latch entered{1};
    std::latch leave{1};
    callback const slow{doomed.lost(), [&] {
                            entered.count_down();
                            leave.wait();
                        }};
    EXPECT_EQ(other.evict("doomed"), 1U);
    entered.wait();
    auto const before = client.metrics()["renewals"];
    EXPECT_TRUE(throughout(4s, [&] { return kept.held(); })) << kept.loss_reason();
    EXPECT_GE(client.metrics()["renewals"], before + 2);
    mutex fresh{client, "fresh"};  // and nothing else either
    EXPECT_EQ(fresh.acquire().release(), release_outcome::released);
    leave.count_down();
}

TEST_P(notifier_test, slow_user_code_delays_no_loss) {
    auto const client = connect();
    auto const other = connect();
    auto const in_the_way = mutex{other, "busy"}.acquire();
    std::latch entered{1};
    std::latch leave{1};
    auto const slow = [&](retry::attempt const&) -> std::optional<milliseconds> {
        entered.count_down();
        leave.wait();
        return std::nullopt;
    };
    mutex waited{client, "busy", {.retry = slow}};
    auto waiter = elsewhere([&] { return waited.try_acquire_for(patience).has_value(); });
    entered.wait();
    auto const doomed = mutex{client, "doomed", {.lease = 500ms, .renew = false}}.acquire();
    EXPECT_TRUE(eventually([&] { return doomed.lost().stop_requested(); }));
    leave.count_down();
    EXPECT_FALSE(waiter.get());
}

TEST_P(notifier_test, a_callback_that_throws_harms_nobody) {
    auto const client = connect();
    auto other = connect();
    auto const log_that_throws = [](log_level, std::string_view) { throw std::runtime_error{"!"}; };
    auto const careless = connect({.log = log_that_throws});
    auto const held = mutex{careless, "q"}.acquire();
    auto const lost = held.lost();
    EXPECT_EQ(other.evict("q"), 1U);
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
    EXPECT_TRUE((mutex{careless, "q"}.try_acquire_for(patience)));
}

TEST_P(notifier_test, nothing_is_told_after_a_release) {
    auto const client = connect();
    auto other = connect();
    mutex shared{client, "q"};
    auto held = shared.acquire();
    auto const lost = held.lost();
    EXPECT_EQ(held.release(), release_outcome::released);
    auto const next = shared.acquire();
    EXPECT_EQ(other.evict("q"), 1U);
    EXPECT_TRUE(eventually([&] { return next.lost().stop_requested(); }));
    EXPECT_FALSE(lost.stop_requested());
}

}  // namespace

}  // namespace holdfast::conformance
