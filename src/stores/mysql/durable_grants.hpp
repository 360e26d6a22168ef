// Which grants to this client a crash of the server cannot take back.
#pragma once

#include <set>
#include <utility>

#include "stores/compare/driver.hpp"

namespace holdfast::stores::mysql {

/// InnoDB shows a commit to others before it is on the disk. A head that names a session of the client may let in one of its
/// claims, so it is believed only when a write of the client, from after it was seen, has been acknowledged. The log is
/// written in order.
///
/// A head is known by the session that it names and its stamp. Two names can have the same stamp only when they were written
/// in the same 32 µs.
///
/// Thread-safety: none; its owner serialises.
class durable_grants {
public:
    void add(compare::session_id to, compare::stamp written) {
        if (known_.size() >= most) known_.clear();  // costs a write for each that is seen again
        known_.emplace(to, written);
    }
    [[nodiscard]] bool contains(compare::session_id to, compare::stamp written) const {
        return known_.contains({to, written});
    }

private:
    static constexpr std::size_t most = 4096;
    std::set<std::pair<compare::session_id, compare::stamp>> known_;
};

}  // namespace holdfast::stores::mysql
