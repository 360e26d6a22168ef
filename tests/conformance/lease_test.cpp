// lease: a hold as an object.
#include <thread>
#include <type_traits>

#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

static_assert(std::is_nothrow_move_constructible_v<lease>);
static_assert(std::is_nothrow_move_assignable_v<lease>);
static_assert(!std::is_copy_constructible_v<lease>);
static_assert(std::is_nothrow_destructible_v<lease>);

class lease_test : public store_test {};
HOLDFAST_OVER_ALL_ROWS(lease_test);

void expect_empty(lease& it) {
    EXPECT_EQ(it.token(), 0U);
    EXPECT_EQ(it.state(), lease_state::released);
    EXPECT_FALSE(it.held());
    EXPECT_EQ(it.remaining(), 0ms);
    EXPECT_EQ(it.name(), "");
    EXPECT_EQ(it.loss_reason(), "");
    EXPECT_FALSE(it.lost().stop_requested());
    EXPECT_EQ(it.renew(), lease_state::released);
}

TEST_P(lease_test, tells_what_it_holds) {
    auto const client = connect();
    mutex shared{client, "orders/42", {.lease = 10s}};
    auto held = shared.acquire();
    EXPECT_EQ(held.name(), "orders/42");
    EXPECT_GT(held.token(), 0U);
    EXPECT_EQ(held.token("orders/42"), held.token());
    EXPECT_EQ(failure_of([&] { return held.token("orders/4"); }), errc::bad_name);
    EXPECT_EQ(held.state(), lease_state::held);
    EXPECT_TRUE(held.held());
    EXPECT_GT(held.remaining(), 5s);
    EXPECT_LE(held.remaining(), 10s - 102ms);  // the margin of one per cent and 2 ms
    EXPECT_EQ(held.loss_reason(), "");
    EXPECT_FALSE(held.lost().stop_requested());
}

TEST_P(lease_test, moves) {
    auto client = connect();
    mutex shared{client, "q"};
    auto first = shared.acquire();
    auto const token = first.token();
    lease second{std::move(first)};
    expect_empty(first);
    EXPECT_EQ(second.token(), token);
    EXPECT_EQ(second.state(), lease_state::held);
    lease third;
    expect_empty(third);
    third = std::move(second);
    EXPECT_TRUE(third.held());
    third = lease{};  // assignment gives back what was held
    EXPECT_TRUE(empties(client));
}

TEST_P(lease_test, is_released_by_another_thread) {
    auto client = connect();
    mutex shared{client, "q"};
    auto held = shared.acquire();
    auto outcome = elsewhere([mine = std::move(held)]() mutable { return mine.release(); });
    EXPECT_EQ(outcome.get(), release_outcome::released);
    EXPECT_TRUE(client.locks().empty());
    EXPECT_TRUE(shared.try_lock());
    shared.unlock();
}

TEST_P(lease_test, is_released_by_its_destructor) {
    auto client = connect();
    auto const other = connect();
    mutex shared{client, "q"};
    mutex theirs{other, "q"};
    {
        auto const held = shared.acquire();
        EXPECT_FALSE(theirs.try_lock());
    }
    EXPECT_TRUE(theirs.try_lock_for(patience));
    theirs.unlock();
    EXPECT_TRUE(empties(client));
}

TEST_P(lease_test, repeats_the_outcome_of_its_release) {
    auto const client = connect();
    auto const other = connect();
    mutex shared{client, "q"};
    mutex theirs{other, "q"};
    auto held = shared.acquire();
    auto const lost = held.lost();
    EXPECT_EQ(held.release(), release_outcome::released);
    EXPECT_EQ(held.state(), lease_state::released);
    EXPECT_FALSE(held.held());
    EXPECT_EQ(held.remaining(), 0ms);
    EXPECT_EQ(held.renew(), lease_state::released);
    EXPECT_EQ(held.loss_reason(), "");
    ASSERT_TRUE(theirs.try_lock_for(patience));
    EXPECT_EQ(held.release(), release_outcome::released);
    EXPECT_TRUE(theirs.owns());  // the second release did not take it away
    EXPECT_FALSE(lost.stop_requested());
    theirs.unlock();
}

