// The checkers can fail: each deliberate fault is seen, by the checker whose promise it breaks, within
// a bounded number of seeds.
#include "simulation/variants.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "simulation/run.hpp"

namespace holdfast::simulation {
namespace {

constexpr std::uint64_t enough = 400;  // seeds of its theme

class variants_test : public ::testing::TestWithParam<broken_variant> {};

TEST_P(variants_test, is_caught) {
    auto const& [which, seen_by, about, shows_in] = GetParam();
    std::uint64_t runs = 0;
    for (std::uint64_t seed = 1; runs < enough; ++seed) {
        if (theme_of(seed) != about) continue;
        base::random draws{seed};
        auto const plan = draw_profile(draws, seed);
        // Faults of rules and of clients show where the rules are at the store, unless it is said.
        if (shows_in != nullptr ? !shows_in(plan) : plan.compares()) continue;
        ++runs;
        auto const result = run_seed(seed, which);
        if (!result.failed) continue;
        if (std::ranges::find(seen_by, result.failed->checker) == seen_by.end()) continue;
        RecordProperty("seed", static_cast<int>(seed));
        return;
    }
    FAIL() << "no checker of those that should has seen '" << which.name << "' in " << enough
           << " seeds";
}

std::string name_of(::testing::TestParamInfo<broken_variant> const& it) {
    auto name = it.param.which.name;
    std::ranges::replace(name, '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(all, variants_test, ::testing::ValuesIn(broken_variants()), name_of);

}  // namespace
}  // namespace holdfast::simulation
