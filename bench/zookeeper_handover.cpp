// Fair hand-over between processes on ZooKeeper, at 8 and at 64 waiters: beside the driver with the least that can hand a
// lock on in order, in as many processes. With further words it prints one line for tools/bench, which runs other libraries
// beside it: acquisitions and owner changes per second.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <holdfast/holdfast.hpp>

#include "base/url.hpp"
#include "crowd.hpp"
#include "duel.hpp"
#include "open_line.hpp"
#include "stores/zookeeper/driver.hpp"

namespace {

namespace compare = holdfast::stores::compare;
namespace zookeeper = holdfast::stores::zookeeper;

constexpr int rounds = 5;
constexpr std::chrono::milliseconds span{2'000};

/// Locks and unlocks by turns, until all is over.
template <class Lock>
void take_turns(Lock& lock, bench::tally& all, int who) {
    ++all.ready;
    while (!all.over) {
        lock.lock();
        all.enter(who);
        all.leave();
        lock.unlock();
    }
}

bench::crowd::member ours(std::string const& url) {
    return [url](bench::tally& all, int who) {
        holdfast::client client{url};
        holdfast::mutex mutex{client, "bench/crowd", {.order = holdfast::ordering::fair}};
        client.ping();
        take_turns(mutex, all, who);
    };
}

bench::crowd::member bare(std::string const& url) {
    return [url](bench::tally& all, int who) {
        bench::bare_member self{[&](compare::driver_events& events) {
            return std::make_unique<zookeeper::driver>(
                zookeeper::settings::parse(holdfast::base::url::parse(url)),
                [](auto, auto const&) {}, events);
        }};
        take_turns(self, all, who);
    };
}

struct rates {
    double acquired{0};
    double changes{0};
};

rates measure(int processes, std::chrono::milliseconds for_so_long,
              bench::crowd::member const& life) {
    bench::crowd const all{processes, 1, life};
    all.settle_in();
    auto const acquired = all.acquired();
    auto const changes = all.changes();
    auto const took = bench::seconds([&] { bench::crowd::pause(for_so_long); });
    return {double(all.acquired() - acquired) / took, double(all.changes() - changes) / took};
}

void print_duels(std::string const& url) {
    for (int const waiters : {8, 64}) {
        // One more than the waiters: somebody holds.
        auto const rate = [&](bench::crowd::member const& life) {
            return measure(waiters + 1, span, life).changes;
        };
        auto const row = "zookeeper: fair hand-over between processes, " + std::to_string(waiters) +
                         " of them waiting";
        bench::duel(row.c_str(), {"holdfast::mutex, fair", [&] { return rate(ours(url)); }},
                    {"the driver, an open line by hand", [&] { return rate(bare(url)); }}, rounds,
                    0.9);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2) {
        print_duels(argv[1]);
    } else if (argc == 4) {
        auto const found =
            measure(std::atoi(argv[2]), std::chrono::seconds{std::atoi(argv[3])}, ours(argv[1]));
        std::printf("%.0f %.0f\n", found.acquired, found.changes);
    } else {
        std::fputs("usage: zookeeper_handover zookeeper://127.0.0.1:PORT [PROCESSES SECONDS]\n",
                   stderr);
        return 2;
    }
}
