// One party at a barrier: what it has seen of the cell, and the swaps that follow from it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/barrier.hpp"
#include "core/hold_state.hpp"
#include "seam/reply.hpp"

namespace holdfast::core {

/// What the cell says, or would say of a new barrier. Throws `limit_mismatch` when it has other parties.
[[nodiscard]] barrier_state state_of(barrier_terms const& terms, seam::cell const& cell);

/// The swap that writes `to`.
[[nodiscard]] seam::swap change(barrier_terms const& terms, std::uint64_t version,
                                barrier_state const& to, seam::claim_id operation);

[[noreturn]] void party_died(barrier_terms const& terms);

/// One party at a barrier, from its arrival to the end of its generation.
struct arrival {
    barrier_terms_ptr terms;
    std::shared_ptr<hold_state> presence;
    seam::claim me;
    seam::cell cell{};  ///< as it was last seen
    barrier_state state{};
    std::uint64_t generation{0};  ///< in which it arrives
    seam::claim_id life{};        ///< of the barrier that has this generation
    bool asked{false};            ///< it may be counted
    bool counted{false};
    bool over{false};  ///< its generation has tripped
    bool left{false};  ///< and this one never will, by its own doing

    void look(seam::reply_body const& answer);
    /// Looks again, and says whether nobody has come or gone since.
    [[nodiscard]] bool is_unchanged(seam::reply_body const& answer);
    /// The generation that is there now is the one that it is about to join.
    void join() noexcept;
    /// Whether the barrier that it has joined is no more, though there may be another.
    [[nodiscard]] bool is_gone() const noexcept { return cell.version == 0 || state.life != life; }
    [[nodiscard]] bool is_last() const noexcept {
        return state.arrived.size() + 1 >= terms->parties;
    }
    [[nodiscard]] bool is_counted_on() const noexcept;

    /// The swap that changes nothing: a barrier lives as long as somebody waits.
    [[nodiscard]] seam::swap touch(seam::claim_id operation) const;
    /// The swap by which it arrives, as the cell is now: the last party trips the generation. `fresh` names the life of a
    /// new barrier.
    [[nodiscard]] seam::swap arrive(seam::claim_id operation, seam::claim_id fresh);
    /// The swap by which it leaves and breaks the generation for the others.
    [[nodiscard]] seam::swap leave(seam::claim_id operation);

    /// What became of its arrival. A swap whose answer was lost may have counted the party before others
    /// changed the cell: its claim is found in the cell then.
    void learn_arrival(seam::reply_body const& answer, bool sent_again);
    /// Whether its generation is over, by what the store says now.
    bool learn(seam::reply_body const& answer);
    /// Whether somebody who has arrived is not there any more, by the store's word.
    [[nodiscard]] bool somebody_died(seam::reply_body const& answer) const;
};

}  // namespace holdfast::core
