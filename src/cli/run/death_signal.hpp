// The death of the holder as a signal that the system itself sends to the command's process group.
#pragma once

#include <sys/types.h>

#include "base/descriptor.hpp"

namespace holdfast::cli {

/// A pipe that nobody writes to. Only the holder has its writing end; the supervisor and the command
/// have the reading end. When the holder is gone, however it went, the kernel sends KILL to the group that
/// the reading end was armed for (O_ASYNC, F_SETSIG). None of us needs to run for that, or to be alive
/// still: it is enough that one process of the command has not closed its copy.
class death_signal {
public:
    /// Throws std::system_error.
    death_signal();

    /// In the holder, after the fork.
    void keep_writing_end() noexcept { reader_.reset(); }
    /// In the supervisor, after the fork. From then on the holder's death is seen.
    void keep_reading_end() noexcept { writer_.reset(); }

    [[nodiscard]] int reading_end() const noexcept { return reader_.get(); }

    /// For the copies of all processes, by system calls alone. False when the holder is dead already.
    [[nodiscard]] bool arm(pid_t group) const noexcept;
    /// Before the holder ends in good order, since other processes of the group may go on.
    void disarm() const noexcept;

private:
    base::descriptor reader_;
    base::descriptor writer_;
};

}  // namespace holdfast::cli
