// Times, identifiers and enumerations as the integers that rows hold.
#pragma once

#include <cstdint>
#include <type_traits>

#include "seam/request.hpp"

namespace holdfast::stores::file {

[[nodiscard]] constexpr std::int64_t count(seam::store_time when) noexcept {
    return when.time_since_epoch().count();
}

[[nodiscard]] constexpr seam::store_time moment(std::int64_t microseconds) noexcept {
    return seam::store_time{seam::store_clock::duration{microseconds}};
}

/// SQLite knows signed numbers of 64 bits only; the larger half of the unsigned ones is negative in
/// the file and comes back as it was.
template <class Enumeration>
requires std::is_enum_v<Enumeration>
[[nodiscard]] constexpr std::int64_t raw(Enumeration value) noexcept {
    return static_cast<std::int64_t>(value);
}

}  // namespace holdfast::stores::file
