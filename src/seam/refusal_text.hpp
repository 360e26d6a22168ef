// The words of refusals, which are the same on every store.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <holdfast/info.hpp>

#include "seam/claim.hpp"

namespace holdfast::seam {

inline constexpr std::string_view not_held_text = "the claim to convert is not held";
inline constexpr std::string_view stronger_text =
    "a hold can be made weaker, not stronger: two that wait to be stronger would wait for each "
    "other";

/// With its article.
[[nodiscard]] inline std::string one_of(lock_kind kind) {
    return (kind == lock_kind::election ? "an " : "a ") + std::string{to_string(kind)};
}

/// `wanted` is what was asked for; null where a request has no claim.
[[nodiscard]] inline std::string kind_mismatch_text(claim_spec const* wanted, lock_kind found) {
    if (wanted == nullptr) return "it is in use as " + one_of(found);
    return "'" + wanted->name + "' is in use as " + one_of(found) + ", not as " +
           one_of(wanted->kind);
}

/// The same for the limit of a semaphore.
[[nodiscard]] inline std::string limit_mismatch_text(claim_spec const* wanted,
                                                     std::uint32_t declared) {
    auto const limit = " was declared with a limit of " + std::to_string(declared);
    if (wanted == nullptr) return "it" + limit;
    return "'" + wanted->name + "'" + limit + ", not " + std::to_string(wanted->limit);
}

}  // namespace holdfast::seam
