#include "duration.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "exit_status.hpp"

namespace holdfast::cli {

namespace {

constexpr double longest_ms = 100.0 * 366 * 24 * 3600 * 1000;

struct unit {
    std::string_view name;
    double ms;
};
// From the longest to the shortest: the order in which they may follow each other.
constexpr std::array units{unit{"d", 86'400'000}, unit{"h", 3'600'000}, unit{"m", 60'000},
                           unit{"s", 1000}, unit{"ms", 1}};

[[noreturn]] void refuse(std::string_view text) {
    throw usage_error{fmt::format(
        "'{}' is not a duration: write 500ms, 10s, 2m, 1h, 1d, 1m30s, or a plain number of seconds",
        text)};
}

constexpr char const* digits = "0123456789.";

double number_of(std::string_view whole, std::string_view number) {
    double value = 0;
    auto const* const end = number.data() + number.size();
    auto const [stop, fault] = std::from_chars(number.data(), end, value, std::chars_format::fixed);
    if (fault != std::errc{} || stop != end) refuse(whole);
    return value;
}

double in_ms(std::string_view whole) {
    if (whole.find_first_not_of(digits) == std::string_view::npos)
        return number_of(whole, whole) * 1000;
    double sum = 0;
    auto const* allowed = units.begin();
    for (auto rest = whole; !rest.empty();) {
        auto const unit_at = std::min(rest.find_first_not_of(digits), rest.size());
        auto const value = number_of(whole, rest.substr(0, unit_at));
        rest.remove_prefix(unit_at);
        auto const name = rest.substr(0, rest.find_first_of(digits));
        auto const* const found =
            std::find_if(allowed, units.end(), [&](unit const& each) { return each.name == name; });
        if (found == units.end()) refuse(whole);
        sum += value * found->ms;
        allowed = found + 1;
        rest.remove_prefix(name.size());
    }
    return sum;
}

}  // namespace

std::chrono::milliseconds parse_duration(std::string_view text) {
    double const ms = in_ms(text);
    if (ms > longest_ms)
        throw usage_error{fmt::format("'{}' is too long: at most 100 years", text)};
    return std::chrono::milliseconds{static_cast<std::int64_t>(std::ceil(ms))};
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
