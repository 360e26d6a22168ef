// Lock and unlock on Redis without contention, one thread: beside a blocking socket that sends the same
// two scripts.
#include <cstdio>

#include <holdfast/holdfast.hpp>

#include "duel.hpp"
#include "redis_calls.hpp"

namespace {

constexpr int pairs = 5'000;
constexpr int rounds = 15;
constexpr double goal = 0.9;

template <class Pair>
double rate(Pair&& pair) {
    return pairs / bench::seconds([&] {
               for (int i = 0; i < pairs; ++i)
                   pair();
           });
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: redis_pair redis://127.0.0.1:PORT\n", stderr);
        return 2;
    }
    std::string const url = argv[1];
    holdfast::client client{url};
    holdfast::mutex mutex{client, "bench/pair"};

    bench::wire wire{url};
    bench::caller::load(wire);
    auto const calls = bench::caller{}.calls("bench/pair");
    bench::side const limit{"a blocking socket, the same two scripts", [&] {
                                return rate([&] {
                                    wire.send(calls.lock);
                                    (void)wire.answer();
                                    wire.send(calls.unlock);
                                    (void)wire.answer();
                                });
                            }};

    bench::duel("redis: acquire + release, one thread, both waited for",
                {"holdfast::mutex", [&] { return rate([&] { (void)mutex.acquire().release(); }); }},
                limit, rounds, goal);
    bench::duel("redis: lock + unlock, one thread; an unlock waits for no answer",
                {"holdfast::mutex",
                 [&] {
                     return rate([&] {
                         mutex.lock();
                         mutex.unlock();
                     });
                 }},
                limit, rounds, goal);
}
