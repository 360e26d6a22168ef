// The process that a hold is tied to.
#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

#include "base/descriptor.hpp"
#include "shell/rendezvous.hpp"

namespace holdfast::cli {

/// The parent of this process, unless `given` names another. Throws `usage_error` when it is none that could hold
/// a lock, such as one that has ended.
[[nodiscard]] pid_t calling_shell(std::optional<pid_t> given);

/// A descriptor that tells of its end. Throws `usage_error` when there is no such process.
[[nodiscard]] base::descriptor watch_process(pid_t process);

/// As lists of processes show it.
[[nodiscard]] std::string process_name(pid_t process);

/// Asks the holder of the claim, or of the same claim of the nearest ancestor of its process: a subshell speaks for
/// its shell. So does this very process, which a shell may have become for its last command.
[[nodiscard]] std::optional<hold_reply> ask_ancestors(shell_claim claim, hold_request request);

}  // namespace holdfast::cli
