// Claims are kept by votes: renewal, repair, conversion.
#pragma once

#include <chrono>
#include <cstddef>
#include <set>
#include <vector>

#include "stores/quorum/claim_votes.hpp"

namespace holdfast::stores::quorum {

/// Thread-safety: none; it belongs to the machine.
class renewals {
public:
    /// All but the lease outlive it.
    renewals(std::vector<member>& members, rounds& asked, claim_votes& claims,
             judgement const& judge, std::chrono::milliseconds longest_lease)
        : members_{members},
          rounds_{asked},
          claims_{claims},
          judge_{judge},
          longest_lease_{longest_lease} {}

    void renew(seam::request_id id, seam::renew const& what, base::instant now);
    void convert(seam::request_id id, seam::convert const& what, base::instant now);

private:
    struct renewed_claim {
        seam::claim_id id;
        std::size_t place{0};  ///< in what the members are asked
        std::chrono::milliseconds lease{0};
        bool known{false};  ///< else the members are not asked for it
        std::set<std::size_t> repaired{};
    };

    void judge_renew(std::vector<renewed_claim>& items, round& in, bool hurries, base::instant now);
    void note_missing(renewed_claim const& item, round const& in, base::instant now);
    [[nodiscard]] seam::renewal renewal_of(renewed_claim& item, round const& in, base::instant now);
    void repair(renewed_claim& item, round const& in, base::instant now);
    void judge_convert(seam::claim_id of, seam::convert const& what, round& in, base::instant now);

    std::vector<member>& members_;
    rounds& rounds_;
    claim_votes& claims_;
    judgement const& judge_;
    std::chrono::milliseconds longest_lease_;
};

}  // namespace holdfast::stores::quorum
