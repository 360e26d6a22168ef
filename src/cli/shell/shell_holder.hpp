// The process in the background that has the lock of a shell.
#pragma once

#include "base/descriptor.hpp"
#include "run/message_channel.hpp"
#include "run/plan.hpp"
#include "run/signal_inbox.hpp"
#include "shell/rendezvous.hpp"

namespace holdfast::cli {

struct shell_task {
    run_plan const& plan;
    shell_claim const& claim;
    int shell;  ///< a pidfd
    signal_inbox& signals;
    message_channel channel;  ///< to `holdfast lock`, which ends when the lock is held
    bool narrate;             ///< somebody watches: say who is waited for
};

/// Acquires, tells `holdfast lock`, and renews until the shell has ended or `holdfast unlock` has asked for it.
/// A loss is told to the shell by a signal, as the plan says, and to everybody who asks.
/// To be called right after fork(); does not return.
[[noreturn]] void run_shell_holder(shell_task task) noexcept;

}  // namespace holdfast::cli
