#include "run/foreground.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace holdfast::cli {

// The controlling terminal and not stdin: Ctrl-C must reach a command whose input is redirected.
foreground::foreground() noexcept : terminal_{::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)} {}

bool foreground::is_ours() const noexcept { return is_of(::getpgrp()); }

bool foreground::is_of(pid_t group) const noexcept {
    return terminal_ && ::tcgetpgrp(terminal_.get()) == group;
}

void foreground::give_to(pid_t group) noexcept {
    if (terminal_) ::tcsetpgrp(terminal_.get(), group);
}

void foreground::take_back_from(pid_t group) noexcept {
    if (is_of(group)) ::tcsetpgrp(terminal_.get(), ::getpgrp());
}

}  // namespace holdfast::cli
