// What a person sees: messages on stderr, colours only where a terminal shows them.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::cli {

enum class colour { none, bold, dim, red, green, yellow };

/// Whether `descriptor` is a terminal on which colours are welcome (NO_COLOR, TERM=dumb).
[[nodiscard]] bool is_colourful(int descriptor) noexcept;

/// `text` in a colour when `on`.
[[nodiscard]] std::string painted(std::string_view text, colour colour, bool on);

/// The columns of the terminal behind `descriptor`; 80 when it does not say.
[[nodiscard]] std::size_t columns(int descriptor) noexcept;

/// The columns that valid UTF-8 takes, counting each code point as one.
[[nodiscard]] std::size_t width(std::string_view text) noexcept;

/// The longest beginning of `text` that fits, with an ellipsis where something was cut. Control
/// characters and what is not UTF-8, which labels and values of others may hold, become '?': they
/// could drive the terminal.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t columns);
[[nodiscard]] std::string harmless(std::string_view text);

/// The same as one word of a shell: in quotes where it needs them.
[[nodiscard]] std::string shell_word(std::string_view text);

/// Writes all of `text`, or returns false with errno set.
bool write_text(int descriptor, std::string_view text) noexcept;

/// Writes what a command was asked for to the standard output. Throws std::system_error: half an
/// answer, or none on a full disk, must not look like success.
void print_out(std::string_view text);

/// Throws what `print_out` throws, for a fault by its errno.
[[noreturn]] void refuse_output(int fault);

/// "holdfast: text" on stderr, without passwords.
void complain(std::string_view text);

}  // namespace holdfast::cli
