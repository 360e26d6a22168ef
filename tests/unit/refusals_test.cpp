// What errors say: what is wrong, once.
#include <atomic>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>

#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>

#include "base/error.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

template <class Action>
std::string words_of(errc expected, Action action) {
    try {
        action();
    } catch (std::system_error const& error) {
        EXPECT_EQ(error.code(), make_error_code(expected));
        return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

TEST(refusals, an_error_without_words_has_those_of_its_code) {
    EXPECT_EQ(words_of(errc::closed, [] { base::error{errc::closed}.raise(); }),
              "the client is closed");
    EXPECT_EQ(words_of(errc::closed, [] { base::raise(errc::closed, "here"); }),
              "here: the client is closed");
}

TEST(refusals, a_closed_client) {
    client user{"memory:refusals-closed"};
    mutex lock{user, "m"};
    latch opened{user, "l", 1};
    semaphore permits{user, "s", 1};
    user.close();
    EXPECT_EQ(words_of(errc::closed, [&] { lock.lock(); }), "the client is closed");
    EXPECT_EQ(words_of(errc::closed, [&] { opened.wait(); }), "the client is closed");
    EXPECT_EQ(words_of(errc::closed, [&] { (void)permits.available(); }), "the client is closed");
}

TEST(refusals, a_broken_barrier) {
    client user{"memory:refusals-barrier"};
    barrier gate{user, "b", 2};
    ASSERT_FALSE(gate.arrive_and_wait_for(500ms));
    EXPECT_EQ(words_of(errc::broken_barrier, [&] { gate.arrive_and_wait(); }),
              "a party left 'b' (reset() makes it usable again): the barrier is broken");
}

TEST(refusals, a_latch_that_is_reset_while_it_is_waited_for_is_no_hold) {
    client user{"memory:refusals-latch"};
    latch opened{user, "l", 1};
    ASSERT_EQ(opened.count(), 1U);
    std::string words;
    std::atomic<bool> over{false};
    std::thread waiter{[&] {
        words = words_of(errc::lost, [&] { opened.wait(); });
        over = true;
    }};
    while (!over) {  // a reset that comes before the wait does not end it
        opened.reset(1);
        std::this_thread::sleep_for(1ms);
    }
    waiter.join();
    EXPECT_EQ(words,
              "the latch 'l' was reset while it was waited for: "
              "what was held or waited for is gone");
}

TEST(refusals, other_kinds_and_limits) {
    client user{"memory:refusals-kinds"};
    mutex lock{user, "x"};
    semaphore permits{user, "x", 2};
    semaphore others{user, "s", 2};
    others.acquire();
    auto const held = lock.acquire();
    EXPECT_EQ(words_of(errc::kind_mismatch, [&] { permits.acquire(); }),
              "'x' is in use as a lock, not as a semaphore: the name is in use as another kind of "
              "synchronizer");
    election led{user, "x"};
    EXPECT_EQ(words_of(errc::kind_mismatch, [&] { (void)led.campaign("me"); }),
              "'x' is in use as a lock, not as an election: the name is in use as another kind of "
              "synchronizer");
    client other{"memory:refusals-kinds"};
    semaphore wrong{other, "s", 3};
    EXPECT_EQ(words_of(errc::limit_mismatch, [&] { wrong.acquire(); }),
              "'s' was declared with a limit of 2, not 3: the name is in use with another limit");
}

// What a recursion has entered is counted as held alone, and would be shared unknowingly.
TEST(refusals, a_recursive_hold_is_not_downgraded) {
    client user{"memory:refusals-downgrade"};
    shared_mutex both{user, "x"};
    for (auto const* const owner : {"", "job 7"}) {
        recursive_mutex counted{user, "x", {.owner = owner}};
        auto held = counted.acquire();
        EXPECT_EQ(words_of(errc::bad_option, [&] { both.downgrade(held); }),
                  "a hold of a recursive_mutex cannot be downgraded: whoever enters 'x' again "
                  "would share it unknowingly: " +
                      make_error_code(errc::bad_option).message());
        EXPECT_EQ(held.state(), lease_state::held);
        client other{"memory:refusals-downgrade"};
        EXPECT_FALSE(shared_mutex(other, "x").try_lock_shared()) << "it excludes readers";
        EXPECT_EQ(held.release(), release_outcome::released);
    }
    auto plain = mutex{user, "x"}.acquire();
    both.downgrade(plain);
    client other{"memory:refusals-downgrade"};
    shared_mutex theirs{other, "x"};
    EXPECT_TRUE(theirs.try_lock_shared());
    theirs.unlock_shared();
}

TEST(refusals, a_lease_of_another_kind_is_not_downgraded) {
    client user{"memory:refusals-kind-of-lease"};
    shared_mutex both{user, "s"};
    semaphore permits{user, "s", 2};
    auto held = permits.acquire_lease();
    (void)words_of(errc::kind_mismatch, [&] { both.downgrade(held); });
    EXPECT_EQ(permits.available(), 1) << "it is a permit still";
}

}  // namespace
}  // namespace holdfast
