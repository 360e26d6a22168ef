// The promises over many seeds. HOLDFAST_SEEDS says how many in all; a failing one is printed with the
// command that shows it.
#include <cstdlib>
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

TEST(replay, the_same_seed_gives_the_same_run) {
    for (std::uint64_t seed = 1000000; seed < 1000016; ++seed) {  // of every theme
        auto const first = run_seed(seed);
        auto const again = run_seed(seed);
        EXPECT_EQ(first.steps, again.steps) << "seed " << seed;
        EXPECT_EQ(first.holds, again.holds);
        EXPECT_EQ(first.losses, again.losses);
        EXPECT_EQ(first.profile_words, again.profile_words);
    }
}

}  // namespace
}  // namespace holdfast::simulation
