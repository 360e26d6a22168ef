// Two measurements in alternating rounds: the machine is noisy, a ratio within one run is not.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bench {

/// Seconds that `work` takes.
template <class Work>
[[nodiscard]] double seconds(Work&& work) {
    auto const begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct spread {
    double low{0};
    double median{0};
    double high{0};
};

[[nodiscard]] inline spread spread_of(std::vector<double> values) {
    std::ranges::sort(values);
    return {values.front(), values[values.size() / 2], values.back()};
}

/// One side of a duel: a name, and how many operations per second one round of it made.
struct side {
    std::string name;
    std::function<double()> rate;
};

/// Runs both sides by turns and prints medians, and the ratio of ours to the limit with its spread
/// over the rounds. Returns the median ratio. Without a goal it tells where time goes.
inline double duel(char const* row, side const& ours, side const& limit, int rounds,
                   std::optional<double> goal) {
    std::vector<double> our_rates;
    std::vector<double> limit_rates;
    std::vector<double> ratios;
    (void)limit.rate();  // warm
    (void)ours.rate();
    for (int i = 0; i < rounds; ++i) {
        limit_rates.push_back(limit.rate());
        our_rates.push_back(ours.rate());
        ratios.push_back(our_rates.back() / limit_rates.back());
    }
    auto const ratio = spread_of(ratios);
    std::printf("%s\n", row);
    std::printf("  %-44s %12.0f /s\n", ours.name.c_str(), spread_of(our_rates).median);
    std::printf("  %-44s %12.0f /s\n", limit.name.c_str(), spread_of(limit_rates).median);
    std::printf("  ratio %.3f (%.3f to %.3f over %d rounds)", ratio.median, ratio.low, ratio.high,
                rounds);
    if (goal) std::printf(", goal %.2f: %s", *goal, ratio.median >= *goal ? "met" : "NOT met");
    std::puts("");
    std::fflush(stdout);
    return ratio.median;
}

}  // namespace bench
