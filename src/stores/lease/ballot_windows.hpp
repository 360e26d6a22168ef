// The ballots of all names by their age, for names of which nothing is remembered.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "seam/request.hpp"

namespace holdfast::stores::lease {

/// The highest ballots that were granted in this window of time, in the one before, and in all earlier ones.
///
/// A name's own last ballot is remembered for `ballot_kept`. By then it is in `floor`: nothing is ever forgotten, and
/// a ballot that was granted less than one window ago is in the way of no other name.
struct ballot_windows {
    static constexpr std::chrono::microseconds length{std::chrono::seconds{5}};

    std::int64_t window{0};
    std::uint64_t recent{0};
    std::uint64_t older{0};
    std::uint64_t floor{0};

    /// To the window of this moment. A clock that has gone back, or was away for long, has no window before: all that
    /// there was counts for every name.
    void turn(seam::store_time now) noexcept {
        auto const current = now.time_since_epoch() / length;
        if (current == window) return;
        floor = std::max(floor, older);
        if (current != window + 1) floor = std::max(floor, recent);
        older = current == window + 1 ? recent : 0;
        recent = 0;
        window = current;
    }

    void note(seam::sequence ballot) noexcept {
        recent = std::max(recent, static_cast<std::uint64_t>(ballot));
    }
};

/// How long the last ballot of a name is remembered.
inline constexpr std::chrono::microseconds ballot_kept = 2 * ballot_windows::length;

}  // namespace holdfast::stores::lease
