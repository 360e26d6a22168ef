// Many held leases, renewed by one client: none lost, little of a core, little memory.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include <holdfast/holdfast.hpp>

#include "duel.hpp"

namespace {

double cpu_seconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    auto const of = [](timeval const& t) { return double(t.tv_sec) + double(t.tv_usec) / 1e6; };
    return of(used.ru_utime) + of(used.ru_stime);
}

double resident_bytes() {
    std::ifstream file{"/proc/self/statm"};
    double total = 0;
    double resident = 0;
    file >> total >> resident;
    return resident * double(::sysconf(_SC_PAGESIZE));
}

}  // namespace

int main(int argc, char** argv) {
    std::size_t const count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100'000;
    auto const watch = std::chrono::seconds{argc > 2 ? std::atoi(argv[2]) : 40};
    std::string const url = argc > 3 ? argv[3] : "memory:";
    holdfast::client client{url};
    client.ping();  // what is there once belongs to no lease
    std::vector<holdfast::lease> held;
    held.reserve(count);
    auto const before = resident_bytes();
    for (std::size_t i = 0; i < count; ++i)
        held.push_back(holdfast::mutex{client, "lease/" + std::to_string(i)}.acquire());
    auto const each = (resident_bytes() - before) / double(count);
    auto const busy = cpu_seconds();
    auto const took = bench::seconds([&] { std::this_thread::sleep_for(watch); });
    auto const share = (cpu_seconds() - busy) / took;
    std::size_t lost = 0;
    for (auto const& lease : held)
        if (!lease.held()) ++lost;
    auto const counters = client.metrics();
    std::printf("%zu leases of 30 s held for %.0f s by one client on %s\n", count, took,
                client.url().c_str());
    std::printf("  lost %zu, renewals %llu, requests %llu\n", lost,
                static_cast<unsigned long long>(counters.at("renewals")),
                static_cast<unsigned long long>(counters.at("requests")));
    std::printf("  %.1f %% of a core, goal 10: %s\n", share * 100,
                share <= 0.1 ? "met" : "NOT met");
    std::printf("  %.0f bytes each%s, goal 1024: %s\n", each,
                url == "memory:" ? " with the store in the same process" : "",
                each <= 1024 ? "met" : "NOT met");
    return lost == 0 ? 0 : 1;
}
