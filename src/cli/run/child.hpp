// The command as a child: started in a process group of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "run/death_signal.hpp"
#include "run/shared_page.hpp"
#include "run/signal_inbox.hpp"

namespace holdfast::cli {

/// What the command finds in its environment.
struct child_environment {
    std::string name;
    std::string token;
    std::string store;                 ///< its URL, or its name in the configuration
    bool has_credentials;              ///< whether it may have what holds a password
    std::optional<std::string> value;  ///< by which a leader is known; nothing for others
};

/// What ties the command to its hold beyond the lives of our own processes. The command inherits the
/// descriptors in it, and so do the processes that it starts.
struct hold_ties {
    death_signal const* death;  ///< of the holder, ends the group; nothing where a loss is ignored
    int presence;               ///< while it is open the name is taken, as long as its lease; or -1
};

/// Starts `program`. It enters its group in `page`, and takes the foreground of `terminal` unless
/// that is -1, before it runs a single instruction of its own. `page.exec_error` says why it could
/// not be executed; its exit status is then 126 or 127. Throws std::system_error when there is no
/// process to be had.
[[nodiscard]] pid_t start_child(std::vector<std::string> const& program,
                                child_environment const& environment, shared_page& page,
                                signal_inbox const& signals, hold_ties const& ties, int terminal);

}  // namespace holdfast::cli
