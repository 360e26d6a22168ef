// The numbers of a client's claims: each is given once, and its lowest bits are used again.
#pragma once

#include <cstdint>
#include <vector>

#include "seam/claim.hpp"

namespace holdfast::core {

/// Thread-safety: none; it belongs to its claims.
class claim_numbers {
public:
    /// For one that never stands at a store beside others: it has no index.
    [[nodiscard]] std::uint64_t next() noexcept { return ++last_ << seam::claim_id::index_bits; }

    /// With the index that was free last, so that few are used; without one when none is free.
    [[nodiscard]] std::uint64_t next_with_index() noexcept { return next() | free_index(); }

    /// The claim has ended: its index is free.
    void give_back(seam::claim_id const& ended) {
        if (ended.index() != 0) free_.push_back(ended.index());
    }

private:
    std::uint16_t free_index() noexcept {
        if (!free_.empty()) {
            auto const found = free_.back();
            free_.pop_back();
            return found;
        }
        if (most_used_ == seam::claim_id::most_indexes) return 0;
        return ++most_used_;
    }

    std::uint64_t last_{0};
    std::uint16_t most_used_{0};
    std::vector<std::uint16_t> free_;
};

}  // namespace holdfast::core
