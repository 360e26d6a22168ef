// How many settlements that nobody waits for are under way at once, and which ones wait their turn.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "seam/request.hpp"

namespace holdfast::core {

/// A client may let go of a hundred thousand holds at once. Were all of those releases sent, the next
/// renewal would stand behind them in the connection and at the store, and a healthy hold would be
/// lost. So only `most` of them are under way in each lane; the others wait here, by the numbers of
/// their claims. A sick lane keeps back no other.
///
/// Thread-safety: none; it belongs to the engine.
class settlement_window {
public:
    static constexpr std::size_t most = 256;

    /// Takes a place; false when all are taken.
    [[nodiscard]] bool enter(seam::lane_id lane) {
        auto& entry = entry_of(lane);
        if (entry.under_way >= most) return false;
        ++entry.under_way;
        return true;
    }

    /// Gives a place back.
    void leave(seam::lane_id lane) { --entry_of(lane).under_way; }

    /// The claim waits for a place. `name_hash` is that of the name that it holds.
    void keep_back(seam::lane_id lane, std::uint64_t claim, std::size_t name_hash) {
        entry_of(lane).waiting.push_back({claim, name_hash});
        by_name_[name_hash].push_back(claim);
    }

    /// The claim that has waited longest, when there is a place for it, which the caller enters next.
    /// It may have ended meanwhile.
    [[nodiscard]] std::optional<std::uint64_t> next(seam::lane_id lane) {
        auto& entry = entry_of(lane);
        while (!entry.waiting.empty() && entry.under_way < most) {
            auto const first = entry.waiting.front();
            entry.waiting.pop_front();
            if (forget(first)) return first.claim;
        }
        return std::nullopt;
    }

    /// Takes out those that wait with a name of this hash: whoever asks for such a name again must find
    /// it free, so they go at once. Of very many, which only readers and permits can be, the oldest.
    [[nodiscard]] std::vector<std::uint64_t> take(std::size_t name_hash) {
        auto const found = by_name_.find(name_hash);
        if (found == by_name_.end()) return {};
        auto& claims = found->second;
        auto const end =
            claims.begin() + static_cast<std::ptrdiff_t>(std::min(most, claims.size()));
        std::vector<std::uint64_t> out{claims.begin(), end};
        claims.erase(claims.begin(), end);
        if (claims.empty()) by_name_.erase(found);
        return out;
    }

private:
    struct kept {
        std::uint64_t claim{0};
        std::size_t name_hash{0};
    };
    struct lane_entry {
        std::size_t under_way{0};
        std::deque<kept> waiting{};
    };

    lane_entry& entry_of(seam::lane_id lane) {
        auto const place = static_cast<std::size_t>(lane);
        if (place >= lanes_.size()) lanes_.resize(place + 1);
        return lanes_[place];
    }

    // False when it was taken out before. Those of one name mostly stand in the same order in both
    // queues; where a name has moved from lane to lane, they need not.
    bool forget(kept const& one) {
        auto const found = by_name_.find(one.name_hash);
        if (found == by_name_.end()) return false;
        auto& claims = found->second;
        auto const place = std::ranges::find(claims, one.claim);
        if (place == claims.end()) return false;
        claims.erase(place);
        if (claims.empty()) by_name_.erase(found);
        return true;
    }

    std::vector<lane_entry> lanes_;
    std::unordered_map<std::size_t, std::deque<std::uint64_t>> by_name_;
};

}  // namespace holdfast::core
