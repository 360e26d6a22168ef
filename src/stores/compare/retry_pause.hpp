// How long a driver waits between its tries to connect.
#pragma once

#include <algorithm>
#include <chrono>

namespace holdfast::stores::compare {

/// Twice as long each time, within bounds, until something succeeds.
class retry_pause {
public:
    constexpr retry_pause(std::chrono::milliseconds shortest,
                          std::chrono::milliseconds longest) noexcept
        : shortest_{shortest}, longest_{longest}, next_{shortest} {}

    /// The pause before the next try.
    [[nodiscard]] std::chrono::milliseconds next() noexcept {
        auto const out = next_;
        next_ = std::min(2 * next_, longest_);
        return out;
    }
    void reset() noexcept { next_ = shortest_; }

private:
    std::chrono::milliseconds shortest_, longest_, next_;
};

}  // namespace holdfast::stores::compare
