// What a client reports of trouble with its store, for people who wait.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <holdfast/options.hpp>

#include "base/mutex.hpp"

namespace holdfast::cli {

/// Keeps the last warning of a client. A cheap shared handle: the client's threads may outlive whoever asks.
/// Thread-safe.
class trouble_log {
public:
    /// For `client_options::log`.
    [[nodiscard]] std::function<void(log_level, std::string_view)> receiver() const {
        return [state = state_](log_level level, std::string_view text) {
            if (level < log_level::warning) return;
            base::lock_guard const guard{state->mutex};
            state->last = text;
        };
    }

    /// Empty when nothing was reported.
    [[nodiscard]] std::string last() const {
        base::lock_guard const guard{state_->mutex};
        return state_->last;
    }

private:
    struct shared_state {
        base::mutex mutex{};
        std::string last HOLDFAST_GUARDED_BY(mutex){};
    };
    std::shared_ptr<shared_state> state_{std::make_shared<shared_state>()};
};

}  // namespace holdfast::cli
