#include "duration.hpp"

#include <fmt/format.h>

#include "base/duration.hpp"
#include "exit_status.hpp"

namespace holdfast::cli {

std::chrono::milliseconds require_duration(std::string_view text) {
    if (auto const duration = base::parse_duration(text)) return *duration;
    throw usage_error{base::duration_fault(text)};
}

std::string short_duration(std::chrono::milliseconds duration) {
    auto const ms = duration.count() < 0 ? 0 : duration.count();
    auto const seconds = ms / 1000;
    if (ms < 10'000) return fmt::format("{}.{}s", seconds, ms % 1000 / 100);
    if (seconds < 60) return fmt::format("{}s", seconds);
    if (seconds < 3600) return fmt::format("{}m {}s", seconds / 60, seconds % 60);
    if (seconds < 86'400) return fmt::format("{}h {}m", seconds / 3600, seconds % 3600 / 60);
    return fmt::format("{}d {}h", seconds / 86'400, seconds % 86'400 / 3600);
}

}  // namespace holdfast::cli
