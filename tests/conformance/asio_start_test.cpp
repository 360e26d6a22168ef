// <holdfast/asio.hpp>: operations that begin later than they were made, fail to begin, or are ended by a
// retry policy.
#include <future>
#include <optional>
#include <tuple>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <holdfast/asio.hpp>

#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

namespace asio = boost::asio;
using asio::use_future;

class asio_start_test : public store_test {
protected:
    /// Begins an operation that was made with `asio::deferred`, and waits for its end.
    template <class Operation>
    static auto run(Operation operation) {
        auto future = std::move(operation)(use_future);
        if (!ready(future)) throw std::runtime_error{"does not end"};
        return future.get();
    }
    template <class Future>
    static std::error_code end_of(Future future) {
        if (!ready(future)) return std::make_error_code(std::errc::timed_out);
        return failure_of([&] { return future.get(); });
    }

    client client_{connect()};
    client other_{connect()};
};
HOLDFAST_OVER_ALL_ROWS(asio_start_test);

TEST_P(asio_start_test, a_policy_that_ends_a_wait_for_a_lock_ends_it_in_timed_out) {
    if (!can({ability::shared_holds})) return;
    auto const held = mutex{other_, "q"}.acquire();
    for (auto const& policy : {retry::never(), retry::fixed(1ms, 2)}) {
        shared_mutex waited{client_, "q", {.retry = policy}};
        mutex free{client_, "r", {.retry = policy}};
        EXPECT_EQ(end_of(async_acquire(waited, use_future)), errc::timed_out);
        EXPECT_EQ(end_of(async_acquire_shared(waited, use_future)), errc::timed_out);
        EXPECT_EQ(end_of(async_lock_all(std::tie(free, waited), use_future)), errc::timed_out);
        auto once = async_try_acquire_for(waited, patience, use_future);
        ASSERT_TRUE(ready(once));
        EXPECT_FALSE(once.get());
        EXPECT_TRUE(async_acquire(free, use_future).get().held());
    }
    EXPECT_TRUE(waits(other_, "q", 0));
}

TEST_P(asio_start_test, a_policy_that_ends_another_wait_does_so_too) {
    if (!can({ability::semaphores, ability::elections})) return;
    semaphore slots{other_, "s", 1};
    election first{other_, "e"};
    auto const permit = slots.acquire_lease();
    auto const term = first.campaign("first");
    for (auto const& policy : {retry::never(), retry::fixed(1ms, 2)}) {
        semaphore waited{client_, "s", 1, {.retry = policy}};
        election lost{client_, "e", {.retry = policy}};
        EXPECT_EQ(end_of(async_acquire(waited, use_future)), errc::timed_out);
        EXPECT_EQ(end_of(async_campaign(lost, "second", use_future)), errc::timed_out);
        auto once = async_try_acquire_for(waited, patience, 1, use_future);
        ASSERT_TRUE(ready(once));
        EXPECT_FALSE(once.get());
    }
    EXPECT_EQ(first.leader()->value, "first");
}

// Each object is replaced by one of another name between the making of an operation and its begin.
TEST_P(asio_start_test, a_lazy_lock_co_owns_what_it_needs) {
    if (!can({ability::shared_holds, ability::semaphores, ability::elections})) return;
    std::optional<mutex> lock{std::in_place, client_, "q"};
    std::optional<shared_mutex> both{std::in_place, client_, "rw"};
    std::optional<semaphore> slots{std::in_place, client_, "s", 3U};
    std::optional<election> vote{std::in_place, client_, "e"};
    auto exclusive = async_acquire(*lock, asio::deferred);
    auto reading = async_acquire_shared(*both, asio::deferred);
    auto permit = async_acquire(*slots, asio::deferred);
    auto more = async_try_acquire_for(*slots, patience, 2, asio::deferred);
    auto campaign = async_campaign(*vote, "me", asio::deferred);
    lock.emplace(client_, "other q");
    both.emplace(client_, "other rw");
    slots.emplace(client_, "other s", 3U);
    vote.emplace(client_, "other e");
    EXPECT_EQ(run(std::move(exclusive)).name(), "q");
    EXPECT_EQ(run(std::move(reading)).name(), "rw");
    EXPECT_EQ(run(std::move(permit)).name(), "s");
    EXPECT_EQ(run(std::move(more))->name(), "s");
    EXPECT_EQ(run(std::move(campaign)).name(), "e");
}

