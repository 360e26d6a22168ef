// The promises over many seeds. HOLDFAST_SEEDS says how many in all; a failing one is printed with the
// command that shows it.
#include <cstdlib>
#include <map>
#include <ranges>
#include <string>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "simulation/run.hpp"
#include "support/counts.hpp"

namespace holdfast::simulation {
namespace {

constexpr std::uint64_t parts = 8;  // cases, so that several processes can share them

std::uint64_t seeds() {
    char const* const asked = std::getenv("HOLDFAST_SEEDS");
    auto const usual = support::large_count(std::uint64_t{48'000});
    if (asked == nullptr) return usual;
    auto const count = base::parse_number(asked);
    EXPECT_TRUE(count && *count > 0) << "HOLDFAST_SEEDS=" << asked << " is not a number of seeds";
    return count.value_or(usual);
}

class seeds_test : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(seeds_test, keep_all_promises) {
    std::uint64_t holds = 0;
    std::uint64_t lost = 0;
    for (auto seed = 1 + GetParam(); seed <= seeds(); seed += parts) {
        auto const result = run_seed(seed);
        EXPECT_FALSE(result.failed) << describe(seed, result);
        holds += result.holds;
        lost += result.losses;
    }
    // A world in which nothing happens proves nothing.
    if (seeds() >= 100 * parts) {
        EXPECT_GT(holds, 10 * seeds() / parts);
        EXPECT_GT(lost, seeds() / parts / 10);
    }
}

INSTANTIATE_TEST_SUITE_P(part, seeds_test, ::testing::Range(std::uint64_t{0}, parts));

// Whatever was run before: nothing may depend on where things lie in memory. So the runs are made twice, in the
// opposite order, which leaves each of them another memory.
TEST(replay, the_same_seed_gives_the_same_run) {
    std::map<std::uint64_t, run_result> first;
    for (std::uint64_t seed = 1000000; seed < 1000064; ++seed) {
        base::random draws{seed};
        bool const compares = draw_profile(draws, seed).compares();
        if (seed < 1000016 || compares)  // of every theme, and of every store
            first.emplace(seed, run_seed(seed, {}, trace_mode::digested));
    }
    for (auto const& [seed, before] : std::ranges::reverse_view{first}) {
        auto const again = run_seed(seed, {}, trace_mode::digested);
        EXPECT_EQ(before.digest, again.digest) << "seed " << seed;
        EXPECT_EQ(before.steps, again.steps) << "seed " << seed;
        EXPECT_EQ(before.profile_words, again.profile_words);
    }
}

}  // namespace
}  // namespace holdfast::simulation
