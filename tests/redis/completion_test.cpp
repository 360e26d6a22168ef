// Which thread brings the end of an Asio operation to its executor.
#include <atomic>
#include <future>
#include <latch>
#include <thread>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>

#include <holdfast/asio.hpp>

#include "redis/fixture.hpp"

namespace holdfast::redis_faults {
namespace {

namespace asio = boost::asio;

/// An executor of somebody's own, which notes the thread that gives it something.
class noting_executor {
public:
    noting_executor(asio::io_context& to, std::atomic<std::thread::id>& by) : to_{&to}, by_{&by} {}

    template <class Function>
    void execute(Function what) const {
        *by_ = std::this_thread::get_id();
        asio::post(*to_, std::move(what));
    }
    [[nodiscard]] noting_executor require(asio::execution::blocking_t::never_t) const noexcept {
        return *this;
    }
    [[nodiscard]] asio::execution_context& query(asio::execution::context_t) const noexcept {
        return *to_;
    }
    bool operator==(noting_executor const&) const noexcept = default;

private:
    asio::io_context* to_;
    std::atomic<std::thread::id>* by_;
};

class completion_test : public ::testing::Test {
protected:
    ~completion_test() override { let_go_on(); }

    /// Keeps the notifier thread in an observer until `let_go_on`.
    void occupy_notifier() {
        watching_ = race_.observe([this](auto const&) {
            if (notifier_.exchange(std::this_thread::get_id()) != std::thread::id{}) return;
            occupied_.count_down();
            go_on_.get_future().wait();
        });
        occupied_.wait();
    }
    void let_go_on() {
        if (!std::exchange(gone_on_, true)) go_on_.set_value();
    }
    /// Begins an acquire whose handler runs by `executor`.
    template <class Executor>
    void acquire(Executor const& executor) {
        async_acquire(lock_, asio::bind_executor(executor, [this](std::exception_ptr, lease got) {
                          held_ = got.held();
                      }));
    }

    redis_server server_;
    client client_{server_.url()};
    mutex lock_{client_, "q"};
    asio::io_context io_;
    bool held_{false};
    std::atomic<std::thread::id> notifier_{};

private:
    std::latch occupied_{1};
    std::promise<void> go_on_;
    bool gone_on_{false};
    election race_{client_, "leader"};
    subscription watching_;
};

TEST_F(completion_test, a_context_of_asio_is_told_while_user_code_keeps_the_notifier_thread) {
    occupy_notifier();
    acquire(io_.get_executor());
    io_.run_for(10s);
    EXPECT_TRUE(held_);
    held_ = false;
    io_.restart();
    acquire(asio::any_io_executor{io_.get_executor()});
    io_.run_for(10s);
    EXPECT_TRUE(held_);
}

TEST_F(completion_test, an_executor_that_is_not_known_is_given_it_by_the_notifier_thread) {
    occupy_notifier();
    let_go_on();
    std::atomic<std::thread::id> by{};
    acquire(noting_executor{io_, by});
    EXPECT_TRUE(eventually([&] { return by.load() != std::thread::id{}; }, 10s));
    EXPECT_EQ(by.load(), notifier_.load());
    io_.run_for(10s);
    EXPECT_TRUE(held_);
}

TEST_F(completion_test, the_last_handle_of_a_client_may_end_in_the_handler) {
    bool ended = false;
    {
        client another{server_.url()};
        mutex lock{another, "r"};
        async_acquire(lock,
                      asio::bind_executor(io_.get_executor(), [&](std::exception_ptr, lease got) {
                          ended = got.release() == release_outcome::released;
                      }));
    }
    io_.run_for(10s);
    EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace holdfast::redis_faults
