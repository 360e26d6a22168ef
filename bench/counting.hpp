// What a program of bench/peers prints of a crowd while it works.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "crowd.hpp"
#include "duel.hpp"

namespace bench {

/// Warms up, counts, and lets the work go on for a moment: whoever runs this looks at the server meanwhile.
inline void report(tally const& all, double seconds) {
    constexpr std::chrono::milliseconds warm_up{500};
    constexpr std::chrono::milliseconds go_on{400};
    crowd::pause(warm_up);
    std::puts("counting");
    std::fflush(stdout);
    std::uint64_t const pairs = all.acquired;
    std::uint64_t const changes = all.changes;
    auto const took = bench::seconds(
        [&] { crowd::pause(std::chrono::milliseconds{std::llround(1000 * seconds)}); });
    std::printf("{\"pairs\": %llu, \"changes\": %llu, \"seconds\": %.6f}\n",
                static_cast<unsigned long long>(all.acquired - pairs),
                static_cast<unsigned long long>(all.changes - changes), took);
    std::fflush(stdout);
    crowd::pause(go_on);
}

}  // namespace bench
