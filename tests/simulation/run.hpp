// One run from one seed: a drawn world, chaos, healing, calm, and the end of all work.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "simulation/variant.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

struct run_result {
    std::optional<failure> failed{};
    std::string profile_words{};
    std::uint64_t steps{0};
    std::uint64_t holds{0};   ///< given to users
    std::uint64_t passes{0};  ///< of those, without the store
    std::uint64_t losses{0};
    std::uint64_t digest{0};  ///< of the trace, where that was asked for
};

[[nodiscard]] run_result run_seed(std::uint64_t seed, variant const& which = {},
                                  trace_mode trace = trace_mode::none);

/// "seed 7: early loss at 1.234567 s: …", with the command that shows the run again.
[[nodiscard]] std::string describe(std::uint64_t seed, run_result const& result);

}  // namespace holdfast::simulation
