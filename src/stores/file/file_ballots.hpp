// The ballots that a store file remembers.
#pragma once

#include "stores/file/database.hpp"
#include "stores/lease/ballot_memory.hpp"
#include "stores/lease/ballot_windows.hpp"

namespace holdfast::stores::file {

/// Rows of the file, within the transaction of its ledger. Thread-safety: none; it belongs to the ledger.
class file_ballots final : public lease::ballot_memory {
public:
    explicit file_ballots(database& file) : file_{file} {}

    seam::sequence to_exceed(seam::claim_spec const& spec, seam::store_time now) override;
    void note(seam::claim_spec const& spec, seam::sequence ballot, seam::store_time now) override;

private:
    lease::ballot_windows turned_windows(seam::store_time now);

    database& file_;
};

}  // namespace holdfast::stores::file
