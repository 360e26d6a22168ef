// The claims of one client, as far as they are in its store.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "stores/compare/view.hpp"

namespace holdfast::stores::compare {

struct own_claim {
    name_key key;
    session_id session{};
    /// It was to go over to this one, and whether it has is not known: it ends when the first of the two does.
    session_id moving_to{};
    std::uint64_t secret{0};
    bool held{false};
    bool waiting{false};
    bool given_up{false};  ///< being taken out of the store: whoever lets it in now has not helped
    seam::sequence number{};  ///< of a held one
    bool contended{false};    ///< somebody else waits for its name
    /// In which stretch of unbroken messages it was last seen in the store: within it, an end is told.
    std::uint64_t stretch{0};

    /// Also with the one that it was to go over to.
    [[nodiscard]] bool lives_with(session_id which) const noexcept {
        return session == which || (moving_to != session_id{} && moving_to == which);
    }
};

/// Thread-safety: none; it belongs to its machine.
class own_claims {
public:
    [[nodiscard]] own_claim* find(seam::claim_id id) {
        auto const found = claims_.find(id);
        return found == claims_.end() ? nullptr : &found->second;
    }

    own_claim& add(seam::claim_id id, own_claim made) {
        return claims_.insert_or_assign(id, std::move(made)).first->second;
    }

    void erase(seam::claim_id id) { claims_.erase(id); }

    [[nodiscard]] bool lives_with(session_id session) const {
        return std::ranges::any_of(claims_, [&](auto const& each) {
            return each.second.session == session || each.second.moving_to == session;
        });
    }

    /// Forgets those that live with a session. Returns those of them that were held or waited for, in order. One that
    /// was about to move has perhaps done so, and lives with the other one until a look says what is true.
    [[nodiscard]] std::vector<seam::claim_id> erase_with(session_id session) {
        std::vector<seam::claim_id> out;
        for (auto& [id, claim] : claims_) {
            if (claim.moving_to == session) claim.moving_to = {};
            if (claim.session != session) continue;
            if (claim.moving_to != session_id{}) {
                claim.session = std::exchange(claim.moving_to, session_id{});
                claim.stretch = 0;
            } else if (claim.held || claim.waiting) {
                out.push_back(id);
            }
        }
        std::erase_if(claims_, [&](auto const& each) { return each.second.session == session; });
        std::ranges::sort(out);
        return out;
    }

    [[nodiscard]] std::unordered_map<seam::claim_id, own_claim> const& all() const noexcept {
        return claims_;
    }

private:
    std::unordered_map<seam::claim_id, own_claim> claims_;
};

}  // namespace holdfast::stores::compare
