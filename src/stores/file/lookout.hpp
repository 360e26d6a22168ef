// What a driver waits for: time, rings of the FIFO, the ends of processes, and being called.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "seam/claim.hpp"

namespace holdfast::stores::file {

/// Thread-safety: `wait` by one thread at a time; `call` from any thread; the rest under the lock of
/// its owner, also while a thread waits.
class lookout {
public:
    /// Throws std::system_error.
    lookout();

    /// What ended a wait. Any of it may be a false alarm.
    struct news {
        bool rung{false};
        std::vector<seam::client_id> exited;  ///< their processes ended
    };

    /// Waits until something happens, or until `until` by CLOCK_BOOTTIME.
    [[nodiscard]] news wait(base::instant until);

    /// Ends the present or the next wait.
    void call() noexcept;

    /// Reports rings of this descriptor from now on, until it is closed.
    void listen(int wake_fifo);

    /// Reports once when the process ends. A process id may be another's by now, or of another
    /// namespace: the report proves nothing. False when there is no such process.
    bool watch(seam::client_id client, std::int64_t pid);
    void forget(seam::client_id client) noexcept;

private:
    struct process {
        seam::client_id client;
        base::descriptor handle;
    };

    base::descriptor events_;
    base::descriptor timer_;
    base::descriptor called_;
    std::deque<process> processes_;  ///< the oldest first
};

}  // namespace holdfast::stores::file
