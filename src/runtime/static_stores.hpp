// The stores of this build, as written by CMake into a generated source (cmake/static_stores.cpp.in).
#pragma once

#include <span>
#include <string_view>

namespace holdfast::seam {
struct store_module;
}

namespace holdfast::runtime {

// A store that is linked into the library.
struct static_store {
    std::string_view name;
    std::string_view schemes;  // separated by spaces
    seam::store_module const* (*entry)();
};

// A store that this version has, whether or not it was built. The module of a store is
// holdfast_store_<name>.so. `memory:` is part of the library and not listed.
struct known_store {
    std::string_view name;
    std::string_view schemes;  // separated by spaces
    bool built;                // false: switched off, or a library that it needs was missing
};

// Empty when all stores are modules.
[[nodiscard]] std::span<static_store const> static_stores() noexcept;

[[nodiscard]] std::span<known_store const> known_stores() noexcept;

}  // namespace holdfast::runtime
