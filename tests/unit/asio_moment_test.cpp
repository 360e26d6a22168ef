// Operations of <holdfast/asio.hpp> that are given no time: each is one try, and has its answer.
#include <chrono>
#include <future>

#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include <holdfast/asio.hpp>
#include <holdfast/holdfast.hpp>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using boost::asio::use_future;

/// The end of an operation; throws its error.
template <class Value>
Value ended(std::future<Value> it) {
    EXPECT_EQ(it.wait_for(20s), std::future_status::ready);
    return it.get();
}

class asio_moment : public ::testing::Test {
protected:
    client client_{"memory:asio_moment"};
    client other_{"memory:asio_moment"};
};

TEST_F(asio_moment, a_latch_is_looked_at) {
    latch gate{client_, "l", 1};
    latch theirs{other_, "l", 1};
    for (auto const time : {0ms, -1ms}) {
        EXPECT_FALSE(ended(async_wait_for(gate, time, use_future)));
        EXPECT_FALSE(gate.wait_for(time)) << "as without Asio";
    }
    ASSERT_EQ(theirs.count(), 1U);
    EXPECT_FALSE(ended(async_wait_for(gate, 0ms, use_future)));
    theirs.count_down();
    EXPECT_TRUE(ended(async_wait_for(gate, 0ms, use_future)));
    EXPECT_TRUE(gate.wait_for(0ms));
}

TEST_F(asio_moment, a_lock_is_tried) {
    mutex mine{client_, "q"};
    mutex theirs{other_, "q"};
    auto held = theirs.acquire();
    EXPECT_FALSE(ended(async_try_acquire_for(mine, 0ms, use_future)));
    EXPECT_EQ(held.release(), release_outcome::released);
    EXPECT_TRUE(ended(async_try_acquire_for(mine, 0ms, use_future)));
}

TEST_F(asio_moment, a_permit_is_tried) {
    semaphore mine{client_, "s", 1};
    semaphore theirs{other_, "s", 1};
    theirs.acquire();
    EXPECT_FALSE(ended(async_try_acquire_for(mine, 0ms, 1, use_future)));
    theirs.release();
    EXPECT_TRUE(ended(async_try_acquire_for(mine, 0ms, 1, use_future)));
}

}  // namespace
}  // namespace holdfast
