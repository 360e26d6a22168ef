// barrier: workers that take every step together; one that fails is noticed by all.
#include <chrono>
#include <iostream>
#include <system_error>
#include <thread>
#include <vector>

#include <holdfast/holdfast.hpp>

using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t parties = 3;

void work(char const* url) {
    holdfast::client client{url};
    holdfast::barrier meeting{client, "simulation/step", parties};
    for (int i = 0; i < 4; ++i) {
        // ... compute our part of the step ...
        // The same number for all.
        auto const generation = meeting.arrive_and_wait();
        if (generation == 3) std::cout << "a worker has seen all steps\n";
    }
}

}  // namespace

int main(int argc, char** argv) {
    auto const* const url = argc > 1 ? argv[1] : "memory:";
    {
        std::vector<std::jthread> crowd;
        for (std::uint32_t i = 0; i < parties; ++i)
            crowd.emplace_back([url] { work(url); });
    }

    // A party that waits no longer, or dies, breaks the barrier for all until it is reset.
    holdfast::client client{url};
    holdfast::barrier meeting{client, "simulation/step", parties};
    if (meeting.arrive_and_wait_for(20ms)) return 1;
    try {
        meeting.arrive_and_wait();
        return 1;
    } catch (std::system_error const& error) {
        std::cout << error.what() << '\n';
        if (error.code() != holdfast::errc::broken_barrier) return 1;
    }
    meeting.reset();
    return 0;
}
