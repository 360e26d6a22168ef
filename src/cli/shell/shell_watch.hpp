// The hold of a shell, in the process that has it: its loss, those who ask for it, its end.
#pragma once

#include <optional>
#include <string>

#include <holdfast/lease.hpp>

#include "base/event.hpp"
#include "shell/shell_holder.hpp"

namespace holdfast::cli {

class shell_watch {
public:
    shell_watch(shell_task& task, lease& lease, rendezvous& meeting);

    /// Returns when the shell has ended, or was told that the name is given back.
    void run();

    /// Gives the name back, once. Waits for the store.
    hold_answer give_back();

    /// Whether the store has confirmed that.
    [[nodiscard]] bool confirmed() const noexcept { return ended_ == hold_answer::released; }

private:
    void lose(std::string reason);
    void take_signals();
    void meet();

    shell_task& task_;
    lease& lease_;
    rendezvous& meeting_;
    base::event lost_event_{};
    std::optional<std::string> loss_{};   ///< why
    std::optional<hold_answer> ended_{};  ///< how it was given back
    bool dismissed_{false};               ///< by `holdfast unlock`
};

}  // namespace holdfast::cli
