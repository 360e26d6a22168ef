// Fair hand-over between processes on MariaDB, at 1 and at 8 waiters.
#include <cstdio>
#include <string>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "crowd.hpp"
#include "duel.hpp"

namespace {

constexpr int rounds = 5;
constexpr std::chrono::milliseconds span{2'000};

bench::crowd::member taking_turns(std::string const& url) {
    return [url](bench::tally& all, int who) {
        holdfast::client client{url};
        holdfast::mutex mutex{client, "bench/crowd", {.order = holdfast::ordering::fair}};
        client.ping();
        ++all.ready;
        while (!all.over) {
            mutex.lock();
            all.enter(who);
            all.leave();
            mutex.unlock();
        }
    };
}

/// Hand-overs per second. One more than the waiters: somebody holds.
double rate(int waiters, std::string const& url) {
    bench::crowd const all{waiters + 1, 1, taking_turns(url)};
    all.settle_in();
    auto const before = all.changes();
    auto const took = bench::seconds([] { bench::crowd::pause(span); });
    return double(all.changes() - before) / took;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: mysql_handover mysql://USER@HOST:PORT/DATABASE\n", stderr);
        return 2;
    }
    for (int const waiters : {1, 8}) {
        std::vector<double> rates;
        for (int i = 0; i < rounds; ++i)
            rates.push_back(rate(waiters, argv[1]));
        auto const found = bench::spread_of(rates);
        std::printf("mysql: fair hand-over between processes, %d waiting: %.0f /s (%.0f to %.0f)\n",
                    waiters, found.median, found.low, found.high);
    }
}
