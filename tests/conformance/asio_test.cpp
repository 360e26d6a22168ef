// <holdfast/asio.hpp>: acquire and release with any completion token.
#include <atomic>
#include <future>
#include <optional>
#include <thread>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <holdfast/asio.hpp>

#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

namespace asio = boost::asio;

class asio_test : public store_test {
protected:
    /// Runs one coroutine to its end on this thread.
    template <class Body>
    void run(Body body) {
        std::exception_ptr failure;
        asio::co_spawn(io_, std::move(body), [&](std::exception_ptr it) { failure = it; });
        io_.restart();
        io_.run();
        if (failure) std::rethrow_exception(failure);
    }

    client client_{connect()};
    client other_{connect()};
    mutex shared_{client_, "q"};
    mutex theirs_{other_, "q"};
    asio::io_context io_;
};
HOLDFAST_OVER_ALL_ROWS(asio_test);

TEST_P(asio_test, coroutines_acquire_and_release) {
    run([&]() -> asio::awaitable<void> {
        auto const here = std::this_thread::get_id();
        auto held = co_await async_acquire(shared_, asio::use_awaitable);
        EXPECT_EQ(std::this_thread::get_id(), here);
        EXPECT_TRUE(held.held());
        EXPECT_GT(held.token(), 0U);
        EXPECT_FALSE(theirs_.try_acquire());
        auto const outcome = co_await async_release(std::move(held), asio::use_awaitable);
        EXPECT_EQ(outcome, release_outcome::released);
        EXPECT_TRUE(theirs_.try_acquire());
    });
}

TEST_P(asio_test, a_callback_is_called_on_its_executor) {
    std::atomic<std::thread::id> where{};
    async_acquire(shared_, asio::bind_executor(io_, [&](std::exception_ptr error, lease held) {
                      EXPECT_FALSE(error);
                      EXPECT_TRUE(held.held());
                      where = std::this_thread::get_id();
                  }));
    io_.run();  // the pending acquire keeps it at work
    EXPECT_EQ(where.load(), std::this_thread::get_id());
    EXPECT_TRUE(empties(other_));
}

TEST_P(asio_test, futures_work_as_well) {
    auto future = async_acquire(shared_, asio::use_future);
    ASSERT_TRUE(ready(future));
    auto held = future.get();
    auto outcome = async_release(std::move(held), asio::use_future);
    ASSERT_TRUE(ready(outcome));
    EXPECT_EQ(outcome.get(), release_outcome::released);
}

TEST_P(asio_test, many_coroutines_exclude_each_other) {
    constexpr int coroutines = 50;
    constexpr int turns = 5;
    int inside = 0;
    int count = 0;
    for (int i = 0; i < coroutines; ++i) {
        asio::co_spawn(
            io_,
            [&, i]() -> asio::awaitable<void> {
                for (int turn = 0; turn < turns; ++turn) {
                    auto& which = i % 2 == 0 ? shared_ : theirs_;
                    auto held = co_await async_acquire(which, asio::use_awaitable);
                    EXPECT_EQ(++inside, 1);
                    co_await asio::post(io_, asio::use_awaitable);
                    ++count;
                    --inside;
                    co_await async_release(std::move(held), asio::use_awaitable);
                }
            },
            asio::detached);
    }
    io_.run();
    EXPECT_EQ(count, coroutines * turns);
    EXPECT_TRUE(empties(other_));
}

TEST_P(asio_test, a_timeout_is_an_answered_busy) {
    auto const held = theirs_.acquire();
    run([&]() -> asio::awaitable<void> {
        stopwatch const since;
        auto got = co_await async_try_acquire_for(shared_, 1s, asio::use_awaitable);
        EXPECT_FALSE(got);
        EXPECT_GE(since.elapsed(), 1s);
        EXPECT_FALSE(co_await async_try_acquire_for(shared_, 0s, asio::use_awaitable));
    });
    EXPECT_TRUE(waits(other_, "q", 0));
    run([&]() -> asio::awaitable<void> {
        mutex free{client_, "r"};
        EXPECT_TRUE(co_await async_try_acquire_for(free, 0s, asio::use_awaitable));
        EXPECT_TRUE(co_await async_try_acquire_for(free, patience, asio::use_awaitable));
    });
}

