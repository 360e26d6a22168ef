// Durations as people write and read them.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace holdfast::cli {

/// As `base::parse_duration` reads it. Throws `usage_error` with the accepted forms.
[[nodiscard]] std::chrono::milliseconds require_duration(std::string_view text);

/// For people: "0.3s", "12s", "2m 5s", "3h 1m", "2d 4h".
[[nodiscard]] std::string short_duration(std::chrono::milliseconds duration);

}  // namespace holdfast::cli
