// Percent-encoding, as URLs have it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::base {

/// Letters, digits, "-._~", bytes of non-ASCII characters and those of `also_bare` stay as they are.
[[nodiscard]] std::string percent_encode(std::string_view text, std::string_view also_bare);

/// Nothing when a percent sign is not followed by two hexadecimal digits, or when they are 00.
[[nodiscard]] std::optional<std::string> percent_decode(std::string_view text);

}  // namespace holdfast::base