TEST_P(lease_test, of_another_client_s_eviction_is_lost) {
    auto const client = connect();
    auto other = connect();
    mutex shared{client, "q"};
    auto held = shared.acquire();
    auto const lost = held.lost();
    EXPECT_EQ(other.evict("q"), 1U);
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
    EXPECT_EQ(held.state(), lease_state::lost);
    EXPECT_NE(held.loss_reason(), "");
    EXPECT_EQ(held.renew(), lease_state::lost);
    EXPECT_EQ(held.release(), release_outcome::already_lost);
    EXPECT_EQ(held.release(), release_outcome::already_lost);
    EXPECT_TRUE(held.lost().stop_requested());
}

TEST_P(lease_test, renews_now) {
    auto client = connect();
    mutex shared{client, "q", {.lease = 3s, .renew = false}};
    auto held = shared.acquire();
    EXPECT_TRUE(eventually([&] { return held.remaining() < 2s; }));
    auto const requests = client.metrics()["requests"];
    EXPECT_EQ(held.renew(), lease_state::held);
    EXPECT_EQ(client.metrics()["requests"], requests + 1);
    EXPECT_GT(held.remaining(), 2s);
    EXPECT_LE(held.remaining(), 3s);
}

TEST_P(lease_test, renews_to_a_longer_lease) {
    auto client = connect();
    mutex shared{client, "q", {.lease = 2s, .renew = false}};
    auto held = shared.acquire();
    EXPECT_EQ(held.renew(60s), lease_state::held);
    EXPECT_GT(held.remaining(), 40s);
    auto const holders = listed(client, "q").holders;
    ASSERT_EQ(holders.size(), 1U);
    EXPECT_GT(holders.front().lease_left, 40s);
    EXPECT_EQ(failure_of([&] { return held.renew(1ms); }), errc::bad_option);
    EXPECT_TRUE(held.held());
}

// The holder is bound by the new length; the store never ends a hold sooner than it said before.
TEST_P(lease_test, renews_to_a_shorter_lease) {
    auto client = connect();
    mutex shared{client, "q", {.lease = 60s, .renew = false}};
    auto held = shared.acquire();
    EXPECT_EQ(held.renew(2s), lease_state::held);
    EXPECT_LE(held.remaining(), 2s);
    EXPECT_TRUE(eventually([&] { return held.state() == lease_state::lost; }));
    EXPECT_EQ(held.release(), release_outcome::already_lost);
    EXPECT_TRUE(empties(client));  // who lets go gives back what is left of it
}

// Renewal goes on at a pace that fits the new length.
TEST_P(lease_test, keeps_a_shortened_lease_alive) {
    auto const client = connect();
    mutex shared{client, "q", {.lease = 60s}};
    auto held = shared.acquire();
    EXPECT_EQ(held.renew(2s), lease_state::held);
    EXPECT_TRUE(throughout(4s, [&] { return held.held(); })) << held.loss_reason();
    EXPECT_EQ(held.renew(), lease_state::held);  // by the store's word, not only by our clock
}

TEST_P(lease_test, is_safe_to_ask_from_many_threads) {
    auto client = connect();
    mutex shared{client, "q"};
    auto held = shared.acquire();
    {
        std::vector<std::jthread> crowd;
        for (int i = 0; i < 8; ++i) {
            crowd.emplace_back([&, i] {
                for (int turn = 0; turn < 50; ++turn) {
                    EXPECT_GT(held.token(), 0U);
                    static_cast<void>(held.state());
                    static_cast<void>(held.remaining());
                    static_cast<void>(held.lost().stop_requested());
                    static_cast<void>(held.loss_reason());
                    if (turn == 25 && i % 2 == 0) static_cast<void>(held.renew());
                }
                EXPECT_EQ(held.release(), release_outcome::released);
            });
        }
    }
    EXPECT_TRUE(client.locks().empty());
}

}  // namespace

}  // namespace holdfast::conformance
