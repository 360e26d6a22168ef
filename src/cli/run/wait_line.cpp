#include "run/wait_line.hpp"

#include <unistd.h>

#include "terminal.hpp"

namespace holdfast::cli {

namespace {
constexpr char const* clear_line = "\r\x1b[K";
}

wait_line::wait_line(bool wanted) noexcept : on_{wanted && ::isatty(STDERR_FILENO) == 1} {}

void wait_line::show(std::string_view text) {
    if (!on_) return;
    auto const room = columns(STDERR_FILENO) - 1;  // a full line would wrap and could not be erased
    auto const fit = fitted("holdfast: " + std::string{text}, room);
    write_text(STDERR_FILENO, clear_line + painted(fit, colour::dim, is_colourful(STDERR_FILENO)));
    drawn_ = true;
}

void wait_line::erase() noexcept {
    if (drawn_) write_text(STDERR_FILENO, clear_line);
    drawn_ = false;
}

}  // namespace holdfast::cli
