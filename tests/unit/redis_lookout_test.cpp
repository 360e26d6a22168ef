// What the driver of a Redis store waits for, without a server.
#include <array>
#include <chrono>
#include <utility>

#include <sys/socket.h>

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "stores/redis/lookout.hpp"

namespace holdfast::stores::redis {
namespace {

using namespace std::chrono_literals;
using base::boot_clock;

/// Both ends of a stream, and how the lookout knows the first of them.
class stream {
public:
    explicit stream(std::uint64_t serial) : serial_{serial} {
        int ends[2] = {-1, -1};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
        here_ = base::descriptor{ends[0]};
        there_ = base::descriptor{ends[1]};
    }

    [[nodiscard]] watched_socket watched() const { return {here_.get(), EPOLLIN, serial_}; }
    void say_something() const { EXPECT_EQ(::send(there_.get(), "x", 1, MSG_NOSIGNAL), 1); }
    /// As the child of a fork has it.
    [[nodiscard]] base::descriptor copy() const { return base::descriptor{::dup(here_.get())}; }
    void close() { here_.reset(); }

private:
    std::uint64_t serial_;
    base::descriptor here_;
    base::descriptor there_;
};

class redis_lookout_test : public ::testing::Test {
protected:
    using sockets = std::array<watched_socket, lookout::most_sockets>;

    /// One wait of at most `span`; whether the time was used up.
    bool wait(sockets& all, std::chrono::milliseconds span) {
        auto const end = boot_clock::now() + span;
        lookout_.heed();
        lookout_.wake_by(end);
        lookout_.wait(all);
        return boot_clock::now() >= end;
    }

    /// How many waits it takes for `span` to pass with nothing to see: an earlier moment that was asked
    /// for ends one.
    int waits_in(watched_socket const& only, std::chrono::milliseconds span) {
        auto const end = boot_clock::now() + span;
        int count = 0;
        for (; boot_clock::now() < end; ++count) {
            sockets all{only};
            (void)wait(all, std::chrono::ceil<std::chrono::milliseconds>(end - boot_clock::now()));
            EXPECT_FALSE(all[0].ready);
        }
        return count;
    }

    lookout lookout_;
};

TEST_F(redis_lookout_test, ends_for_a_socket_for_a_call_and_for_time) {
    stream const one{1};
    sockets all{one.watched()};
    EXPECT_TRUE(wait(all, 20ms));
    EXPECT_FALSE(all[0].ready);
    one.say_something();
    lookout_.wait(all);
    EXPECT_TRUE(all[0].ready);
    sockets none{};
    lookout_.heed();
    lookout_.call();
    lookout_.wait(none);  // or it would never end
}

TEST_F(redis_lookout_test, a_socket_with_the_number_of_another_is_seen) {
    stream first{1};
    sockets all{first.watched()};
    EXPECT_TRUE(wait(all, 5ms));
    auto const number = first.watched().descriptor;
    first.close();
    stream const second{2};
    EXPECT_EQ(second.watched().descriptor, number) << "the system gives the lowest one";
    second.say_something();
    all = {second.watched()};
    lookout_.wait(all);
    EXPECT_TRUE(all[0].ready);
}

TEST_F(redis_lookout_test, a_closed_socket_that_a_child_still_has_costs_no_time) {
    stream gone{1};
    auto const childs = gone.copy();
    sockets all{gone.watched()};
    EXPECT_TRUE(wait(all, 5ms));
    gone.say_something();
    gone.close();
    stream const now{2};
    EXPECT_LE(waits_in(now.watched(), 50ms), 5)
        << "what is gone is found once, not again and again";
    now.say_something();
    all = {now.watched()};
    lookout_.wait(all);
    EXPECT_TRUE(all[0].ready);
}

}  // namespace
}  // namespace holdfast::stores::redis
