// After fork() the child's copy of a client is dead, and harms nothing.
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

class fork_test : public store_test {
protected:
    /// Runs `call` in a child and returns its result as the child's exit status; -1 when the child hangs
    /// or crashes.
    template <class Call>
    [[nodiscard]] static int in_child(Call call) {
        auto const child = ::fork();
        if (child == 0) {
            // It must not outlive a test that was ended from outside.
            ::alarm(static_cast<unsigned>(std::chrono::seconds{2 * patience}.count()));
            int result = 99;
            try {
                result = call();
            } catch (...) {
                result = 98;
            }
            ::_exit(result);
        }
        int status = 0;
        if (!eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; })) {
            ::kill(child, SIGKILL);
            ::waitpid(child, &status, 0);
            return -1;
        }
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    [[nodiscard]] static bool is_closed(std::error_code code) { return code == errc::closed; }
};
HOLDFAST_OVER_ALL_ROWS(fork_test);

TEST_P(fork_test, operations_of_the_child_throw_closed) {
    if (!can({ability::semaphores})) return;
    auto client = connect();
    mutex shared{client, "q"};
    recursive_mutex nested{client, "r"};
    nested.lock();
    semaphore permits{client, "s", 2};
    permits.acquire();
    auto held = shared.acquire();
    EXPECT_EQ(in_child([&] {
                  int good = 0;
                  good += is_closed(failure_of([&] { shared.lock(); }));
                  good += is_closed(failure_of([&] { return shared.try_lock(); }));
                  good += is_closed(failure_of([&] { return shared.acquire(); }));
                  good += is_closed(failure_of([&] { return shared.try_acquire_for(1s); }));
                  good += is_closed(failure_of([&] { nested.lock(); }));
                  good += is_closed(failure_of([&] { return held.release(); }));
                  good += is_closed(failure_of([&] { return held.renew(); }));
                  good += is_closed(failure_of([&] { client.ping(); }));
                  good += is_closed(failure_of([&] { return client.locks(); }));
                  good += is_closed(failure_of([&] { return client.evict("q"); }));
                  good += is_closed(failure_of([&] { return held.lost(); }));
                  good += is_closed(failure_of([&] { return nested.token(); }));
                  good += is_closed(failure_of([&] { return nested.lost(); }));
                  good += is_closed(failure_of([&] { return permits.lost(); }));
                  good += !nested.owns();
                  return good;
              }),
              15);
    EXPECT_TRUE(held.held());
    EXPECT_EQ(held.renew(), lease_state::held);
    EXPECT_TRUE(nested.owns());
    nested.unlock();
    permits.release();
    EXPECT_EQ(held.release(), release_outcome::released);
    EXPECT_TRUE(empties(client));
}

// Threads of the parent that are busy with the client at that moment have left its locks taken.
TEST_P(fork_test, no_operation_of_the_child_waits_for_threads_of_the_parent) {
    auto const client = connect();
    std::jthread const busy{[&](std::stop_token stop) {
        while (!stop.stop_requested()) {
            mutex const lock{client, "busy"};
            semaphore const permits{client, "busy too", 1};
        }
    }};
    for (int i = 0; i < 10; ++i)
        EXPECT_EQ(in_child([&] {
                      int good = 0;
                      good += is_closed(failure_of([&] { mutex{client, "q"}; }));
                      good += is_closed(failure_of([&] { recursive_mutex{client, "q"}; }));
                      good += is_closed(failure_of([&] { shared_mutex{client, "q"}; }));
                      good += is_closed(failure_of([&] { semaphore{client, "s", 1}; }));
                      return good;
                  }),
                  4);
}

TEST_P(fork_test, destructors_of_the_child_do_nothing) {
    if (!can({ability::semaphores, ability::elections})) return;
    auto other = connect();
    auto client = std::make_unique<holdfast::client>(connect());
    auto shared = std::make_unique<mutex>(*client, "q");
    auto locked = std::make_unique<mutex>(*client, "r");
    auto permits = std::make_unique<semaphore>(*client, "s", 2);
    std::optional<lease> held{shared->acquire()};
    locked->lock();
    permits->acquire();
    election standing{*client, "e"};
    std::optional<subscription> watching{standing.observe([](auto const&) {})};
    EXPECT_EQ(in_child([&] {
                  watching.reset();
                  held.reset();
                  locked->unlock();
                  locked.reset();
                  shared.reset();
                  permits->release();
                  permits.reset();
                  client.reset();
                  return 0;
              }),
              0);
    mutex theirs{other, "q"};
    EXPECT_FALSE(theirs.try_lock());
    EXPECT_EQ(held->renew(), lease_state::held);
    EXPECT_EQ(other.locks().size(), 3U);
    EXPECT_TRUE(locked->owns());
    watching.reset();
    locked->unlock();
    permits->release();
    EXPECT_EQ(held->release(), release_outcome::released);
    EXPECT_TRUE(empties(other));
}

TEST_P(fork_test, the_parent_works_on_while_children_come_and_go) {
    auto client = connect();
    mutex shared{client, "q", {.lease = 2s}};
    auto held = shared.acquire();
    auto waiter = elsewhere([&] { return shared.acquire(); });
    EXPECT_TRUE(waits(client, "q", 1));
    for (int i = 0; i < 10; ++i)
        EXPECT_EQ(in_child([] { return 7; }), 7);
    EXPECT_TRUE(throughout(3s, [&] { return held.held(); })) << held.loss_reason();
    EXPECT_EQ(held.release(), release_outcome::released);
    EXPECT_TRUE(waiter.get().held());
}

// A child that lives on must not keep its parent's holds alive, nor end them.
TEST_P(fork_test, the_child_may_make_a_client_of_its_own) {
#if defined(__SANITIZE_THREAD__)
    constexpr bool may_start_threads = false;  // ThreadSanitizer forbids it after such a fork
#else
    constexpr bool may_start_threads = true;
#endif
    if (!can({ability::processes, ability::clients_in_forks}) || !may_start_threads) return;
    auto client = connect();
    mutex shared{client, "q"};
    auto held = shared.acquire();
    auto const url = store().url();
    EXPECT_EQ(in_child([&] {
                  holdfast::client own{url};
                  mutex theirs{own, "q"};
                  if (theirs.try_acquire()) return 1;
                  auto const other = mutex{own, "r"}.try_acquire();
                  return other && own.locks().size() == 2 ? 0 : 2;
              }),
              0);
    EXPECT_EQ(held.renew(), lease_state::held);
}

}  // namespace

}  // namespace holdfast::conformance
