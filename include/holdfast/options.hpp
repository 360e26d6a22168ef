// Options of locks and clients: aggregates with defaults, made for designated initializers.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/retry.hpp>

namespace holdfast {
inline namespace v1 {

/// The order in which waiters are served.
enum class ordering {
    barging,  ///< fastest: threads of one process hand over among themselves for a while
    fair,     ///< first come, first served at the store, over all processes
};

/// How a name is held and waited for. Checked when the synchronizer is constructed: a value out of
/// its range is `errc::bad_option`.
struct lock_options {
    /// How long a hold outlives its last confirmed renewal. A client URL's `?lease=` replaces this
    /// default of 30 s. At least 20 ms.
    std::chrono::milliseconds lease{30'000};

    /// Whether the client renews the lease while the hold lives. Without it a hold ends with its
    /// lease unless `lease::renew()` is called.
    bool renew{true};

    /// How often to renew; a third of the lease (less the grace) unless given. Must leave time for the
    /// answer: at most nine tenths of what lies between a renewal and the moment of loss.
    std::optional<std::chrono::milliseconds> renew_every{};

    /// The longest time one hold may last, renewals or not; then it is lost and released.
    std::optional<std::chrono::milliseconds> max_hold{};

    /// An earlier release keeps the name taken until this much time has passed since the grant.
    std::optional<std::chrono::milliseconds> min_hold{};

    /// How much before the deadline `lost()` fires, so that work can be wound up in time. Must leave at
    /// least 10 ms of the lease (less the margin, 1 % and 2 ms) in which the hold is held.
    std::chrono::milliseconds grace{0};

    ordering order{ordering::barging};

    /// When to try again; empty for the store's own way (queue, wait to be told, poll slowly).
    holdfast::retry::policy retry{};

    /// How often threads of this process may hand a contended name to each other before the
    /// others get it: 0 to 255.
    int local_passes{64};

    /// Free text that `holdfast list` and `client::locks()` show.
    std::string label{};

    /// Names the owner explicitly: holds of one owner and name are one hold, also from several
    /// threads, coroutines and processes (`recursive_mutex`).
    std::string owner{};

    /// Makes an acquire that would close a cycle of waiting owners fail with `would_deadlock`.
    bool detect_deadlock{false};
};

/// How grave a log message is.
enum class log_level { debug, info, warning, error };

struct client_options {
    /// How long a call without a deadline waits for a store that does not answer.
    std::chrono::milliseconds patience{10'000};

    /// Free text that names this client in `holdfast list`.
    std::string label{};

    /// Receives messages about reconnects, doubt and loss. Called on the notifier thread.
    std::function<void(log_level, std::string_view)> log{};
};

}  // namespace v1
}  // namespace holdfast
