// Tries what an ability stands for, by every way into it.
#pragma once

#include <string>
#include <system_error>
#include <vector>

#include "conformance/context.hpp"

namespace holdfast::conformance {

/// One way to use an ability, and what came of it.
struct attempt {
    std::string what;
    /// None when it did what it is for. `errc::unsupported` also where nothing is refused but the
    /// effect is missing, as documented for the row.
    std::error_code error;
};

/// Uses the ability on a fresh store. It takes no notice of what the row says of itself.
[[nodiscard]] std::vector<attempt> probe(ability which, context& store);

/// What a row without the ability answers.
[[nodiscard]] std::error_code refusal_of(ability which);

/// Expects that the store refuses every use of the ability.
void expect_refused(ability which, context& store);

}  // namespace holdfast::conformance
