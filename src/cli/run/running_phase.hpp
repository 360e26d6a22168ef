// While the command runs: its signals, its terminal, its end, and the end of its hold.
#pragma once

#include <optional>
#include <string_view>

#include "base/boot_timer.hpp"
#include "run/enforcer.hpp"
#include "run/foreground.hpp"
#include "run/partner.hpp"
#include "run/plan.hpp"
#include "run/signal_inbox.hpp"

namespace holdfast::cli {

/// How the command ended.
struct ending {
    int status{0};     ///< its own
    bool lost{false};  ///< the hold ended first
};

/// Why the hold is lost when the holder is.
inline constexpr std::string_view holder_killed = "the process that renews it was killed";

/// Says on stderr that the hold is lost.
void complain_of_loss(run_plan const& plan, std::string_view why);

class running_phase {
public:
    running_phase(run_plan const& plan, partner& holder, signal_inbox& signals,
                  foreground& terminal, shared_page& page, pid_t child);

    [[nodiscard]] ending run();

private:
    [[nodiscard]] bool is_over() const noexcept;
    [[nodiscard]] base::instant next_look() const noexcept;

    void take_signals();
    void take_message();
    void reap();
    void watch_deadline();

    void child_stopped(int signal);
    void resume();
    void yield_terminal();

    run_plan const& plan_;
    partner& holder_;
    signal_inbox& signals_;
    foreground& terminal_;
    pid_t child_;
    enforcer enforcer_;
    base::boot_timer timer_;
    std::optional<int> status_{};  ///< the command's, once it has ended
    bool lost_{false};
    bool holder_alive_{true};
    bool yielded_{false};  ///< another member of our pipeline asked for the terminal
};

}  // namespace holdfast::cli
