// What a driver waits for: time, rings of the FIFO, the ends of processes, and being woken.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "net/poller.hpp"
#include "seam/claim.hpp"

namespace holdfast::stores::file {

/// Thread-safety: `wait` by one thread at a time; `wake` from any thread; the rest under the lock of
/// its owner, also while a thread waits.
class file_poller {
public:
    /// What ended a wait. Any of it may be a false alarm.
    struct news {
        bool rung{false};
        std::vector<seam::client_id> exited;  ///< their processes ended
    };

    /// Waits until something happens, or until `until` by CLOCK_BOOTTIME.
    [[nodiscard]] news wait(base::instant until);

    /// See net::poller.
    [[nodiscard]] int descriptor() noexcept { return poller_.descriptor(); }
    void wake_by(base::instant when) noexcept { poller_.wake_by(when); }

    /// Ends the present or the next wait.
    void wake() noexcept { poller_.wake(); }

    /// Reports rings of this descriptor as long as the result lives. Throws std::system_error.
    [[nodiscard]] net::poller::registration listen(int wake_fifo);

    /// Reports once when the process ends. A process id may be another's by now, or of another
    /// namespace: the report proves nothing. False when there is no such process.
    bool watch(seam::client_id client, std::int64_t pid);
    void forget(seam::client_id client) noexcept;

private:
    struct process {
        seam::client_id client;
        base::descriptor handle;
        net::poller::registration registration;  ///< ends before the handle
    };

    net::poller poller_;
    std::deque<process> processes_;  ///< the oldest first
};

}  // namespace holdfast::stores::file
