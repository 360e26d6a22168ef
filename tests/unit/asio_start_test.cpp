// How an Asio operation begins: cancellation meets its task, whichever comes first.
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/thread_pool.hpp>
#include <gtest/gtest.h>

#include <holdfast/detail/asio_start.hpp>

namespace holdfast::detail {
namespace {

namespace asio = boost::asio;

struct counting final : async_task {
    void cancel() override { ++cancels; }
    int cancels{0};
};

class asio_start : public ::testing::Test {
protected:
    /// Runs `start` with a handler on another thread that has the slot of `stop_`, and then `then`.
    template <class Start, class Then>
    void begin(Start start, Then then) {
        auto handler = [then](std::exception_ptr) { then(); };
        auto const convert = [](auto self, number_result got) {
            self->complete(std::move(self), std::move(got.origin), std::move(got.error));
        };
        start_asio<number_result>(
            asio::bind_cancellation_slot(stop_->slot(), asio::bind_executor(pool_, handler)), start,
            convert);
    }
    /// Ends the operation that `end_` belongs to, and waits for its handler.
    void finish() {
        std::exchange(end_, nullptr)({});
        pool_.join();
    }
    void cancel() { stop_->emit(asio::cancellation_type::terminal); }

    std::optional<asio::cancellation_signal> stop_{std::in_place};
    std::shared_ptr<counting> const task_{std::make_shared<counting>()};
    number_handler end_{};
    asio::thread_pool pool_{1};
};

TEST_F(asio_start, a_cancellation_reaches_the_task) {
    begin(
        [&](number_handler end) {
            end_ = std::move(end);
            return task_;
        },
        [] {});
    EXPECT_EQ(task_->cancels, 0);
    cancel();
    EXPECT_EQ(task_->cancels, 1);
    finish();
}

TEST_F(asio_start, a_cancellation_during_the_start_is_remembered) {
    begin(
        [&](number_handler end) {
            end_ = std::move(end);
            cancel();
            EXPECT_EQ(task_->cancels, 0);
            return task_;
        },
        [] {});
    EXPECT_EQ(task_->cancels, 1);
    finish();
}

TEST_F(asio_start, the_handler_may_be_gone_before_the_start_returns) {
    begin(
        [&](number_handler end) {
            end({});
            pool_.join();
            EXPECT_FALSE(stop_);
            stop_.emplace();  // what lives in its place now is not the operation's
            return task_;
        },
        [&] {
            EXPECT_FALSE(stop_->slot().has_handler());
            stop_.reset();
        });
    EXPECT_FALSE(stop_->slot().has_handler());
}

TEST_F(asio_start, a_start_that_throws_is_told_to_the_handler) {
    bool told = false;
    EXPECT_NO_THROW(begin([](number_handler const&) -> task_ptr { throw std::bad_alloc{}; },
                          [&] { told = true; }));
    pool_.join();
    EXPECT_TRUE(told);
    EXPECT_FALSE(stop_->slot().has_handler());
}

}  // namespace
}  // namespace holdfast::detail
