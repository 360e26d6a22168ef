// What a person is told about an error of the library.
#pragma once

#include <string>
#include <system_error>

namespace holdfast::cli {

/// The words of the error without the general ones of its code behind them, where it has words of its own, and with what
/// to do about it where the command knows more than the library.
[[nodiscard]] std::string text_of(std::system_error const& error);

}  // namespace holdfast::cli
