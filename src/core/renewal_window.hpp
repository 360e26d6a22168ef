// How many renewals are under way in each lane, and which claims wait for one to leave.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <tuple>
#include <vector>

#include "base/clock.hpp"
#include "seam/request.hpp"

namespace holdfast::core {

/// After a reconnection every claim of a client wants to be renewed at once. Were all of that sent, the
/// server would have nothing else to do, and whoever loses the connection again would have to repeat it
/// all. So `most` batches are under way in each lane, and the claims behind them wait here, the most
/// urgent first. A sick lane keeps back no other.
///
/// An answer that never comes keeps no place: whoever waits takes the oldest one over after a part of the
/// time in which its own answer would have to come. So all are tried in time where nothing is answered, at
/// a bounded pace.
///
/// Thread-safety: none; it belongs to the engine.
class renewal_window {
public:
    static constexpr std::size_t most = 8;
    /// The part of its own time for an answer after which a claim takes over a place. With an eighth a hundred
    /// thousand leases are tried in half of their time, and 64 batches are unanswered at most.
    static constexpr int part = 8;

    /// A claim that wants to be renewed.
    struct wish {
        base::instant deadline{};  ///< by which the store must have heard of it
        std::uint64_t claim{0};
        std::chrono::nanoseconds answer_time{};  ///< that it allows

        /// For a heap that has the most urgent one on top.
        friend bool operator<(wish const& one, wish const& other) noexcept {
            return std::tie(one.deadline, one.claim) > std::tie(other.deadline, other.claim);
        }
    };

    void add(seam::lane_id lane, wish const& next) {
        auto& waiting = entry_of(lane).waiting;
        waiting.push_back(next);
        std::ranges::push_heap(waiting, std::less{});
    }

    /// When a batch of the lane may be sent that begins with the most urgent claim: in the past when it may be
    /// sent at once, never when none waits.
    [[nodiscard]] base::instant next_place(seam::lane_id lane) const noexcept {
        auto const place = static_cast<std::size_t>(lane);
        return place < lanes_.size() ? lanes_[place].next_place() : base::never;
    }

    /// The same for all lanes together.
    [[nodiscard]] base::instant next_place() const noexcept {
        auto first = base::never;
        for (auto const& entry : lanes_)
            first = std::min(first, entry.next_place());
        return first;
    }

    /// The most urgent claim, which waits no longer. It may have ended meanwhile.
    [[nodiscard]] std::optional<wish> pop(seam::lane_id lane) {
        auto& waiting = entry_of(lane).waiting;
        if (waiting.empty()) return std::nullopt;
        std::ranges::pop_heap(waiting, std::less{});
        auto const first = waiting.back();
        waiting.pop_back();
        return first;
    }

    /// A batch is sent now, in a free place or in that of the oldest one. Names its place; never 0.
    [[nodiscard]] std::uint64_t enter(seam::lane_id lane, base::instant now) {
        auto& under_way = entry_of(lane).under_way;
        if (under_way.size() >= most) under_way.erase(under_way.begin());
        under_way.push_back({++last_, now});
        return last_;
    }

    /// What was sent in that place is answered. The place may have been taken over before.
    void leave(seam::lane_id lane, std::uint64_t place) {
        std::erase_if(entry_of(lane).under_way,
                      [&](batch const& each) { return each.place == place; });
    }

    /// Lanes are numbered from 0.
    [[nodiscard]] std::size_t lanes() const noexcept { return lanes_.size(); }

private:
    struct batch {
        std::uint64_t place{0};
        base::instant sent{};
    };
    struct lane_entry {
        std::vector<batch> under_way{};  ///< the oldest first
        std::vector<wish> waiting{};     ///< a heap

        [[nodiscard]] base::instant next_place() const noexcept {
            if (waiting.empty()) return base::never;
            if (under_way.size() < most) return base::instant::min();
            return under_way.front().sent + waiting.front().answer_time / part;
        }
    };

    lane_entry& entry_of(seam::lane_id lane) {
        auto const place = static_cast<std::size_t>(lane);
        if (place >= lanes_.size()) lanes_.resize(place + 1);
        return lanes_[place];
    }

    std::vector<lane_entry> lanes_;
    std::uint64_t last_{0};
};

}  // namespace holdfast::core
