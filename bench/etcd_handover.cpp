// Fair hand-over between processes on etcd, at 8 and at 64 waiters: beside the driver with the least that can hand a
// lock on in order, in as many processes.
#include <cstdio>
#include <string>

#include <holdfast/holdfast.hpp>

#include "base/url.hpp"
#include "crowd.hpp"
#include "duel.hpp"
#include "open_line.hpp"
#include "stores/etcd/driver.hpp"

namespace {

namespace compare = holdfast::stores::compare;
namespace etcd = holdfast::stores::etcd;

constexpr int rounds = 5;
constexpr std::chrono::milliseconds span{2'000};

bench::crowd::member bare(std::string const& url) {
    return [url](bench::tally& all, int who) {
        bench::bare_member self{[&](compare::driver_events& events) {
            return etcd::make_driver(
                etcd::settings::parse(holdfast::base::url::parse(url)), [](auto, auto const&) {},
                events);
        }};
        ++all.ready;
        while (!all.over) {
            self.lock();
            all.enter(who);
            all.leave();
            self.unlock();
        }
    };
}

bench::crowd::member ours(std::string const& url) {
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
double rate(int waiters, bench::crowd::member const& life) {
    bench::crowd const all{waiters + 1, 1, life};
    all.settle_in();
    auto const before = all.changes();
    auto const took = bench::seconds([] { bench::crowd::pause(span); });
    return double(all.changes() - before) / took;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: etcd_handover etcd://127.0.0.1:PORT\n", stderr);
        return 2;
    }
    std::string const url = argv[1];
    for (int const waiters : {8, 64}) {
        auto const row = "etcd: fair hand-over between processes, " + std::to_string(waiters) +
                         " of them waiting";
        bench::duel(row.c_str(),
                    {"holdfast::mutex, fair", [&] { return rate(waiters, ours(url)); }},
                    {"the driver, an open line by hand", [&] { return rate(waiters, bare(url)); }},
                    rounds, 0.9);
    }
}
