// What the client knows of a store's clock, and which claims wait to know it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "core/judgement.hpp"

namespace holdfast::core {

/// The last reading of one clock. A submit needs it for its `not_after`; claims that have none wait here while
/// the store is asked.
///
/// Thread-safety: none; it belongs to the engine.
class store_clock_reading {
public:
    /// A reply has brought a reading. Replies overtake each other: the one that was asked for last counts.
    void note(clock_pair reading) {
        if (!latest_ || reading.sent >= latest_->sent) latest_ = reading;
    }

    [[nodiscard]] std::optional<clock_pair> const& latest() const noexcept { return latest_; }

    /// Whether the drift since the last reading leaves at least half of the time until `until`.
    [[nodiscard]] bool is_fresh(base::instant now, base::instant until) const noexcept {
        if (!latest_) return false;
        auto const age = now - latest_->received;
        return age < oldest && age / drift <= (until - now) / 2;
    }

    /// The claim waits for a reading. True when the store must be asked: nobody has, or not in `patience`.
    [[nodiscard]] bool await(std::uint64_t claim, base::instant now,
                             std::chrono::nanoseconds patience) {
        if (std::ranges::find(waiting_, claim) == waiting_.end()) waiting_.push_back(claim);
        if (asked_ && now - *asked_ < patience) return false;
        asked_ = now;
        return true;
    }

    /// The store has answered, or cannot: those who waited.
    [[nodiscard]] std::vector<std::uint64_t> answered() {
        asked_.reset();
        return std::exchange(waiting_, {});
    }

private:
    // An older reading is asked for anew, since its drift would eat the time in which a submit may take effect.
    static constexpr std::chrono::seconds oldest{30};

    std::optional<clock_pair> latest_;
    std::optional<base::instant> asked_;
    std::vector<std::uint64_t> waiting_;
};

}  // namespace holdfast::core