TEST_P(asio_test, cancellation_ends_a_wait_and_leaves_nothing) {
    auto held = theirs_.acquire();
    asio::cancellation_signal stop;
    std::optional<std::exception_ptr> ended;
    auto const then = [&](std::exception_ptr error, lease got) {
        ended = error;
        EXPECT_FALSE(got.held());
    };
    async_acquire(shared_,
                  asio::bind_cancellation_slot(stop.slot(), asio::bind_executor(io_, then)));
    EXPECT_TRUE(waits_seen_by(other_, client_, "q", 1));
    stop.emit(asio::cancellation_type::terminal);
    io_.run();
    ASSERT_TRUE(ended && *ended);
    try {
        std::rethrow_exception(*ended);
    } catch (boost::system::system_error const& error) {
        EXPECT_EQ(error.code(), asio::error::operation_aborted);
    }
    EXPECT_TRUE(waits(other_, "q", 0));
    EXPECT_EQ(held.release(), release_outcome::released);
    EXPECT_TRUE(theirs_.try_acquire());
}

TEST_P(asio_test, cancellation_after_the_grant_changes_nothing) {
    asio::cancellation_signal stop;
    lease held;
    auto const then = [&](std::exception_ptr error, lease got) {
        EXPECT_FALSE(error);
        held = std::move(got);
    };
    async_acquire(shared_,
                  asio::bind_cancellation_slot(stop.slot(), asio::bind_executor(io_, then)));
    io_.run();
    stop.emit(asio::cancellation_type::all);
    EXPECT_TRUE(held.held());
}

TEST_P(asio_test, close_ends_waits_with_closed) {
    auto const held = theirs_.acquire();
    std::error_code ended;
    async_acquire(shared_, asio::bind_executor(io_, [&](std::exception_ptr error, lease) {
                      ended = failure_of([&] { std::rethrow_exception(error); });
                  }));
    EXPECT_TRUE(waits_seen_by(other_, client_, "q", 1));
    client_.close();
    io_.run();
    EXPECT_EQ(ended, errc::closed);
}

TEST_P(asio_test, who_is_told_of_a_loss_may_begin_a_release_while_the_client_closes) {
    auto held = shared_.acquire();
    std::promise<release_outcome> released;
    std::stop_callback const when_lost{
        held.lost(), [&] {
            std::this_thread::sleep_for(
                50ms);  // close has nothing left to do but to wait for this one
            async_release(std::move(held), [&](std::exception_ptr, release_outcome how) {
                released.set_value(how);
            });
        }};
    auto closing = elsewhere([&] { client_.close(); });
    ASSERT_TRUE(ready(closing));
    auto said = released.get_future();
    ASSERT_TRUE(ready(said));
    EXPECT_NE(said.get(), release_outcome::released);
}

TEST_P(asio_test, a_recursive_mutex_needs_an_owner) {
    if (!can({ability::joint_owners})) return;
    recursive_mutex by_thread{client_, "q"};
    EXPECT_EQ(failure_of([&] { return async_acquire(by_thread, asio::use_future).get(); }),
              errc::bad_option);
    run([&]() -> asio::awaitable<void> {
        recursive_mutex owned{client_, "r", {.owner = "job"}};
        auto outer = co_await async_acquire(owned, asio::use_awaitable);
        auto inner = co_await async_acquire(owned, asio::use_awaitable);
        EXPECT_EQ(outer.token(), inner.token());
        co_await async_release(std::move(inner), asio::use_awaitable);
        EXPECT_TRUE(outer.held());
        EXPECT_EQ(co_await async_release(std::move(outer), asio::use_awaitable),
                  release_outcome::released);
    });
    EXPECT_TRUE(empties(other_));
}

TEST_P(asio_test, a_lost_lease_says_so) {
    run([&]() -> asio::awaitable<void> {
        auto held = co_await async_acquire(shared_, asio::use_awaitable);
        EXPECT_EQ(other_.evict("q"), 1U);
        EXPECT_TRUE(eventually([&] { return held.state() == lease_state::lost; }));
        EXPECT_EQ(co_await async_release(std::move(held), asio::use_awaitable),
                  release_outcome::already_lost);
    });
}

}  // namespace

}  // namespace holdfast::conformance
