// How much of a lease is over when it is told.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

#include "seam/reply.hpp"

namespace holdfast::stores::quorum {

/// A hold as one member told it.
struct told_hold {
    seam::grant held;
    seam::store_time now{};  ///< by the member's clock, when it did
};

/// How much less than the lease that was asked for a majority of these still had to give when it was asked. Where claims
/// live with a session of their client, they end with it, and its last sign of life may be older than the request.
[[nodiscard]] inline std::chrono::microseconds used_up_of(std::vector<told_hold> const& of,
                                                          std::chrono::milliseconds lease,
                                                          std::size_t majority) {
    using std::chrono::microseconds;
    std::vector<microseconds> gone;
    for (auto const& [held, now] : of) {
        auto const given = held.lease > held.lease.zero() ? held.lease : lease;
        gone.push_back(std::max(microseconds::zero(), now - held.began + (lease - given)));
    }
    if (gone.size() < majority) return lease;
    std::ranges::sort(gone);
    return gone[majority - 1];
}

}  // namespace holdfast::stores::quorum
