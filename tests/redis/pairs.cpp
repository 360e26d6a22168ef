// So many pairs of acquire and release, and little else: what one costs is the difference between two numbers of them.
//
//     redis_pairs URL one|many PAIRS
//
// `one` is one owner, `many` are 64 coroutines, each on a name of its own. Prints how often memory was allocated.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/asio.hpp>
#include <holdfast/holdfast.hpp>

namespace {

std::atomic<std::uint64_t> allocations{0};

void one(holdfast::client const& client, int pairs) {
    holdfast::mutex mutex{client, "cost"};
    for (int i = 0; i < pairs; ++i) {
        auto held = mutex.acquire();
        (void)held.release();
    }
}

boost::asio::awaitable<void> own(holdfast::mutex& mutex, int pairs) {
    using boost::asio::use_awaitable;
    for (int i = 0; i < pairs; ++i) {
        auto held = co_await holdfast::async_acquire(mutex, use_awaitable);
        co_await holdfast::async_release(std::move(held), use_awaitable);
    }
}

void many(holdfast::client const& client, int pairs) {
    constexpr int owners = 64;
    std::deque<holdfast::mutex> mutexes;
    boost::asio::io_context context{1};
    for (int i = 0; i < owners; ++i)
        boost::asio::co_spawn(
            context, own(mutexes.emplace_back(client, "cost/" + std::to_string(i)), pairs / owners),
            [](std::exception_ptr const& why) {
                if (why) std::rethrow_exception(why);
            });
    context.run();
}

}  // namespace

// Those of the library and of its modules come here, too.
void* operator new(std::size_t size) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    if (void* const out = std::malloc(size)) return out;
    throw std::bad_alloc{};
}
void operator delete(void* what) noexcept { std::free(what); }
void operator delete(void* what, std::size_t) noexcept { std::free(what); }

int main(int argc, char** argv) {
    if (argc != 4) return 64;
    std::string_view const how = argv[2];
    int const pairs = std::atoi(argv[3]);
    holdfast::client const client{argv[1]};
    if (how == "one") {
        one(client, pairs);
    } else {
        many(client, pairs);
    }
    std::printf("%llu\n", static_cast<unsigned long long>(allocations.load()));
}
