// Waiting for a while, waiting until somebody says stop, and not waiting at all.
#include <chrono>
#include <iostream>
#include <stop_token>
#include <system_error>
#include <thread>

#include <holdfast/holdfast.hpp>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
    holdfast::client client{argc > 1 ? argv[1] : "memory:"};
    holdfast::mutex index{client, "search/index"};
    auto const held = index.acquire();  // in the way of all that follows

    // Nothing, or false, is an answer of the store: "busy".
    if (index.try_acquire()) return 1;
    if (index.try_acquire_for(50ms)) return 1;
    if (index.try_lock_until(std::chrono::steady_clock::now() + 50ms)) return 1;
    std::cout << "busy, three times\n";

    // A stop request ends a wait at once and leaves nothing behind at the store.
    std::jthread waiter{[&](std::stop_token stop) {
        auto const lease = index.acquire(stop);
        std::cout << (lease ? "acquired" : "stopped") << '\n';
    }};
    waiter.request_stop();
    waiter.join();

    // Trouble is never "busy": it is an error, which says what the store said.
    try {
        holdfast::client nobody{"file:/no/such/directory/locks.db"};
        holdfast::mutex anything{nobody, "anything"};
        (void)anything.try_acquire_for(1s);
        return 1;
    } catch (std::system_error const& error) {
        std::cout << error.what() << '\n';
        return error.code().category() == holdfast::error_category() ? 0 : 1;
    }
}
