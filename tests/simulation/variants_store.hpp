// Stores that break the rules of the synchronizers, one rule each.
#pragma once

#include <vector>

#include "simulation/variants.hpp"

namespace holdfast::simulation {

[[nodiscard]] std::vector<broken_variant> odd_stores();

}  // namespace holdfast::simulation
