// Lock and unlock on Redis without contention, one thread: beside a blocking socket that sends the same
// two scripts, and beside one whose scripts do the least that a lock with a token can do.
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/holdfast.hpp>

#include "duel.hpp"
#include "redis_calls.hpp"

namespace {

constexpr int pairs = 5'000;
constexpr int rounds = 15;
constexpr double goal = 0.9;
constexpr double goal_beside_least = 0.85;  // on one core

template <class Pair>
double rate(Pair&& pair) {
    return pairs / bench::seconds([&] {
               for (int i = 0; i < pairs; ++i)
                   pair();
           });
}

bench::side socket(std::string name, bench::wire& wire, bench::pair_of_calls const& calls) {
    return {std::move(name), [&wire, &calls] {
                return rate([&] {
                    wire.send(calls.lock);
                    (void)wire.answer();
                    wire.send(calls.unlock);
                    (void)wire.answer();
                });
            }};
}

/// A key with an end and a counter; compare, delete and tell. Nobody waits, renews or is told of a loss.
bench::pair_of_calls least_calls(bench::wire& to) {
    using holdfast::stores::redis::command;
    using holdfast::stores::redis::script;
    script const lock{"lock", "",
                      "if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then "
                      "return redis.call('INCR', KEYS[2]) end return 0"};
    script const unlock{"unlock", "",
                        "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end "
                        "redis.call('DEL', KEYS[1]) redis.call('PUBLISH', KEYS[2], '1') return 1"};
    auto const call = [&to](script const& what, std::string_view second_key) {
        auto const sha = to.load(what);
        script const known{what.name, sha, what.text};
        command out{known, 2};
        out << "least:lock" << second_key << "0123456789abcdef"
            << "30000";
        return std::string{out.bytes()};
    };
    return {call(lock, "least:count"), call(unlock, "least:free")};
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
    auto const limit = socket("a blocking socket, the same two scripts", wire, calls);
    auto const least = least_calls(wire);
    bench::side const waited{"holdfast::mutex",
                             [&] { return rate([&] { (void)mutex.acquire().release(); }); }};

    bench::duel("redis: acquire + release, one thread, both waited for", waited, limit, rounds,
                goal);
    bench::duel("redis: the same beside scripts that do the least", waited,
                socket("a blocking socket, SET NX and INCR; DEL and PUBLISH", wire, least), rounds,
                goal_beside_least);
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
