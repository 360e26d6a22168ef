// What `holdfast run` or `holdfast elect` was asked to do.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/options.hpp>

namespace holdfast::cli {

/// What happens to the command when the hold is lost.
enum class loss_policy {
    term,    ///< TERM at the grace before the deadline, KILL at the deadline
    kill,    ///< KILL at the grace before the deadline
    ignore,  ///< nothing; only the exit status tells
};

struct run_plan {
    std::string store{};  ///< with its password: for the holder only
    /// In the configuration, of a store whose URL holds a password: what the command is given instead of it.
    std::string store_name{};
    bool pass_credentials{false};  ///< the command is given them, too
    /// The option "lease=…" of the store's URL where another lease was asked for. The store is used
    /// without it; the command gets the URL as it was given.
    std::string store_lease{};
    std::chrono::milliseconds patience{client_options{}.patience};  ///< with a silent store
    std::string name{};
    bool shared{false};                  ///< as a reader
    std::uint32_t permits{0};            ///< of a semaphore; 0 for a lock
    std::uint32_t limit{0};              ///< of that semaphore
    std::optional<std::string> value{};  ///< of a candidate in an election; nothing for others
    lock_options lock{};  ///< its grace is `grace`; its max_hold is ours to keep, see below
    /// Between TERM and KILL. The store frees a name as soon as its holder has let go, so the
    /// command must be gone before: the library's own max_hold would free it too early.
    std::chrono::milliseconds grace{};
    std::optional<std::chrono::milliseconds> max_hold{};
    std::chrono::milliseconds lease{};                ///< in effect, from the option or the URL
    std::optional<std::chrono::milliseconds> wait{};  ///< nothing: for ever
    loss_policy on_lost{loss_policy::term};
    int conflict_exit{0};
    bool quiet{false};
    bool verbose{false};
    std::vector<std::string> program{};

    /// The grace at the end of max_hold: a short hold is not all grace.
    [[nodiscard]] std::chrono::milliseconds final_grace() const noexcept {
        return max_hold ? std::min(grace, *max_hold / 4) : grace;
    }
};

}  // namespace holdfast::cli
