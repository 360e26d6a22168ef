// How many settlements that nobody waits for are under way at once, and which ones wait their turn.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

namespace holdfast::core {

/// A client may let go of a hundred thousand holds at once. Were all of those releases sent, the next
/// renewal would stand behind them in the connection and at the store, and a healthy hold would be
/// lost. So only `most` of them are under way; the others wait here, by the numbers of their claims.
///
/// Thread-safety: none; it belongs to the engine.
class settlement_window {
public:
    static constexpr std::size_t most = 256;

    /// Takes a place; false when all are taken.
    [[nodiscard]] bool enter() noexcept {
        if (under_way_ >= most) return false;
        ++under_way_;
        return true;
    }

    /// Gives a place back.
    void leave() noexcept { --under_way_; }

    /// The claim waits for a place. `name_hash` is that of the name that it holds.
    void keep_back(std::uint64_t claim, std::size_t name_hash) {
        waiting_.push_back({claim, name_hash});
        by_name_[name_hash].push_back(claim);
    }

    /// The claim that has waited longest, when there is a place for it, which the caller enters next.
    /// It may have ended meanwhile.
    [[nodiscard]] std::optional<std::uint64_t> next() {
        while (!waiting_.empty() && under_way_ < most) {
            auto const first = waiting_.front();
            waiting_.pop_front();
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

    // False when it was taken out before. Those of one name stand in the same order in both queues.
    bool forget(kept const& one) {
        auto const found = by_name_.find(one.name_hash);
        if (found == by_name_.end() || found->second.front() != one.claim) return false;
        found->second.pop_front();
        if (found->second.empty()) by_name_.erase(found);
        return true;
    }

    std::size_t under_way_{0};
    std::deque<kept> waiting_;
    std::unordered_map<std::size_t, std::deque<std::uint64_t>> by_name_;
};

}  // namespace holdfast::core
