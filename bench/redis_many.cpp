// Many owners, each on a name of its own, over one client: beside the same scripts in the best pipeline.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "coroutine_owners.hpp"
#include "duel.hpp"
#include "redis_calls.hpp"

namespace {

constexpr int owners = bench::coroutine_owners::count;
constexpr int pairs = bench::coroutine_owners::pairs;
constexpr int rounds = 9;
constexpr double goal = 0.8;

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
    bench::coroutine_owners ours{client};
    std::vector<bench::pair_of_calls> calls;
    bench::caller caller;
    for (int i = 0; i < owners; ++i)
        calls.push_back(caller.calls(bench::coroutine_owners::name(i)));
    bench::wire wire{url};
    bench::caller::load(wire);
    auto const raw = best_pipeline(calls, wire);
    auto const limit = "the same scripts, pieces of " + std::to_string(raw.window());
    bench::duel("redis: 256 owners on names of their own, one client, coroutines",
                {"holdfast::async_acquire, async_release", [&] { return ours.rate(); }},
                {limit, [&] { return raw.rate(wire); }}, rounds, goal);
}
