// ZooKeeper's numbers and this machine's times, as the family writes them.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/clock.hpp"
#include "stores/compare/session.hpp"

namespace holdfast::stores::zookeeper {

[[nodiscard]] inline compare::stamp stamp_of(std::int64_t zxid) noexcept {
    return compare::stamp{static_cast<std::uint64_t>(zxid)};
}

[[nodiscard]] inline seam::store_time store_time_of(base::instant when) noexcept {
    return seam::store_time{std::chrono::floor<std::chrono::microseconds>(when.time_since_epoch())};
}

}  // namespace holdfast::stores::zookeeper