TEST_P(asio_start_test, a_lazy_meeting_co_owns_what_it_needs) {
    if (!can({ability::latches, ability::barriers})) return;
    std::optional<latch> gate{std::in_place, client_, "l", 2U};
    std::optional<barrier> meeting{std::in_place, client_, "b", 1U};
    auto down = async_count_down(*gate, 2, asio::deferred);
    auto open = async_wait(*gate, asio::deferred);
    auto open_in_time = async_wait_for(*gate, patience, asio::deferred);
    auto arrival = async_arrive_and_wait(*meeting, asio::deferred);
    gate.emplace(client_, "other l", 2U);
    meeting.emplace(client_, "other b", 1U);
    run(std::move(down));
    run(std::move(open));
    EXPECT_TRUE(run(std::move(open_in_time)));
    EXPECT_EQ(run(std::move(arrival)), 0U);
    EXPECT_EQ(latch(other_, "l", 2).count(), 0U);
    EXPECT_EQ(latch(other_, "other l", 2).count(), 2U);
    EXPECT_TRUE(other_.locks("other b").empty());
}

TEST_P(asio_start_test, a_lazy_condition_co_owns_what_it_needs) {
    if (!can({ability::conditions})) return;
    std::optional<mutex> lock{std::in_place, client_, "q"};
    std::optional<condition_variable> changed{std::in_place, client_, "c"};
    auto first = async_wait(*changed, *lock, lock->acquire(), asio::deferred);
    auto all = async_notify_all(*changed, asio::deferred);
    auto one = async_notify_one(*changed, asio::deferred);
    lock.emplace(client_, "other q");
    changed.emplace(client_, "other c");
    auto waiting = std::move(first)(use_future);
    EXPECT_TRUE(waits(other_, "c", 1));
    run(std::move(all));
    ASSERT_TRUE(ready(waiting));
    EXPECT_EQ(waiting.get().name(), "q");
    auto const again = mutex{client_, "q"}.acquire();
    run(std::move(one));
}

TEST_P(asio_start_test, what_cannot_begin_tells_the_coroutine) {
    asio::io_context io;
    semaphore slots{client_, "s", 3};
    recursive_mutex by_thread{client_, "r"};
    int told = 0;
    auto const fails = [&](auto operation) -> asio::awaitable<void> {
        try {
            (void)co_await std::move(operation);
        } catch (std::system_error const& error) {
            told += error.code() == errc::bad_option;
        }
    };
    auto const all = [&]() -> asio::awaitable<void> {
        co_await fails(async_acquire(slots, 4, asio::use_awaitable));
        co_await fails(async_acquire(by_thread, asio::use_awaitable));
        co_await fails(async_release(lease{}, asio::use_awaitable));
    };
    std::exception_ptr failure;
    asio::co_spawn(io, all, [&](std::exception_ptr it) { failure = it; });
    io.run();
    EXPECT_FALSE(failure);
    EXPECT_EQ(told, 3);
}

TEST_P(asio_start_test, the_cancellation_slot_is_left_before_the_handler_runs) {
    asio::cancellation_signal stop;
    asio::io_context io;
    mutex lock{client_, "q"};
    bool left = false;
    bool taken = false;
    auto const then = [&](std::exception_ptr, lease) { left = !stop.slot().has_handler(); };
    async_acquire(lock, asio::bind_cancellation_slot(stop.slot(), asio::bind_executor(io, then)));
    taken = stop.slot().has_handler();
    io.run();
    EXPECT_TRUE(taken);
    EXPECT_TRUE(left);
}

}  // namespace

}  // namespace holdfast::conformance
