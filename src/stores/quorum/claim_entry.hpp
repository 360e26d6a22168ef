// A claim as the members of a quorum know it.
#pragma once

#include <chrono>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "seam/request.hpp"

namespace holdfast::stores::quorum {

/// Known to the members by an id of its own for each attempt, since what was given back has tombstones.
struct claim_entry {
    enum class phase { voting, held, ending };
    /// The submit, at one member.
    struct copy {
        enum class state {
            not_sent,
            unanswered,  ///< it may be carried out yet
            answered,    ///< so may another copy of it
            granted,     ///< its ballot was granted, so that another copy would be outvoted
        };
        state is{state::not_sent};
        seam::store_time not_after{};
        seam::clock_id clock{};
        base::instant missing_since{base::never};  ///< at the member, as far as is known
        std::uint64_t heard_in{0};                 ///< the last renewal that it answered
    };
    phase at{phase::voting};
    seam::claim subject{};
    seam::sequence number{};
    base::instant began{};
    std::chrono::milliseconds lease{0};
    std::chrono::milliseconds longest_lease{0};  ///< that was asked for: a member may go by it yet
    base::instant until{};   ///< while it is voted on: nobody waits for it any longer
    std::uint64_t round{0};  ///< of the vote
    int outvoted{0};         ///< so often in a row
    std::vector<copy> copies{};
    base::instant over{base::never};  ///< when it is forgotten, unless it is renewed
};

/// By the id that the asker knows.
using claim_map = std::unordered_map<seam::claim_id, claim_entry>;

}  // namespace holdfast::stores::quorum
