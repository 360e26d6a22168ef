// What a majority of the members shows.
#pragma once

#include <cstddef>

#include "stores/quorum/round.hpp"

namespace holdfast::stores::quorum {

/// One page of those that the members have answered with.
[[nodiscard]] seam::page merged_page(round const& in, seam::inspect const& what,
                                     std::size_t majority);

/// What most was evicted at one member.
[[nodiscard]] seam::evicted most_evicted(round const& in);

}  // namespace holdfast::stores::quorum
