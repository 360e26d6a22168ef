#include "terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <sys/ioctl.h>
#include <unistd.h>

#include "secrets.hpp"

namespace holdfast::cli {

namespace {

char const* code(colour colour) noexcept {
    switch (colour) {
    case colour::bold: return "\x1b[1m";
    case colour::dim: return "\x1b[2m";
    case colour::red: return "\x1b[31m";
    case colour::green: return "\x1b[32m";
    case colour::yellow: return "\x1b[33m";
    case colour::none: break;
    }
    return "";
}

bool starts_code_point(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

// The length of the code point that `text` begins with; 0 when it is none, or controls a terminal.
std::size_t printable(std::string_view text) noexcept {
    auto const first = static_cast<unsigned char>(text.front());
    if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : 0;
    std::size_t const length = first < 0xC2   ? 0
                               : first < 0xE0 ? 2
                               : first < 0xF0 ? 3
                               : first < 0xF5 ? 4
                                              : 0;
    if (length == 0 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if (starts_code_point(text[i])) return 0;
    bool const is_c1_control = first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0;
    return is_c1_control ? 0 : length;
}

}  // namespace

bool is_colourful(int descriptor) noexcept {
    // https://no-color.org: any value but the empty one switches colours off.
    if (char const* no_color = std::getenv("NO_COLOR"); no_color && *no_color) return false;
    char const* term = std::getenv("TERM");
    return term && std::string_view{term} != "dumb" && ::isatty(descriptor) == 1;
}

std::string painted(std::string_view text, colour colour, bool on) {
    if (!on || colour == colour::none) return std::string{text};
    return code(colour) + std::string{text} + "\x1b[0m";
}

std::size_t columns(int descriptor) noexcept {
    winsize size{};
    if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

std::size_t width(std::string_view text) noexcept {
    std::size_t count = 0;
    for (char const c : text)
        count += starts_code_point(c) ? 1U : 0U;
    return count;
}

// Bytes that are not UTF-8 may be control characters of a terminal that does not use it.
std::string harmless(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        auto const length = printable(text);
        out += length > 0 ? text.substr(0, length) : "?";
        text.remove_prefix(std::max<std::size_t>(length, 1));
        // The rest of a code point that was not printable is not worth more question marks.
        while (length == 0 && !text.empty() && !starts_code_point(text.front()))
            text.remove_prefix(1);
    }
    return out;
}

std::string shell_word(std::string_view text) {
    constexpr auto plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+=,";
    auto const shown = harmless(text);
    if (!shown.empty() && shown.front() != '-' && shown.find_first_not_of(plain) == shown.npos)
        return shown;
    std::string out = "'";
    for (char const c : shown)
        out += c == '\'' ? std::string{"'\\''"} : std::string{c};
    return out + "'";
}

std::string fitted(std::string_view text, std::size_t columns) {
    if (width(text) <= columns) return harmless(text);
    std::size_t end = 0;
    for (std::size_t seen = 0; end < text.size(); ++end)
        if (starts_code_point(text[end]) && ++seen > columns - 1) break;
    return harmless(text.substr(0, end)) + "…";
}

bool write_text(int descriptor, std::string_view text) noexcept {
    while (!text.empty()) {
        auto const written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written == 0) errno = EIO;
        if (written <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

void print_out(std::string_view text) {
    if (!write_text(STDOUT_FILENO, text)) refuse_output(errno);
}

void refuse_output(int fault) {
    throw std::system_error{fault, std::generic_category(), "cannot write the output"};
}

void complain(std::string_view text) {
    bool const on = is_colourful(STDERR_FILENO);
    write_text(STDERR_FILENO,
               painted("holdfast:", colour::red, on) + " " + without_secrets(text) + "\n");
}

}  // namespace holdfast::cli
