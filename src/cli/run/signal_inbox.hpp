// Signals as messages: blocked for the whole process, read from a descriptor.
#pragma once

#include <csignal>
#include <optional>

#include "base/descriptor.hpp"

namespace holdfast::cli {

/// Make it before any thread. Signals that were ignored when we were started stay ignored, for us
/// and for the command: nohup, and a shell's background jobs, rely on it.
class signal_inbox {
public:
    signal_inbox();

    [[nodiscard]] int descriptor() const noexcept { return inbox_.get(); }

    /// The next signal, if there is one.
    [[nodiscard]] std::optional<int> next() noexcept;

    /// Stops this process and those in its group, as Ctrl-Z does, and returns when it is continued.
    /// False when the system did not stop it: nobody could continue an orphaned group.
    bool stop_group() noexcept;

    /// For the command: the mask and the disposition of SIGCHLD that we were started with.
    void restore() const noexcept;

private:
    sigset_t original_{};
    struct sigaction original_child_ {};
    base::descriptor inbox_;
};

/// Whether the signal would end a process that has made no arrangements.
[[nodiscard]] bool ends_a_process(int signal) noexcept;

}  // namespace holdfast::cli
