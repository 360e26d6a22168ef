// Lock and unlock through a cluster, beside the same on one server: one owner, and many at once.
#include <cstdio>
#include <string>

#include <holdfast/holdfast.hpp>

#include "coroutine_owners.hpp"
#include "duel.hpp"

namespace {

constexpr int pairs = 5'000;
constexpr int rounds = 15;
constexpr double goal = 0.9;
// Three servers are to be of use, where the machine has cores for them.
constexpr double goal_of_many = 1.0;

class one_owner {
public:
    explicit one_owner(holdfast::client& client) : mutex_{client, "bench/pair"} {}

    [[nodiscard]] double rate() {
        return pairs / bench::seconds([&] {
                   for (int i = 0; i < pairs; ++i)
                       (void)mutex_.acquire().release();
               });
    }

private:
    holdfast::mutex mutex_;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: redis_cluster redis://SERVER redis+cluster://NODES\n", stderr);
        return 2;
    }
    holdfast::client of_server{argv[1]};
    holdfast::client of_cluster{argv[2]};
    one_owner here{of_server};
    one_owner there{of_cluster};
    bench::duel("redis: acquire + release, one thread, through a cluster",
                {"redis+cluster://", [&] { return there.rate(); }},
                {"redis://, one server", [&] { return here.rate(); }}, rounds, goal);
    bench::coroutine_owners many_here{of_server};
    bench::coroutine_owners many_there{of_cluster};
    bench::duel("redis: 256 owners on names of their own, through a cluster of three masters",
                {"redis+cluster://", [&] { return many_there.rate(); }},
                {"redis://, one server", [&] { return many_here.rate(); }}, rounds, goal_of_many);
}
