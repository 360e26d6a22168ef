// What the client knows of the clocks of a store's servers, and which claims wait to know more.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "core/judgement.hpp"
#include "seam/request.hpp"

namespace holdfast::core {

/// One reading for each lane, of the clock of the server that stands behind it. A reading says nothing
/// about any other clock: when another server comes to stand there, it begins anew.
///
/// Thread-safety: none; it belongs to the engine.
class clock_readings {
public:
    struct reading {
        seam::clock_id clock{};
        clock_pair pair{};
    };

    /// A reply of the lane has brought a reading. Replies overtake each other: the one that was asked for
    /// last counts.
    void note(seam::lane_id lane, reading const& next) {
        auto& latest = entry_of(lane).latest;
        if (!latest || next.pair.sent >= latest->pair.sent) latest = next;
    }

    /// The server behind the lane has this clock now: a reading of another one is of no use any more.
    void expect(seam::lane_id lane, seam::clock_id clock) {
        auto& latest = entry_of(lane).latest;
        if (latest && latest->clock != clock) latest.reset();
    }

    [[nodiscard]] std::optional<reading> const& latest(seam::lane_id lane) const noexcept {
        static constexpr std::optional<reading> none;
        auto const place = static_cast<std::size_t>(lane);
        return place < lanes_.size() ? lanes_[place].latest : none;
    }

    /// The reading of this clock; null when there is none.
    [[nodiscard]] clock_pair const* find(seam::lane_id lane, seam::clock_id clock) const noexcept {
        auto const& known = latest(lane);
        return known && known->clock == clock ? &known->pair : nullptr;
    }

    /// Whether the drift since the last reading leaves at least half of the time until `until`.
    [[nodiscard]] bool is_fresh(seam::lane_id lane, base::instant now,
                                base::instant until) const noexcept {
        auto const& known = latest(lane);
        if (!known) return false;
        auto const age = now - known->pair.received;
        return age < oldest && age / drift <= (until - now) / 2;
    }

    /// The claim waits for a reading. True when the lane must be asked: nobody has, or not in `patience`.
    [[nodiscard]] bool wait_for_reading(seam::lane_id lane, std::uint64_t claim, base::instant now,
                                        std::chrono::nanoseconds patience) {
        auto& entry = entry_of(lane);
        if (std::ranges::find(entry.waiting, claim) == entry.waiting.end())
            entry.waiting.push_back(claim);
        if (entry.asked && now - *entry.asked < patience) return false;
        entry.asked = now;
        return true;
    }

    /// The lane has answered, or cannot: those who waited, who are no longer kept here.
    [[nodiscard]] std::vector<std::uint64_t> take_waiting(seam::lane_id lane) {
        auto& entry = entry_of(lane);
        entry.asked.reset();
        return std::exchange(entry.waiting, {});
    }

private:
    // An older reading is asked for anew, since its drift would eat the time in which a submit may take effect.
    static constexpr std::chrono::seconds oldest{30};

    struct lane_entry {
        std::optional<reading> latest;
        std::optional<base::instant> asked;
        std::vector<std::uint64_t> waiting;
    };

    lane_entry& entry_of(seam::lane_id lane) {
        auto const place = static_cast<std::size_t>(lane);
        if (place >= lanes_.size()) lanes_.resize(place + 1);
        return lanes_[place];
    }

    std::vector<lane_entry> lanes_;
};

}  // namespace holdfast::core
