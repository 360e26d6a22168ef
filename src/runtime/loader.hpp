// The loader: finds the module of a store by the scheme of its URL.
#pragma once

#include <string_view>

#include "seam/store.hpp"

namespace holdfast::runtime {

/// Loads the module on first use and keeps it for ever. Throws errc::bad_url for a scheme that
/// nobody knows, errc::unsupported for a store that this build or installation does not have.
/// Thread-safety: may be called from any thread at once.
[[nodiscard]] seam::store_module const& find_store(std::string_view scheme);

}  // namespace holdfast::runtime
