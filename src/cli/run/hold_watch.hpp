// The hold while the command runs, in the holder: its deadline, its loss, its end.
#pragma once

#include <optional>
#include <string>

#include <holdfast/lease.hpp>

#include "base/boot_timer.hpp"
#include "base/descriptor.hpp"
#include "base/event.hpp"
#include "run/enforcer.hpp"
#include "run/holder.hpp"

namespace holdfast::cli {

class hold_watch {
public:
    /// `presence` is for the supervisor and the command.
    hold_watch(holder_task& task, lease& lease, std::string shown_store, base::descriptor presence);

    /// Returns when the name was given back and nothing of the command is left to end.
    void run();

    /// Whether the store has confirmed that.
    [[nodiscard]] bool confirmed() const noexcept { return confirmed_; }

    /// Tells the supervisor how the hold ended.
    void report();

private:
    void look_at_lease();
    void lose(std::string reason);
    void take_signals();
    void take_message();
    void supervisor_died();
    void give_back();
    [[nodiscard]] bool is_over() const noexcept;
    [[nodiscard]] base::instant next_look() const noexcept;

    holder_task& task_;
    lease& lease_;
    std::string shown_store_;
    base::descriptor presence_;
    enforcer enforcer_;
    base::boot_timer timer_;
    base::event lost_event_{};
    std::optional<base::instant> last_{};  ///< where max_hold ends it
    bool lost_{false};
    bool supervisor_alive_{true};
    bool done_{false};
    bool given_back_{false};
    bool confirmed_{false};    ///< the release, by the store
    bool unconfirmed_{false};  ///< the store did not answer the release
};

}  // namespace holdfast::cli
