// The memory store's entry. It is part of the library itself, never a module of its own.
#pragma once

#include "seam/store.hpp"

namespace holdfast::stores::memory {

[[nodiscard]] seam::store_module const& module() noexcept;

}  // namespace holdfast::stores::memory
