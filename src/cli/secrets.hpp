// Passwords in store URLs: out of our own command line, out of every message.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace holdfast::cli {

/// The text with every byte of a URL's password replaced by '*'; other text as it is.
[[nodiscard]] std::string without_secrets(std::string_view text);

/// Overwrites the passwords in the process's own arguments, where `ps` reads them.
void blank_secrets(std::span<char*> arguments) noexcept;

}  // namespace holdfast::cli
