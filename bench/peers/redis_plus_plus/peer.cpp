// RedMutex of redis-plus-plus with its defaults; see bench/peers/README.md for the interface.
//
// usage: peer_redis_plus_plus PORT one|many_threads|threads|processes|start SECONDS
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include <sw/redis++/patterns/redlock.h>
#include <sw/redis++/redis++.h>

#include "../../counting.hpp"
#include "../../crowd.hpp"

namespace {

using bench::tally;
using sw::redis::LockWatcher;
using sw::redis::Redis;
using sw::redis::RedMutex;

constexpr auto name = "bench-peer";

/// By default all threads would take turns at one connection.
std::shared_ptr<Redis> connect(int port, int owners) {
    sw::redis::ConnectionOptions server;
    server.host = "127.0.0.1";
    server.port = port;
    sw::redis::ConnectionPoolOptions pool;
    pool.size = static_cast<std::size_t>(owners);
    return std::make_shared<Redis>(server, pool);
}

void live(std::shared_ptr<Redis> const& redis, std::shared_ptr<LockWatcher> const& watcher,
          std::string const& which, auto const& inside) {
    sw::redis::RedMutexOptions options;
    options.ttl = std::chrono::seconds{30};
    RedMutex mutex{redis, which, nullptr, options, watcher};
    for (bool on = true; on;) {
        mutex.lock();
        on = inside();
        mutex.unlock();
    }
}

/// Threads go on until the process ends.
void in_threads(int port, int count, bool shared, double seconds) {
    static tally all;
    auto const redis = connect(port, count);
    auto const watcher = std::make_shared<LockWatcher>();
    for (int i = 0; i < count; ++i)
        std::thread{[=] {
            if (shared) {
                live(redis, watcher, name, [=] {
                    all.enter(i);
                    all.leave();
                    return true;
                });
            } else {
                live(redis, watcher, std::string{name} + "/" + std::to_string(i), [] {
                    all.acquired.fetch_add(1, std::memory_order_relaxed);
                    return true;
                });
            }
        }}.detach();
    bench::report(all, seconds);
}

void in_processes(int port, double seconds) {
    bench::crowd const members{8, 1, [=](tally& all, int who) {
                                   auto const redis = connect(port, 1);
                                   (void)redis->ping();
                                   ++all.ready;
                                   live(redis, std::make_shared<LockWatcher>(), name, [&] {
                                       all.enter(who);
                                       all.leave();
                                       return !all.over;
                                   });
                               }};
    members.settle_in();
    bench::report(members.counts(), seconds);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fputs("usage: peer_redis_plus_plus PORT WORKLOAD SECONDS\n", stderr);
        return 2;
    }
    int const port = std::atoi(argv[1]);
    std::string_view const workload{argv[2]};
    double const seconds = std::atof(argv[3]);
    if (workload == "one") {
        in_threads(port, 1, false, seconds);
    } else if (workload == "many_threads") {
        in_threads(port, 256, false, seconds);
    } else if (workload == "threads") {
        in_threads(port, 64, true, seconds);
    } else if (workload == "processes") {
        in_processes(port, seconds);
    } else if (workload == "start") {
        live(connect(port, 1), std::make_shared<LockWatcher>(), name, [] { return false; });
        std::puts("{\"pairs\": 1}");
    } else {
        return 2;
    }
    std::fflush(stdout);
    std::_Exit(0);
}
