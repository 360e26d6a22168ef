// The wall clock of ZooKeeper's leader, by which ends that nobody keeps alive are over.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/clock.hpp"
#include "stores/compare/session.hpp"
#include "stores/zookeeper/session_handle.hpp"

namespace holdfast::stores::zookeeper {

[[nodiscard]] inline compare::stamp stamp_of(std::int64_t zxid) noexcept {
    return compare::stamp{static_cast<std::uint64_t>(zxid)};
}

/// Every write tells it. What is known is a lower bound of its present time.
class leader_clock {
public:
    void note(Stat const& written) {
        shown_ = std::chrono::milliseconds{written.mtime};
        noted_ = base::boot_clock::now();
    }

    /// When a session is over that is an end: a node that stays, with its length in it. Never for other sessions.
    [[nodiscard]] base::instant end_of(answer const& node) const;

private:
    std::chrono::milliseconds shown_{};
    base::instant noted_{};
};

}  // namespace holdfast::stores::zookeeper
