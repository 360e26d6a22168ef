// How much of a large count a run does: the only place that reads it.
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace holdfast::support {

/// Large counts and soaks are those of `make test-all`, which sets HOLDFAST_TEST_COUNTS=full. All other runs do a
/// twentieth.
template <class Number>
[[nodiscard]] Number large_count(Number full) {
    constexpr int part = 20;
    char const* const given = std::getenv("HOLDFAST_TEST_COUNTS");
    std::string_view const wanted = given == nullptr ? "" : given;
    if (wanted == "full") return full;
    if (wanted.empty()) return full / part;
    throw std::invalid_argument{"HOLDFAST_TEST_COUNTS is 'full' or not set, not '" +
                                std::string{wanted} + "'"};
}

}  // namespace holdfast::support
