// Ports for the servers that tests start.
#pragma once

#include <cstdint>

namespace holdfast::support {

/// A port of 127.0.0.1 that nobody used a moment ago. Not thread-safe.
[[nodiscard]] std::uint16_t free_port();

}  // namespace holdfast::support
