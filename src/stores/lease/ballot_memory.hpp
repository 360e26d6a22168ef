// What a store remembers of ballots.
#pragma once

#include "seam/claim.hpp"
#include "seam/request.hpp"

namespace holdfast::stores::lease {

/// Within the exclusive section of its ledger.
class ballot_memory {
public:
    virtual ~ballot_memory() = default;

    /// What a ballot for the name has to exceed: the last one of the name, and of names that are not remembered any
    /// more. See `ballot_windows`.
    [[nodiscard]] virtual seam::sequence to_exceed(seam::claim_spec const& spec,
                                                   seam::store_time now) = 0;
    /// A claim holds the name with this ballot.
    virtual void note(seam::claim_spec const& spec, seam::sequence ballot,
                      seam::store_time now) = 0;
};

}  // namespace holdfast::stores::lease
