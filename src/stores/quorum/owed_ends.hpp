// Claims that a member did not hear the end of.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <list>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/clock.hpp"
#include "seam/request.hpp"

namespace holdfast::stores::quorum {

/// A claim that a member did not hear the end of.
struct owed_end {
    seam::claim subject;
    seam::store_time tombstone_until{};
    seam::clock_id clock{};
    std::chrono::milliseconds lease{0};  ///< the longest that it had
    base::instant over{};                ///< that lease has ended by then
    /// Else it lives as long as a session of the client, which other claims, and requests whose answers are lost, keep
    /// alive.
    bool ends_by_time{true};
};

/// Each claim stands in it once, however often its end was asked for in vain.
///
/// Thread-safety: none; it belongs to its member.
class owed_ends {
public:
    owed_ends() = default;
    owed_ends(owed_ends&&) = default;
    owed_ends& operator=(owed_ends&&) = default;

    [[nodiscard]] bool empty() const noexcept { return in_order_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return in_order_.size(); }

    /// Those that ended by themselves meanwhile are owed no more.
    void add(owed_end end, base::instant now) {
        if (auto const known = by_claim_.find(end.subject.id); known != by_claim_.end())
            return raise(*known->second, end);
        while (!empty() && may_be_forgotten(in_order_.front(), now))
            drop(in_order_.begin());
        // One with a long lease may stand before others.
        constexpr std::size_t looked_over = 1024;
        if (++added_ % looked_over == 0)
            for (auto each = in_order_.begin(); each != in_order_.end();)
                each = may_be_forgotten(*each, now) ? drop(each) : std::next(each);
        auto const last = in_order_.insert(in_order_.end(), std::move(end));
        by_claim_.emplace(last->subject.id, last);
    }

    void forget(seam::claim_id which) {
        if (auto const found = by_claim_.find(which); found != by_claim_.end()) drop(found->second);
    }

    /// The next one that is still owed.
    [[nodiscard]] std::optional<owed_end> take(base::instant now) {
        while (!empty()) {
            auto out = in_order_.front();
            drop(in_order_.begin());
            if (!out.ends_by_time || out.over > now) return out;
        }
        return std::nullopt;
    }

private:
    using place = std::list<owed_end>::iterator;

    // A member that is away for hours would be owed without end.
    [[nodiscard]] bool may_be_forgotten(owed_end const& end, base::instant now) const noexcept {
        constexpr std::size_t most_sure = 16'384;
        return end.over <= now && (end.ends_by_time || size() >= most_sure);
    }

    place drop(place which) {
        by_claim_.erase(which->subject.id);
        return in_order_.erase(which);
    }

    static void raise(owed_end& known, owed_end const& by) {
        known.lease = std::max(known.lease, by.lease);
        known.over = std::max(known.over, by.over);
        if (by.tombstone_until == seam::store_time{}) return;
        bool const comparable = known.clock == by.clock;
        known.tombstone_until =
            comparable ? std::max(known.tombstone_until, by.tombstone_until) : by.tombstone_until;
        known.clock = by.clock;
    }

    std::list<owed_end> in_order_;  ///< about that of their ends
    std::unordered_map<seam::claim_id, place> by_claim_;
    std::size_t added_{0};
};

}  // namespace holdfast::stores::quorum
