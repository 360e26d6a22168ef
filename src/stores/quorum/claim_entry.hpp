// A claim as the members of a quorum know it.
#pragma once

#include <chrono>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "seam/request.hpp"

namespace holdfast::stores::quorum {

/// Known to the members by an id of its own for each attempt, since what was given back is barred.
struct claim_entry {
    enum class phase { voting, held, ending };
    struct copy {  ///< of the submit, at one member
        seam::store_time not_after{};
        seam::clock_id clock{};
        bool unanswered{false};
    };
    phase at{phase::voting};
    seam::claim subject{};
    seam::sequence number{};
    base::instant began{};
    std::chrono::milliseconds lease{0};
    std::uint64_t round{0};  ///< of the vote
    std::vector<copy> copies{};
    base::instant over{base::never};  ///< while it ends: forgotten then
};

/// By the id that the asker knows.
using claim_map = std::unordered_map<seam::claim_id, claim_entry>;

}  // namespace holdfast::stores::quorum
