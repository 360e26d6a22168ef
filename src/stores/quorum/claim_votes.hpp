// Claims are taken by votes, and given back.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "stores/quorum/claim_endings.hpp"
#include "stores/quorum/claim_entry.hpp"
#include "stores/quorum/membership.hpp"
#include "stores/quorum/name_watches.hpp"
#include "stores/quorum/rounds.hpp"

namespace holdfast::stores::quorum {

/// Thread-safety: none; it belongs to the machine.
class claim_votes {
public:
    /// All but the id outlive it.
    claim_votes(std::vector<member>& members, rounds& asked, membership& voters,
                name_watches& watches, claim_endings& endings, judgement const& judge,
                seam::client_id self)
        : members_{members},
          rounds_{asked},
          membership_{voters},
          watches_{watches},
          endings_{endings},
          judge_{judge},
          self_{self} {}

    void submit(seam::request_id id, seam::submit const& what, base::instant now);
    void settle(seam::request_id id, seam::settle const& what, base::instant now);

    /// A claim that is held; none when it is not.
    [[nodiscard]] claim_entry* find_held(seam::claim_id id);
    /// It was granted or renewed: it is forgotten when its lease is surely over.
    void keep(claim_entry& entry, base::instant now);
    /// A majority has lost it. What the others have of it stays until it is settled, or its lease is over there: the
    /// holder has not been told yet, and that minority keeps out whoever would hold beside it.
    void mark_lost(seam::claim_id id, base::instant now);
    /// Whose claim it is that the members know by this id.
    [[nodiscard]] std::optional<seam::claim_id> asker_of(seam::claim_id attempt) const {
        auto const found = by_attempt_.find(attempt);
        return found == by_attempt_.end() ? std::nullopt : std::optional{found->second};
    }

    void on_time(base::instant now);
    [[nodiscard]] base::instant next_time() const noexcept { return next_sweep_; }

private:
    [[nodiscard]] std::optional<base::error> refusal_of(seam::claim_spec const& spec) const;
    [[nodiscard]] seam::sequence next_ballot(base::instant now);
    [[nodiscard]] static base::instant moment_of(seam::store_time when, base::instant now);
    /// An attempt: its own id, its own ballot.
    void begin_vote(seam::request_id asker, seam::claim_id of, claim_entry& entry,
                    base::instant now);
    void put_to_vote(claim_entry& entry, round& in, base::instant now);
    void judge_submit(seam::claim_id of, seam::claim_id attempt, round& in, base::instant now);
    static void note_missing(claim_entry& entry, round const& in, base::instant now);
    void on_majority(claim_entry& entry, seam::claim_id of, seam::sequence number, round& in,
                     base::instant now);
    void on_no_majority(seam::claim_id of, round& in, base::instant now);
    [[nodiscard]] bool vote_again(seam::claim_id of, round& in, base::instant now);
    void stop_vote(claim_entry const& entry, base::instant now);
    void judge_settle(seam::claim_id of, round& in, base::instant now);

    std::vector<member>& members_;
    rounds& rounds_;
    membership& membership_;
    name_watches& watches_;
    claim_endings& endings_;
    judgement const& judge_;
    seam::client_id self_;
    claim_map claims_;
    std::unordered_map<seam::claim_id, seam::claim_id>
        by_attempt_;  ///< the asker's id of a held one
    std::uint64_t last_claim_{0};
    std::uint64_t highest_ballot_{0};  ///< proposed or told
    base::instant next_sweep_{base::never};
};

}  // namespace holdfast::stores::quorum
