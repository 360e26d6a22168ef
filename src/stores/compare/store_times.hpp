// Times of this machine and numbers of a server, as the family writes them.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/clock.hpp"
#include "seam/request.hpp"

namespace holdfast::stores::compare {

/// For a store without a clock, whose time is this machine's own.
[[nodiscard]] inline seam::store_time store_time_of(base::instant when) noexcept {
    return seam::store_time{std::chrono::floor<std::chrono::microseconds>(when.time_since_epoch())};
}

/// Microseconds since 1970 by the server's clock.
[[nodiscard]] inline seam::store_time store_time_of(std::int64_t microseconds) noexcept {
    return seam::store_time{std::chrono::microseconds{microseconds}};
}

}  // namespace holdfast::stores::compare
