// Claims are given back: to all members, also to those that did not answer.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "stores/quorum/claim_entry.hpp"
#include "stores/quorum/rounds.hpp"

namespace holdfast::stores::quorum {

/// Thread-safety: none; it belongs to the machine.
class claim_endings {
public:
    /// All outlive it.
    claim_endings(std::vector<member>& members, rounds& asked, judgement const& judge)
        : members_{members}, rounds_{asked}, judge_{judge} {}

    /// Asks all members that may have the claim to end it. Those that never heard of it have not got it.
    void end_at_members(claim_entry const& entry, std::chrono::milliseconds keep_for, round& in,
                        base::instant now);
    /// The same, and nobody waits for it.
    void give_back(claim_entry const& entry, base::instant now);
    /// A member answers that has not heard of some ends.
    void pay_owed(std::size_t to, base::instant now);
    /// It has carried one out, in time or not.
    void forget_owed(std::size_t of, seam::claim_id which) { members_[of].owed.forget(which); }

    /// By then a lease is over that began no later than now, also by a slow clock, and so is what was under way.
    [[nodiscard]] static base::instant surely_over(std::chrono::milliseconds lease,
                                                   base::instant now);

private:
    std::vector<member>& members_;
    rounds& rounds_;
    judgement const& judge_;
};

}  // namespace holdfast::stores::quorum
