// latch: go on when all workers are ready, wherever they run.
#include <chrono>
#include <iostream>
#include <thread>
#include <vector>

#include <holdfast/holdfast.hpp>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
    auto const* const url = argc > 1 ? argv[1] : "memory:";
    constexpr std::uint32_t workers = 3;

    // Each of these would be a process of its own.
    std::vector<std::jthread> crowd;
    for (std::uint32_t i = 0; i < workers; ++i) {
        crowd.emplace_back([url] {
            holdfast::client client{url};
            holdfast::latch ready{client, "deploy/ready", workers};
            // ... load, connect, warm up ...
            ready.count_down();
        });
    }

    holdfast::client client{url};
    holdfast::latch ready{client, "deploy/ready", workers};
    if (!ready.wait_for(10s)) {
        std::cout << ready.count() << " workers are missing\n";
        return 1;
    }
    std::cout << "all workers are ready\n";

    // Who comes later finds it open, and need not know how many there were.
    holdfast::latch later{client, "deploy/ready"};
    later.wait();

    // The next deployment begins with a new round.
    ready.reset(workers);
    return later.try_wait() ? 1 : 0;
}
