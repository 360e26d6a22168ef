// Many owners, each on a name of its own, over one client: beside the same scripts in the best pipeline.
#include <cstdio>
#include <deque>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/asio.hpp>

#include "duel.hpp"
#include "redis_calls.hpp"

namespace {

constexpr int owners = 256;
constexpr int pairs = 100;  // of each owner and round
constexpr int rounds = 9;
constexpr double goal = 0.8;

boost::asio::awaitable<void> own(holdfast::mutex& mutex) {
    using boost::asio::use_awaitable;
    for (int i = 0; i < pairs; ++i) {
        auto lease = co_await holdfast::async_acquire(mutex, use_awaitable);
        co_await holdfast::async_release(std::move(lease), use_awaitable);
    }
}

double our_rate(std::deque<holdfast::mutex>& mutexes) {
    return owners * pairs / bench::seconds([&] {
               boost::asio::io_context context{1};
               for (auto& it : mutexes)
                   boost::asio::co_spawn(context, own(it), boost::asio::detached);
               context.run();
           });
}

/// All that one round sends, cut into pieces of `window` commands. Two pieces are under way at any
/// time, so that the server always has one to work on.
class pipeline {
public:
    pipeline(std::vector<bench::pair_of_calls> const& all, std::size_t window) : window_{window} {
        std::string piece;
        std::size_t in_piece = 0;
        auto const add = [&](std::string const& call) {
            piece += call;
            if (++in_piece < window) return;
            pieces_.push_back(std::exchange(piece, {}));
            in_piece = 0;
        };
        for (auto const& it : all)
            add(it.lock);
        for (auto const& it : all)
            add(it.unlock);
    }

    [[nodiscard]] double rate(bench::wire& over) const {
        return owners * pairs / bench::seconds([&] {
                   over.send(pieces_.front());
                   auto const count = pieces_.size() * pairs;
                   for (std::size_t i = 1; i <= count; ++i) {
                       if (i < count) over.send(pieces_[i % pieces_.size()]);
                       for (std::size_t k = 0; k < window_; ++k)
                           (void)over.answer();
                   }
               });
    }

    [[nodiscard]] std::size_t window() const noexcept { return window_; }

private:
    std::size_t window_;
    std::vector<std::string> pieces_;
};

pipeline best_pipeline(std::vector<bench::pair_of_calls> const& all, bench::wire& over) {
    std::vector<std::pair<double, std::size_t>> tried;
    for (std::size_t const window : {16U, 32U, 64U, 128U, 256U}) {
        pipeline const it{all, window};
        tried.emplace_back(std::max(it.rate(over), it.rate(over)), window);
    }
    return {all, std::ranges::max(tried).second};
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: redis_many redis://127.0.0.1:PORT\n", stderr);
        return 2;
    }
    std::string const url = argv[1];
    holdfast::client client{url};
    std::deque<holdfast::mutex> mutexes;
    std::vector<bench::pair_of_calls> calls;
    bench::caller caller;
    for (int i = 0; i < owners; ++i) {
        auto const name = "bench/owner/" + std::to_string(i);
        mutexes.emplace_back(client, name);
        calls.push_back(caller.calls(name));
    }
    bench::wire wire{url};
    bench::caller::load(wire);
    auto const raw = best_pipeline(calls, wire);
    auto const limit = "the same scripts, pieces of " + std::to_string(raw.window());
    bench::duel("redis: 256 owners on names of their own, one client, coroutines",
                {"holdfast::async_acquire, async_release", [&] { return our_rate(mutexes); }},
                {limit, [&] { return raw.rate(wire); }}, rounds, goal);
}
