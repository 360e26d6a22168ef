// A system that has no thread to give: calls fail before they have done anything, and nothing is broken.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <optional>
#include <system_error>

#include <dlfcn.h>
#include <pthread.h>

#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>

namespace {

std::atomic<int> threads_left{1'000};

}  // namespace

// In the place of the system's own, for the library too.
extern "C" [[gnu::visibility("default")]] int pthread_create(pthread_t* thread,
                                                             pthread_attr_t const* how,
                                                             void* (*what)(void*), void* with) {
    using function = int (*)(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*);
    static auto const real = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "pthread_create"));
    return threads_left-- > 0 ? real(thread, how, what, with) : EAGAIN;
}

namespace holdfast {
namespace {

using namespace std::chrono_literals;

class threads_refused_test : public ::testing::TestWithParam<int> {
protected:
    ~threads_refused_test() override { threads_left = 1'000; }
};
INSTANTIATE_TEST_SUITE_P(after, threads_refused_test, ::testing::Values(0, 1));

TEST_P(threads_refused_test, an_acquire_says_so_and_leaves_nothing) {
    client client{"memory:refused"};
    mutex lock{client, "q", {.lease = 300ms}};
    threads_left = GetParam();
    for (int i = 0; i < 3; ++i) {
        EXPECT_THROW((void)lock.acquire(), std::system_error);
        EXPECT_THROW(lock.lock(), std::system_error);
        EXPECT_THROW((void)lock.try_acquire_for(1s), std::system_error);
    }
    threads_left = 1'000;
    auto held = lock.try_acquire_for(10s);
    ASSERT_TRUE(held);
    EXPECT_EQ(client.locks().front().waiters.size(), 0U);
    EXPECT_EQ(held->release(), release_outcome::released);
}

TEST_P(threads_refused_test, what_is_held_is_given_back) {
    client client{"memory:refused"};
    mutex lock{client, "q"};
    lock.lock();
    threads_left = GetParam();
    lock.unlock();
    lock.lock();
    lock.unlock();
    client.close();
}

}  // namespace
}  // namespace holdfast
