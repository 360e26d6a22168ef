// Acquire and release on PostgreSQL without contention, by one thread and by many on names of their own: beside as many
// bare clients that send the same statements.
#include <cstdio>
#include <thread>

#include <holdfast/holdfast.hpp>

#include "duel.hpp"
#include "postgres_wire.hpp"

namespace {

constexpr int pairs = 500;
constexpr int rounds = 9;
constexpr unsigned owners = 64;
constexpr int pairs_of_each = 30;

/// Pairs per second of threads that each do `pair(its number)`.
template <class Pair>
double crowd_rate(Pair const& pair) {
    return owners * pairs_of_each / bench::seconds([&] {
               std::vector<std::jthread> crowd;
               for (unsigned i = 0; i < owners; ++i)
                   crowd.emplace_back([&, i] {
                       for (int turn = 0; turn < pairs_of_each; ++turn)
                           pair(i);
                   });
           });
}

template <class Pair>
double rate(Pair const& pair) {
    return pairs / bench::seconds([&] {
               for (int i = 0; i < pairs; ++i)
                   pair();
           });
}

std::string name_of(unsigned owner) { return "bench/owner/" + std::to_string(owner); }

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: postgres_pair postgres://USER@HOST:PORT/DATABASE\n", stderr);
        return 2;
    }
    std::string const url = argv[1];
    holdfast::client client{url};
    holdfast::mutex mutex{client, "bench/pair"};
    (void)mutex.acquire().release();  // makes the tables

    {
        bench::bare_client bare{url};
        bench::duel(
            "postgres: acquire + release, one thread, both waited for",
            {"holdfast::mutex", [&] { return rate([&] { (void)mutex.acquire().release(); }); }},
            {"libpq, the same statements", [&] { return rate([&] { bare.pair("bench/bare"); }); }},
            rounds, 0.9);
        bare.make_table_for_writes();
        bench::duel(
            "postgres: beside two bare writes",
            {"holdfast::mutex", [&] { return rate([&] { (void)mutex.acquire().release(); }); }},
            {"an INSERT and a DELETE",
             [&] { return rate([&] { bare.write_twice("bench/bare"); }); }},
            rounds, std::nullopt);
    }
    std::vector<std::unique_ptr<holdfast::mutex>> mine;
    std::vector<std::unique_ptr<bench::bare_client>> bare;
    for (unsigned i = 0; i < owners; ++i) {
        mine.push_back(std::make_unique<holdfast::mutex>(client, name_of(i)));
        bare.push_back(std::make_unique<bench::bare_client>(url));
    }
    bench::duel(
        "postgres: acquire + release, 64 owners of names of their own",
        {"one client, four connections",
         [&] { return crowd_rate([&](unsigned i) { (void)mine[i]->acquire().release(); }); }},
        {"64 times libpq, the same statements",
         [&] { return crowd_rate([&](unsigned i) { bare[i]->pair("bare/" + name_of(i)); }); }},
        rounds, 0.8);
}
