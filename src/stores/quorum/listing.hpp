// What a majority of the members shows.
#pragma once

#include <cstddef>

#include "stores/quorum/round.hpp"

namespace holdfast::stores::quorum {

/// One page of those that the members have answered with.
[[nodiscard]] seam::page merged_page(round const& in, seam::inspect const& what,
                                     std::size_t majority);

}  // namespace holdfast::stores::quorum
