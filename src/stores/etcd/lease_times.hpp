// What etcd tells of the time that a lease has left.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace holdfast::stores::etcd {

/// How much of a lease has passed by what is left of it, in whole seconds rounded down; none when that says nothing. A new
/// leader gives more than was granted, and the next sign of life takes it back, so that it does not count. One that has just
/// ceased to be the leader may say "for ever".
[[nodiscard]] constexpr std::optional<std::chrono::seconds> passed_of_lease(
    std::int64_t granted, std::int64_t left) noexcept {
    constexpr std::int64_t longest = 9'000'000'000;  // etcd grants no more
    if (left <= 0 || left > longest) return std::nullopt;
    return std::chrono::seconds{granted - std::min(granted, left)};
}

}  // namespace holdfast::stores::etcd
