// The quorum as a machine without I/O: requests come in, requests to members go out, votes are counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "stores/quorum/claim_votes.hpp"
#include "stores/quorum/evictions.hpp"
#include "stores/quorum/membership.hpp"
#include "stores/quorum/name_watches.hpp"
#include "stores/quorum/renewals.hpp"
#include "stores/quorum/rounds.hpp"

namespace holdfast::stores::quorum {

/// What a quorum begins with.
struct environment {
    agreement agreed;
    std::vector<std::string> addresses;
    seam::client_id self{};
    std::uint64_t seed{0};
    judgement const* judge{nullptr};  ///< outlives the machine
};

/// Carries each request out on a majority of its members. Its own time is the client's CLOCK_BOOTTIME; what has to be
/// in a member's time is put into it by a reading of that member's clock.
///
/// Thread-safety: none; its owner serialises.
class machine {
public:
    explicit machine(environment given);
    machine(machine const&) = delete;
    machine& operator=(machine const&) = delete;

    /// Claims at this member do not end by their leases, but with sessions of the client.
    void expect_sessions(std::size_t member) { members_[member].per_claim_lease = false; }

    void take(seam::request_id id, seam::request const& what, base::instant now);
    void on_reply(std::size_t from, seam::request_id id, seam::reply const& answer,
                  base::instant now);
    void on_notice(std::size_t from, seam::notice const& what, base::instant now);
    void on_time(base::instant now);
    /// When there is something to do without a reply.
    [[nodiscard]] base::instant next_time() const;
    /// Whether answers may be so near that it is not worth while to sleep.
    [[nodiscard]] bool expects_answers_soon() const { return rounds_.are_being_answered(); }

    /// What was given back, and may still be on its way to a member.
    [[nodiscard]] unheard_ends ends_under_way() const {
        return rounds_.ends_under_way(membership_.agreed().longest_lease);
    }

    [[nodiscard]] std::vector<outgoing> take_outgoing() { return rounds_.take_outgoing(); }
    [[nodiscard]] results take_results() { return rounds_.take_results(); }

private:
    /// What a member said whose record is being read again.
    struct doubted_reply {
        std::size_t from{0};
        seam::request_id id{};
        seam::reply answer;
    };

    [[nodiscard]] bool is_doubted(std::size_t from, seam::request_id id) const;
    void believe(std::size_t from, base::instant now);
    void inspect(seam::request_id id, seam::inspect const& what, base::instant now);

    std::vector<member> members_;
    rounds rounds_;
    membership membership_;
    name_watches watches_;
    claim_endings endings_;
    claim_votes claims_;
    renewals renewals_;
    evictions evictions_;
    std::vector<doubted_reply> doubted_;
};

}  // namespace holdfast::stores::quorum
