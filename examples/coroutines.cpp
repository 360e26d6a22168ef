// Asio coroutines: many waits on one thread, none of which blocks it.
#include <chrono>
#include <exception>
#include <iostream>
#include <optional>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/asio.hpp>
#include <holdfast/holdfast.hpp>

using boost::asio::awaitable;
using boost::asio::use_awaitable;
using namespace std::chrono_literals;

namespace {

// A coroutine is not a thread: it holds by a lease, never by lock() and unlock().
awaitable<void> add(holdfast::mutex& counter_lock, int& counter) {
    auto lease = co_await holdfast::async_acquire(counter_lock, use_awaitable);
    ++counter;
    co_await holdfast::async_release(std::move(lease), use_awaitable);
}

awaitable<void> look_in(holdfast::mutex& counter_lock, bool& busy) {
    auto const lease = co_await holdfast::async_try_acquire_for(counter_lock, 20ms, use_awaitable);
    busy = !lease;
}

void rethrow(std::exception_ptr const& error) {
    if (error) std::rethrow_exception(error);
}

}  // namespace

int main(int argc, char** argv) {
    holdfast::client client{argc > 1 ? argv[1] : "memory:"};
    holdfast::mutex counter_lock{client, "counter"};
    boost::asio::io_context context;

    constexpr int coroutines = 100;
    int counter = 0;
    for (int i = 0; i < coroutines; ++i)
        co_spawn(context, add(counter_lock, counter), rethrow);
    context.run();
    std::cout << counter << " coroutines have had the lock\n";

    bool busy = false;
    auto const held = counter_lock.acquire();
    co_spawn(context, look_in(counter_lock, busy), rethrow);
    context.restart();
    context.run();
    std::cout << (busy ? "busy" : "free") << '\n';
    return counter == coroutines && busy ? 0 : 1;
}
