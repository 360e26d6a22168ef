// The process that has the lock.
#pragma once

#include <sys/types.h>

#include "run/death_signal.hpp"
#include "run/message_channel.hpp"
#include "run/plan.hpp"
#include "run/shared_page.hpp"
#include "run/signal_inbox.hpp"
#include "trouble_log.hpp"

namespace holdfast::cli {

struct holder_task {
    run_plan const& plan;
    shared_page& page;
    signal_inbox& signals;
    message_channel channel;
    death_signal& death;
    pid_t supervisor;
    bool narrate;  ///< somebody watches: say who is waited for
    trouble_log trouble{};
};

/// Acquires, tells the supervisor, renews until the command is over or must be ended, releases.
/// To be called right after fork(); does not return.
[[noreturn]] void run_holder(holder_task task) noexcept;

}  // namespace holdfast::cli
