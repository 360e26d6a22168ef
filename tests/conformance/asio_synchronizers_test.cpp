// <holdfast/asio.hpp>: the asynchronous forms of every synchronizer.
#include <optional>
#include <tuple>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <holdfast/asio.hpp>

#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

namespace asio = boost::asio;
using asio::use_awaitable;

class asio_synchronizers_test : public store_test {
protected:
    /// Begins a coroutine; `finish` runs all to their ends on this thread.
    template <class Body>
    void spawn(Body body) {
        asio::co_spawn(io_, std::move(body), [this](std::exception_ptr it) {
            if (!it) return;
            failure_ = it;
            io_.stop();  // the others may wait for it
        });
    }
    void finish() {
        io_.restart();
        io_.run();
        if (failure_) std::rethrow_exception(failure_);
    }
    void cancel_soon(asio::cancellation_signal& signal) {
        asio::post(io_, [&] { signal.emit(asio::cancellation_type::all); });
    }
    template <class Future>
    static void expect_aborted(Future& future) {
        ASSERT_TRUE(ready(future));
        try {
            (void)future.get();
            ADD_FAILURE() << "not cancelled";
        } catch (boost::system::system_error const& error) {
            EXPECT_EQ(error.code(), asio::error::operation_aborted);
        }
    }

    client client_{connect()};
    client other_{connect()};
    asio::io_context io_;
    std::exception_ptr failure_;
};
HOLDFAST_OVER_ALL_ROWS(asio_synchronizers_test);

TEST_P(asio_synchronizers_test, readers_and_a_writer) {
    if (!can({ability::shared_holds})) return;
    shared_mutex lock{client_, "rw"};
    shared_mutex theirs{other_, "rw"};
    spawn([&]() -> asio::awaitable<void> {
        auto one = co_await async_acquire_shared(lock, use_awaitable);
        auto two = co_await async_acquire_shared(theirs, use_awaitable);
        EXPECT_TRUE(one.held() && two.held());
        auto const busy = co_await async_try_acquire_for(theirs, time_to_answer, use_awaitable);
        EXPECT_FALSE(busy);
        co_await async_release(std::move(one), use_awaitable);
        co_await async_release(std::move(two), use_awaitable);
        auto const writer = co_await async_acquire(theirs, use_awaitable);
        auto const reader =
            co_await async_try_acquire_shared_for(lock, time_to_answer, use_awaitable);
        EXPECT_FALSE(reader);
    });
    finish();
}

TEST_P(asio_synchronizers_test, permits) {
    if (!can({ability::semaphores})) return;
    semaphore slots{client_, "s", 3};
    spawn([&]() -> asio::awaitable<void> {
        auto const two = co_await async_acquire(slots, 2, use_awaitable);
        auto const one = co_await async_acquire(slots, use_awaitable);
        auto const none = co_await async_try_acquire_for(slots, time_to_answer, 1, use_awaitable);
        EXPECT_FALSE(none);
        EXPECT_EQ(slots.available(), 0U);
    });
    finish();
    EXPECT_TRUE(eventually([&] { return slots.available() == 3; }));
}

TEST_P(asio_synchronizers_test, a_latch) {
    if (!can({ability::latches})) return;
    latch mine{client_, "l", 2};
    latch theirs{other_, "l", 2};
    bool open = false;
    spawn([&]() -> asio::awaitable<void> {
        co_await async_wait(mine, use_awaitable);
        open = true;
    });
    spawn([&]() -> asio::awaitable<void> {
        auto const early = co_await async_wait_for(theirs, time_to_answer, use_awaitable);
        EXPECT_FALSE(early);
        co_await async_count_down(theirs, 1, use_awaitable);
        EXPECT_FALSE(open);
        co_await async_count_down(theirs, 1, use_awaitable);
        auto const late = co_await async_wait_for(theirs, 10s, use_awaitable);
        EXPECT_TRUE(late);
    });
    finish();
    EXPECT_TRUE(open);
}

TEST_P(asio_synchronizers_test, a_barrier) {
    if (!can({ability::barriers})) return;
    constexpr std::uint64_t turns = 20;
    barrier mine{client_, "b", 2};
    barrier theirs{other_, "b", 2};
    for (auto* const party : {&mine, &theirs})
        spawn([party]() -> asio::awaitable<void> {
            for (std::uint64_t turn = 0; turn < turns; ++turn) {
                auto const generation = co_await async_arrive_and_wait(*party, use_awaitable);
                EXPECT_EQ(generation, turn);
            }
        });
    finish();
}

