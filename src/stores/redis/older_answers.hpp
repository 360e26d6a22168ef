// What sentinels tell whose configuration is older than the one that is followed.
#pragma once

#include <cstddef>
#include <vector>

#include "stores/redis/topology.hpp"

namespace holdfast::stores::redis {

/// One sentinel that tells of an older configuration was cut off from the others, and they know better. When all of
/// them do, they were made anew without their files, and nobody knows better any more. They count as all when each that
/// any of them names tells so too, and they are more than half as many as there were: so those who are on the smaller
/// side of a partition never do, whatever they have forgotten of the others.
///
/// Thread-safety: none; its owner serialises.
class older_answers {
public:
    /// What a sentinel has told; it replaces what the same one told before. It names itself among the guides.
    void add(server_address from, topology what);
    /// It does not answer: it may know better.
    void forget(server_address const& from);
    void clear() noexcept { told_.clear(); }

    /// All whom somebody names.
    [[nodiscard]] std::vector<server_address> guides() const;

    /// The newest of these configurations when all tell of one; else nullptr. `count`: of the sentinels there were.
    [[nodiscard]] topology const* agreed(std::size_t count) const;

private:
    struct answer_of {
        server_address from;
        topology what;
    };

    [[nodiscard]] bool has(server_address const& from) const;
    [[nodiscard]] bool is_named_by_another(server_address const& whom) const;

    std::vector<answer_of> told_;
};

}  // namespace holdfast::stores::redis
