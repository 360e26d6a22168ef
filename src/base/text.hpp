// Small questions about text: names and numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::base {

/// The longest legal name, in bytes.
inline constexpr std::size_t longest_name = 512;

/// Why `name` is not a legal name; nothing when it is: 1 to 512 bytes of valid UTF-8 without
/// control characters.
[[nodiscard]] std::optional<std::string> name_fault(std::string_view name);

/// A decimal number without sign, at most `limit`.
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text,
                                                        std::uint64_t limit = UINT64_MAX);

/// Words of others as a part of our own: without the secret, control characters as blanks, no longer than `most`.
[[nodiscard]] std::string quotable(std::string_view words, std::string_view secret,
                                   std::size_t most);
/// With asterisks in place of the secret.
[[nodiscard]] std::string without_secret(std::string_view words, std::string_view secret);

/// 16 hexadecimal digits.
inline constexpr std::size_t hex_digits = 16;
void write_hex(std::uint64_t value, char* to) noexcept;
[[nodiscard]] std::string hex(std::uint64_t value);

[[nodiscard]] std::optional<std::uint64_t> parse_hex(std::string_view text);

}  // namespace holdfast::base
