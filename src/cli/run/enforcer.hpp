// Ends the command's process group inside the hold.
#pragma once

#include <chrono>
#include <optional>

#include "base/clock.hpp"
#include "run/shared_page.hpp"

namespace holdfast::cli {

/// Supervisor and holder each have one over the same page, so that either ends the group when the
/// other cannot. Nothing here depends on the store.
class enforcer {
public:
    enforcer(shared_page& page, std::chrono::nanoseconds grace) noexcept
        : page_{page}, grace_{grace} {}

    /// TERM to the group now, and KILL after the grace or at the hold's deadline, whichever comes
    /// first. Only the first call of both processes has an effect.
    void terminate() noexcept;

    /// KILL to the group now.
    void kill() noexcept;

    [[nodiscard]] bool has_begun() const noexcept;

    /// Sends KILL when its time has come. To be called at `next()`.
    void act() noexcept;

    /// When to look again; never when there is nothing to do.
    [[nodiscard]] base::instant next() const noexcept;

    /// Whether nothing of the group is left that could be ended.
    [[nodiscard]] bool is_over() const noexcept;

    [[nodiscard]] base::instant deadline() const noexcept;

private:
    [[nodiscard]] base::instant kill_time() const noexcept;

    shared_page& page_;
    std::chrono::nanoseconds grace_;
    std::optional<base::instant> killed_{};
};

}  // namespace holdfast::cli
