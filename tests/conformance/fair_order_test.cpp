// ordering::fair: first come, first served at the store.
#include <mutex>
#include <vector>

#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

class fair_order_test : public store_test {
protected:
    static constexpr int waiters = 6;

    /// Has `waiters` waiters arrive one after another and returns the order in which they are served.
    template <class MutexOf>
    [[nodiscard]] std::vector<int> served(MutexOf mutex_of) {
        auto client = connect();
        mutex shared{client, "q", {.order = ordering::fair}};
        auto held = shared.acquire();
        std::mutex guard;
        std::vector<int> order;
        std::vector<std::future<void>> waiting;
        for (int i = 0; i < waiters; ++i) {
            waiting.push_back(elsewhere([&, i] {
                auto const mine = mutex_of(i)->acquire();
                std::lock_guard const turn{guard};
                order.push_back(i);
            }));
            EXPECT_TRUE(waits(client, "q", static_cast<std::size_t>(i) + 1));
        }
        EXPECT_EQ(held.release(), release_outcome::released);
        for (auto& it : waiting)
            it.get();
        return order;
    }

    std::vector<int> const arrival_{0, 1, 2, 3, 4, 5};
};
HOLDFAST_OVER_ROWS_WITH(fair_order_test, ability::fair_order);

TEST_P(fair_order_test, over_several_clients) {
    std::vector<client> clients;
    for (int i = 0; i < 3; ++i)
        clients.push_back(connect());
    auto const order = served([&](int i) {
        return std::make_unique<mutex>(clients[static_cast<std::size_t>(i) % 3], "q",
                                       lock_options{.order = ordering::fair});
    });
    EXPECT_EQ(order, arrival_);
}

TEST_P(fair_order_test, over_threads_of_one_client) {
    auto const client = connect();
    auto const order = served([&](int) {
        return std::make_unique<mutex>(client, "q", lock_options{.order = ordering::fair});
    });
    EXPECT_EQ(order, arrival_);
}

TEST_P(fair_order_test, barging_claims_queue_behind_fair_ones) {
    std::vector<client> clients;
    for (int i = 0; i < waiters; ++i)
        clients.push_back(connect());
    auto const order = served([&](int i) {
        auto const which = i < 3 ? ordering::fair : ordering::barging;
        return std::make_unique<mutex>(clients[static_cast<std::size_t>(i)], "q",
                                       lock_options{.order = which});
    });
    ASSERT_EQ(order.size(), arrival_.size());
    EXPECT_EQ(std::vector<int>(order.begin(), order.begin() + 3), (std::vector<int>{0, 1, 2}));
}

TEST_P(fair_order_test, a_waiter_that_gave_up_is_skipped) {
    auto client = connect();
    auto const other = connect();
    mutex shared{client, "q", {.order = ordering::fair}};
    mutex theirs{other, "q", {.order = ordering::fair}};
    auto held = shared.acquire();
    std::stop_source stop;
    auto first = elsewhere([&] { return theirs.acquire(stop.get_token()).has_value(); });
    EXPECT_TRUE(waits(client, "q", 1));
    auto second = elsewhere([&] { return theirs.acquire(); });
    EXPECT_TRUE(waits(client, "q", 2));
    stop.request_stop();
    EXPECT_FALSE(first.get());
    EXPECT_EQ(held.release(), release_outcome::released);
    EXPECT_TRUE(second.get().held());
}

}  // namespace

}  // namespace holdfast::conformance
