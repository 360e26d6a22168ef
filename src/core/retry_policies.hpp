// What the core must know of the retry policies that we offer.
#pragma once

#include <holdfast/retry.hpp>

namespace holdfast::core {

/// Whether this is retry::never(), which must not queue at the store.
[[nodiscard]] bool is_never(retry::policy const& policy) noexcept;

}  // namespace holdfast::core
