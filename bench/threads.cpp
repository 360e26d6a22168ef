// Sixty-four threads of one process on one name: the local line beside one round trip per acquire.
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include <holdfast/holdfast.hpp>

#include "duel.hpp"

namespace {

constexpr int threads = 64;

double rate(holdfast::mutex& mutex, int each) {
    return threads * each / bench::seconds([&] {
               std::vector<std::jthread> all;
               for (int i = 0; i < threads; ++i) {
                   all.emplace_back([&] {
                       for (int k = 0; k < each; ++k) {
                           mutex.lock();
                           mutex.unlock();
                       }
                   });
               }
           });
}

}  // namespace

int main(int argc, char** argv) {
    std::string const url =
        argc > 1 ? argv[1] : "file:bench-threads-" + std::to_string(::getpid()) + ".db";
    holdfast::client client{url};
    holdfast::mutex line{client, "bench"};
    // A fair claim never uses the local line: each acquire goes to the store.
    holdfast::mutex trips{client, "bench", {.order = holdfast::ordering::fair}};
    bench::duel("64 threads, one name, file:",
                {"barging: the local line", [&] { return rate(line, 1'000); }},
                {"fair: a round trip per acquire", [&] { return rate(trips, 20); }}, 7, 10);
}
