// Which grants to this client a crash of the server cannot take back.
#pragma once

#include <compare>
#include <set>
#include <utility>

#include "stores/compare/driver.hpp"

namespace holdfast::stores::mysql {

/// InnoDB shows a commit to others before it is on the disk. A head that names a session of the client may let in one of its
/// claims, so it is believed only when a write of the client, from after it was seen, has been acknowledged. The log is
/// written in order.
///
/// A grant is known by its name, too. Stamps of two names are the same when the statements that draw them begin in the same
/// 32 µs, and a statement may wait for its lock: what is known of one name says nothing of the other.
///
/// Thread-safety: none; its owner serialises.
class durable_grants {
public:
    /// A session that the head of this name names with this stamp.
    struct grant {
        compare::name_key name;
        compare::session_id to{};
        compare::stamp written{};

        auto operator<=>(grant const&) const = default;
    };

    void add(grant which) {
        if (known_.size() >= most) known_.clear();  // costs a write for each that is seen again
        known_.insert(std::move(which));
    }
    [[nodiscard]] bool contains(grant const& which) const { return known_.contains(which); }

private:
    static constexpr std::size_t most = 4096;
    std::set<grant> known_;
};

}  // namespace holdfast::stores::mysql
