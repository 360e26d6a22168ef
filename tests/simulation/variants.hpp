// The product with one deliberate fault each, to prove that the checkers can fail.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "simulation/profile.hpp"
#include "simulation/theme.hpp"
#include "simulation/variant.hpp"

namespace holdfast::simulation {

/// A fault and the checkers that may be the first to see it.
struct broken_variant {
    variant which;
    std::vector<std::string_view> seen_by;
    theme about{theme::locks};  ///< the seeds in which it shows
    bool (*shows_in)(profile const&){
        nullptr};  ///< of those, the runs in which it can; all without one
};

[[nodiscard]] std::vector<broken_variant> const& broken_variants();
[[nodiscard]] std::optional<variant> find_variant(std::string_view name);

}  // namespace holdfast::simulation
