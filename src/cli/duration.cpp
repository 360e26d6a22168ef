#include "duration.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "exit_status.hpp"

namespace holdfast::cli {

namespace {

constexpr double longest_ms = 100.0 * 366 * 24 * 3600 * 1000;

double unit_in_ms(std::string_view unit) {
    if (unit.empty() || unit == "s") return 1000;
    if (unit == "ms") return 1;
    if (unit == "m") return 60'000;
    if (unit == "h") return 3'600'000;
    return 0;
}

[[noreturn]] void refuse(std::string_view text) {
    throw usage_error{fmt::format(
        "'{}' is not a duration: write 500ms, 10s, 2m, 1h, or a plain number of seconds", text)};
}

}  // namespace

std::chrono::milliseconds parse_duration(std::string_view text) {
    auto const unit_at = text.find_first_not_of("0123456789.");
    auto const number = text.substr(0, unit_at);
    auto const unit = unit_at == std::string_view::npos ? "" : text.substr(unit_at);
    double value = 0;
    auto const [end, fault] = std::from_chars(number.data(), number.data() + number.size(), value,
                                              std::chars_format::fixed);
    double const scale = unit_in_ms(unit);
    if (fault != std::errc{} || end != number.data() + number.size() || scale == 0) refuse(text);
    if (value * scale > longest_ms)
        throw usage_error{fmt::format("'{}' is too long: at most 100 years", text)};
    return std::chrono::milliseconds{static_cast<std::int64_t>(std::ceil(value * scale))};
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
