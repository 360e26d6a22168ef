// The holder process as the supervisor sees it.
#pragma once

#include <sys/types.h>

#include "run/link.hpp"
#include "run/signal_inbox.hpp"

namespace holdfast::cli {

class partner {
public:
    partner(pid_t pid, link line) noexcept : pid_{pid}, line_{std::move(line)} {}

    [[nodiscard]] link& line() noexcept { return line_; }

    void signal(int signal) const noexcept;

    /// Waits until the process is gone. A signal that would end us ends the wait: it may be waiting
    /// for a store that does not answer, and the lease ends without it.
    void join(signal_inbox& signals) noexcept;

private:
    pid_t pid_;
    link line_;
};

}  // namespace holdfast::cli