TEST_P(asio_synchronizers_test, an_election) {
    if (!can({ability::elections})) return;
    election mine{client_, "e"};
    election theirs{other_, "e"};
    spawn([&]() -> asio::awaitable<void> {
        auto term = co_await async_campaign(mine, "first", use_awaitable);
        auto const leader = theirs.leader();
        EXPECT_TRUE(leader && leader->value == "first" && leader->token == term.token());
        co_await async_release(std::move(term), use_awaitable);
        auto const next = co_await async_campaign(theirs, "second", use_awaitable);
        EXPECT_EQ(mine.leader()->value, "second");
    });
    finish();
}

TEST_P(asio_synchronizers_test, who_resigns_what_is_being_released_hears_how_that_ends) {
    if (!can({ability::elections, ability::silence})) return;
    auto const patient = connect({.patience = 60s});
    election vote{patient, "e"};
    auto term = vote.campaign("me");
    store().silence();
    auto released = async_release(std::move(term), asio::use_future);
    auto resigned = elsewhere([&] { return vote.resign(); });
    EXPECT_FALSE(ready(resigned, 300ms)) << "nobody knows yet";
    store().restore();
    ASSERT_TRUE(ready(resigned));
    ASSERT_TRUE(ready(released));
    auto const outcome = resigned.get();
    EXPECT_EQ(outcome, released.get());
    EXPECT_NE(outcome, release_outcome::already_lost);
}

TEST_P(asio_synchronizers_test, several_locks_at_once) {
    mutex a{client_, "a"};
    mutex b{client_, "b"};
    mutex b_of_other{other_, "b"};
    spawn([&]() -> asio::awaitable<void> {
        auto both = co_await async_lock_all(std::tie(a, b), use_awaitable);
        EXPECT_GT(both.token("a"), 0U);
        EXPECT_GT(both.token("b"), 0U);
        EXPECT_FALSE(b_of_other.try_acquire());
        auto const outcome = co_await async_release(std::move(both), use_awaitable);
        EXPECT_EQ(outcome, release_outcome::released);
        EXPECT_TRUE(b_of_other.try_acquire());
    });
    finish();
}

TEST_P(asio_synchronizers_test, a_condition_hands_items_over) {
    if (!can({ability::conditions})) return;
    constexpr int items = 20;
    mutex lock{client_, "queue"};
    condition_variable filled{client_, "queue"};
    int queued = 0;
    int taken = 0;
    spawn([&]() -> asio::awaitable<void> {
        while (taken < items) {
            auto held = co_await async_acquire(lock, use_awaitable);
            while (queued == 0)
                held = co_await async_wait(filled, lock, std::move(held), use_awaitable);
            taken += std::exchange(queued, 0);
            co_await async_release(std::move(held), use_awaitable);
        }
    });
    spawn([&]() -> asio::awaitable<void> {
        for (int i = 0; i < items; ++i) {
            auto held = co_await async_acquire(lock, use_awaitable);
            ++queued;
            co_await async_release(std::move(held), use_awaitable);
            co_await async_notify_one(filled, use_awaitable);
        }
    });
    finish();
    EXPECT_EQ(taken, items);
    EXPECT_TRUE(empties(other_));
}

TEST_P(asio_synchronizers_test, who_loses_the_mutex_before_it_stands_in_line_looks_for_itself) {
    if (!can({ability::silence, ability::conditions})) return;
    mutex guard{client_, "m", {.lease = 500ms}};
    condition_variable changed{client_, "c"};
    auto held = guard.acquire();
    auto const lost = held.lost();
    store().silence();
    auto waiting = async_wait(changed, guard, std::move(held), asio::use_future);
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
    store().restore();
    bool const had_again = ready(waiting);
    EXPECT_TRUE(had_again);
    if (!had_again) changed.notify_all();
    EXPECT_TRUE(waiting.get().held());
    EXPECT_TRUE(empties(other_));
}

TEST_P(asio_synchronizers_test, cancelling_ends_a_wait_and_leaves_nothing) {
    if (!can({ability::latches, ability::barriers})) return;
    latch never{client_, "never", 1};
    barrier alone{client_, "alone", 2};
    asio::cancellation_signal first;
    asio::cancellation_signal second;
    auto waiting = async_wait(never, asio::bind_cancellation_slot(first.slot(), asio::use_future));
    auto arriving =
        async_arrive_and_wait(alone, asio::bind_cancellation_slot(second.slot(), asio::use_future));
    barrier peer{other_, "alone", 2};
    ASSERT_TRUE(eventually([&] {
        auto const names = other_.locks("alone");
        return !names.empty() && names.front().count == 1;
    }));
    cancel_soon(first);
    cancel_soon(second);
    io_.run();
    expect_aborted(waiting);
    expect_aborted(arriving);
    EXPECT_TRUE(eventually([&] { return other_.locks("alone").front().broken; }));
    EXPECT_TRUE(eventually([&] { return other_.locks("alone").front().holders.empty(); }));
}

}  // namespace
}  // namespace holdfast::conformance
