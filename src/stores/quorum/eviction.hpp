// How long an eviction may take from its first member to its last, and what waits for that.
#pragma once

#include <algorithm>
#include <chrono>

#include "stores/quorum/judgement.hpp"

namespace holdfast::stores::quorum {

/// Whoever evicts takes a member for silent after so long: what has been carried out in time was carried out within this
/// span.
[[nodiscard]] inline std::chrono::nanoseconds eviction_span(
    std::chrono::milliseconds longest_lease) {
    using std::chrono::milliseconds;
    constexpr milliseconds least{50};
    constexpr milliseconds most{2000};
    return std::clamp(longest_lease / 4, least, most);
}

/// So long a claim has to be missing at a member before the member gets it again. It may be missing there because it is
/// being evicted, and the other members are about to hear of it: whoever repaired the first of them at once, and then the
/// second, would undo the eviction behind its back. The clocks of both clients are taken to drift apart.
[[nodiscard]] inline std::chrono::nanoseconds repair_delay(
    std::chrono::milliseconds longest_lease) {
    auto const span = eviction_span(longest_lease);
    return span + 2 * span / drift;
}

}  // namespace holdfast::stores::quorum
