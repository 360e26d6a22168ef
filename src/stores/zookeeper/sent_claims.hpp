// The claims that this client has sent into lines.
#pragma once

#include <cstddef>
#include <optional>
#include <set>

#include "seam/claim.hpp"

namespace holdfast::stores::zookeeper {

/// Of what it does not know it says that it may have been sent, so that somebody looks: so it may forget. A client numbers its
/// claims in order, and those that it forgets are the oldest; for new ones nobody has to look.
///
/// Thread-safety: none.
class sent_claims {
public:
    static constexpr std::size_t most_known = 10'000;

    void add(seam::claim_id id) {
        if (is_forgotten(id)) return;
        known_.insert(id);
        if (known_.size() <= most_known) return;
        forgotten_ = *known_.begin();
        known_.erase(known_.begin());
    }
    /// It has left its line.
    void erase(seam::claim_id id) { known_.erase(id); }
    [[nodiscard]] bool may_contain(seam::claim_id id) const {
        return is_forgotten(id) || known_.contains(id);
    }
    [[nodiscard]] std::size_t size() const noexcept { return known_.size(); }

private:
    [[nodiscard]] bool is_forgotten(seam::claim_id id) const {
        return forgotten_ && id <= *forgotten_;
    }

    std::set<seam::claim_id> known_;
    std::optional<seam::claim_id> forgotten_;  ///< the newest of those
};

}  // namespace holdfast::stores::zookeeper
