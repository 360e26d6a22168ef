// Which claim each notice of a judgement is about.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "stores/compare/session.hpp"

namespace holdfast::stores::compare {

/// How a claim is written to: the session with which it lives, and what nobody but its own client knows of it.
struct addressee {
    session_id session{};
    std::uint64_t secret{0};
};

/// The rules name a claim by its id alone, and that does not say which one is meant: what a dead session has left of a
/// claim may stand beside the same claim, as its client has submitted it anew.
///
/// Thread-safety: none; it belongs to its working copy.
class addressees {
public:
    void note_let_in(seam::claim_id id, addressee who) { let_in_.insert_or_assign(id, who); }
    void note_ended(seam::claim_id id, addressee who) { ended_.emplace(id, who); }

    /// Who came in out of the line.
    [[nodiscard]] std::optional<addressee> let_in(seam::claim_id id) const {
        auto const found = let_in_.find(id);
        return found == let_in_.end() ? std::nullopt : std::optional{found->second};
    }

    /// Who has ended; of several with one id the first, and the next one when it is asked for again.
    [[nodiscard]] std::optional<addressee> take_ended(seam::claim_id id) {
        auto const found = ended_.lower_bound(id);
        if (found == ended_.end() || found->first != id) return std::nullopt;
        auto const out = found->second;
        ended_.erase(found);
        return out;
    }

private:
    std::map<seam::claim_id, addressee> let_in_;
    std::multimap<seam::claim_id, addressee> ended_;  ///< those of one id as they ended
};

}  // namespace holdfast::stores::compare
