#include "base/duration.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace holdfast::base {

namespace {

struct unit {
    std::string_view name;
    double ms;
};
// From the longest to the shortest: the order in which they may follow each other.
constexpr std::array units{unit{"d", 86'400'000}, unit{"h", 3'600'000}, unit{"m", 60'000},
                           unit{"s", 1'000}, unit{"ms", 1}};
constexpr std::string_view digits = "0123456789.";

std::optional<double> number_of(std::string_view text) {
    double value = 0;
    auto const* const end = text.data() + text.size();
    auto const [stop, fault] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
    if (fault != std::errc{} || stop != end) return std::nullopt;
    return value;
}

// Of any length.
std::optional<double> in_ms(std::string_view text) {
    if (text.find_first_not_of(digits) == std::string_view::npos) {
        auto const seconds = number_of(text);
        return seconds ? std::optional{*seconds * 1'000} : std::nullopt;
    }
    double sum = 0;
    auto const* allowed = units.begin();
    while (!text.empty()) {
        auto const unit_at = std::min(text.find_first_not_of(digits), text.size());
        auto const value = number_of(text.substr(0, unit_at));
        text.remove_prefix(unit_at);
        auto const name = text.substr(0, text.find_first_of(digits));
        auto const* const found =
            std::find_if(allowed, units.end(), [&](unit const& each) { return each.name == name; });
        if (!value || found == units.end()) return std::nullopt;
        sum += *value * found->ms;
        allowed = found + 1;
        text.remove_prefix(name.size());
    }
    return sum;
}

}  // namespace

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
    auto const ms = in_ms(text);
    if (!ms || *ms > static_cast<double>(longest_duration.count())) return std::nullopt;
    return std::chrono::milliseconds{static_cast<std::int64_t>(std::ceil(*ms))};
}

std::string duration_fault(std::string_view text) {
    auto const quoted = "'" + std::string{text} + "'";
    if (in_ms(text))
        return quoted + " is too long: at most " + std::to_string(longest_duration_years) +
               " years";
    return quoted +
           " is not a duration: write 500ms, 10s, 2m, 1h, 1d, 1m30s, or a plain number of seconds";
}

}  // namespace holdfast::base
