// What the system must do for a test to go on.
#pragma once

#include <cerrno>
#include <system_error>

namespace holdfast::support {

/// Throws what `errno` says, unless the call was met.
inline void require(bool met, char const* what) {
    if (!met) throw std::system_error{errno, std::generic_category(), what};
}

}  // namespace holdfast::support
