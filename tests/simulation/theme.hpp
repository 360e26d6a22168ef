// What the users of one run do: each synchronizer has its own share of the seeds.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::simulation {

enum class theme { locks, readers, permits, fair, latch, barrier, election, condition, together };

/// The theme of a seed: half of the seeds are about locks, and a sixteenth about each of the others.
[[nodiscard]] theme theme_of(std::uint64_t seed) noexcept;
[[nodiscard]] char const* to_string(theme it) noexcept;
[[nodiscard]] std::optional<theme> find_theme(std::string_view name) noexcept;

}  // namespace holdfast::simulation
