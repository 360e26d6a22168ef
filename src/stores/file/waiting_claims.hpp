// The claims of one client that wait in its file.
#pragma once

#include <unordered_map>

#include "seam/store.hpp"

namespace holdfast::stores::file {

/// As far as answers and notices tell.
///
/// Thread-safety: none; its owner serialises.
class waiting_claims {
public:
    /// What a request was answered. True when there may be something to look after from now on: a claim that waits or
    /// holds, or a name that is watched.
    bool note(seam::request const& what, seam::reply_body const& answer);
    void note(seam::notice const& what);
    void clear() noexcept { all_.clear(); }

    [[nodiscard]] std::unordered_map<seam::claim_id, seam::spec_ptr> const& all() const noexcept {
        return all_;
    }

private:
    void note(seam::renew const& what, seam::renewed const& answer);

    std::unordered_map<seam::claim_id, seam::spec_ptr> all_;
};

}  // namespace holdfast::stores::file
