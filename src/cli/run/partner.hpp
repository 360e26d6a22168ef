// The holder process as the supervisor sees it.
#pragma once

#include <sys/types.h>

#include "run/link.hpp"

namespace holdfast::cli {

class partner {
public:
    partner(pid_t pid, link line) noexcept : pid_{pid}, line_{std::move(line)} {}

    [[nodiscard]] link& line() noexcept { return line_; }

    void signal(int signal) const noexcept;

    /// Waits until the process is gone.
    void join() noexcept;

private:
    pid_t pid_;
    link line_;
};

}  // namespace holdfast::cli
