// Passwords in store URLs: out of our own command line, out of every message.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace holdfast::cli {

/// A sentence of ours with every byte of the passwords in its URLs replaced by '*'; the rest as it is,
/// an '@' behind a URL included. A URL that may have blanks or quotes, as one that the user mistyped,
/// stands in quotes.
[[nodiscard]] std::string without_secrets(std::string_view text);

/// Overwrites the passwords in the process's own arguments, where `ps` reads them.
void blank_secrets(std::span<char*> arguments) noexcept;

}  // namespace holdfast::cli
