// Durations as people write them, on the command line and in the URL of a store.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::base {

/// The longest duration that is taken: 100 years. Two of them fit into 64-bit nanoseconds.
inline constexpr int longest_duration_years = 100;
inline constexpr std::chrono::milliseconds longest_duration =
    longest_duration_years * std::chrono::days{366};

/// 500ms, 10s, 2m, 1h, 1d, and several from the longest to the shortest: 1m30s; a plain number is seconds; decimals
/// are allowed. Rounded up to milliseconds. Nothing for any other text and for more than `longest_duration`.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

/// Why `parse_duration` takes this text for no duration, and how one is written.
[[nodiscard]] std::string duration_fault(std::string_view text);

}  // namespace holdfast::base
