// The process that the shell sees: starts the holder, then the command, and reports how it ended.
#pragma once

#include "run/plan.hpp"

namespace holdfast::cli {

/// `holdfast run` and `holdfast elect` are two processes. The supervisor is the shell's child: it has the terminal, the
/// signals and the command, stops when the job is stopped, and knows nothing of stores. The holder
/// has the lock, and renews it also while the job is stopped. Either ends the command when the other
/// dies, and the system does when the holder is dead and the supervisor stopped or dead too. The name
/// stays taken meanwhile, on a store that could know of the death: supervisor and command keep the
/// holder's presence.
class supervisor {
public:
    explicit supervisor(run_plan const& plan) noexcept : plan_{plan} {}

    /// Returns the exit status.
    [[nodiscard]] int run();

private:
    run_plan const& plan_;
};

}  // namespace holdfast::cli
