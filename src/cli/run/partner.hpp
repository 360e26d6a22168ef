// The holder process as the supervisor sees it.
#pragma once

#include <optional>

#include <sys/types.h>

#include "base/clock.hpp"
#include "run/message_channel.hpp"
#include "run/signal_inbox.hpp"

namespace holdfast::cli {

class partner {
public:
    partner(pid_t pid, message_channel channel) noexcept
        : pid_{pid}, channel_{std::move(channel)} {}

    [[nodiscard]] message_channel& channel() noexcept { return channel_; }

    void signal(int signal) const noexcept;

    /// Tells the process to end: by `cancel` its wait, by `done` its hold.
    void dismiss(message_kind kind) noexcept;

    /// For a signal that would end us when the process was dismissed already: whoever sends it does
    /// not want to wait for a store that does not answer, and the lease ends without us. Kills the
    /// process, but not within its first moments: one wish to end us often comes as several signals,
    /// as from timeout(1), which signals us and our group, and a killed holder leaves the name taken.
    void hasten() noexcept;
    [[nodiscard]] bool was_hastened() const noexcept { return hastened_; }

    /// Waits until the process is gone. Signals that would end us hasten it.
    void join(signal_inbox& signals) noexcept;

private:
    void note_dismissal() noexcept;

    pid_t pid_;
    message_channel channel_;
    std::optional<base::instant> dismissed_{};
    bool hastened_{false};
};

}  // namespace holdfast::cli
