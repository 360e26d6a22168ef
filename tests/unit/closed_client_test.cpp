// Operations that are begun after close(): nobody runs user code for the client any more, and yet each of them ends.
#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <gtest/gtest.h>

#include <holdfast/asio.hpp>
#include <holdfast/holdfast.hpp>

namespace holdfast {
namespace {

using namespace std::chrono_literals;

/// Whether `what` returns. One that does not, because it waits for a lock that its own thread has, keeps its thread.
bool returns(std::function<void()> what) {
    std::packaged_task<void()> task{std::move(what)};
    auto const end = task.get_future();
    std::thread{std::move(task)}.detach();
    return end.wait_for(20s) == std::future_status::ready;
}

class closed_client : public ::testing::Test {
protected:
    client client_{"memory:closed_client"};
    mutex first_{client_, "first"};
    mutex second_{client_, "second"};
    boost::asio::thread_pool pool_{1};
};

errc code_of(std::exception_ptr const& error) {
    try {
        if (error != nullptr) std::rethrow_exception(error);
    } catch (std::system_error const& why) {
        return static_cast<errc>(why.code().value());
    }
    return {};
}

TEST_F(closed_client, an_acquire_ends_in_closed) {
    client_.close();
    std::promise<errc> outcome;
    auto ended = outcome.get_future();
    ASSERT_TRUE(returns([&] {
        async_acquire(first_, boost::asio::bind_executor(
                                  pool_, [&](std::exception_ptr const& error, lease const&) {
                                      outcome.set_value(code_of(error));
                                  }));
    }));
    ASSERT_EQ(ended.wait_for(20s), std::future_status::ready);
    EXPECT_EQ(ended.get(), errc::closed);
}

// What the handler owns may need the client when it goes, a lease for one.
TEST_F(closed_client, a_handler_may_own_a_lease) {
    auto held = std::make_shared<lease>(first_.acquire());
    client_.close();
    std::promise<void> called;
    auto ended = called.get_future();
    ASSERT_TRUE(returns([&, held = std::exchange(held, nullptr)]() mutable {
        async_acquire(second_, boost::asio::bind_executor(
                                   pool_, [&called, held = std::exchange(held, nullptr)](
                                              std::exception_ptr const&, lease const&) mutable {
                                       held = nullptr;
                                       called.set_value();
                                   }));
    }));
    EXPECT_EQ(ended.wait_for(20s), std::future_status::ready);
}

TEST_F(closed_client, a_release_tells_that_the_hold_was_lost) {
    auto held = first_.acquire();
    client_.close();
    std::promise<release_outcome> outcome;
    auto ended = outcome.get_future();
    ASSERT_TRUE(returns([&] {
        async_release(
            std::move(held),
            boost::asio::bind_executor(pool_, [&](std::exception_ptr const&, release_outcome got) {
                outcome.set_value(got);
            }));
    }));
    ASSERT_EQ(ended.wait_for(20s), std::future_status::ready);
    EXPECT_EQ(ended.get(), release_outcome::already_lost);
}

}  // namespace
}  // namespace holdfast
