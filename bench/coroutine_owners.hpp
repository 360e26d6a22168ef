// Many owners, each on a name of its own, as coroutines over one client.
#pragma once

#include <deque>
#include <string>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/asio.hpp>
#include <holdfast/holdfast.hpp>

#include "duel.hpp"

namespace bench {

class coroutine_owners {
public:
    static constexpr int count = 256;
    static constexpr int pairs = 100;  ///< of each owner and round

    explicit coroutine_owners(holdfast::client& client) {
        for (int i = 0; i < count; ++i)
            mutexes_.emplace_back(client, name(i));
    }

    [[nodiscard]] static std::string name(int owner) {
        return "bench/owner/" + std::to_string(owner);
    }

    /// Pairs per second of one round.
    [[nodiscard]] double rate() {
        return count * pairs / seconds([&] {
                   boost::asio::io_context context{1};
                   for (auto& each : mutexes_)
                       boost::asio::co_spawn(context, own(each), boost::asio::detached);
                   context.run();
               });
    }

private:
    static boost::asio::awaitable<void> own(holdfast::mutex& mutex) {
        using boost::asio::use_awaitable;
        for (int i = 0; i < pairs; ++i) {
            auto lease = co_await holdfast::async_acquire(mutex, use_awaitable);
            co_await holdfast::async_release(std::move(lease), use_awaitable);
        }
    }

    std::deque<holdfast::mutex> mutexes_;
};

}  // namespace bench
