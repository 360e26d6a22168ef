// The foreground of our terminal, lent to the command and taken back.
#pragma once

#include <sys/types.h>

#include "base/descriptor.hpp"

namespace holdfast::cli {

/// Does nothing where there is no controlling terminal. SIGTTOU must be blocked or ignored.
class foreground {
public:
    foreground() noexcept;

    [[nodiscard]] bool has_terminal() const noexcept { return static_cast<bool>(terminal_); }
    [[nodiscard]] int descriptor() const noexcept { return terminal_.get(); }

    /// Whether our own process group has it; false when we were started in the background.
    [[nodiscard]] bool is_ours() const noexcept;
    [[nodiscard]] bool is_of(pid_t group) const noexcept;

    void give_to(pid_t group) noexcept;

    /// Only from `group`: what the shell gave to somebody else is not ours to take.
    void take_back_from(pid_t group) noexcept;

private:
    base::descriptor terminal_;
};

}  // namespace holdfast::cli
