// Settlements: the engine ends at the store what belongs to nobody any more.
#pragma once

#include <cstddef>

#include "base/clock.hpp"
#include "core/claim_state.hpp"
#include "core/engine_context.hpp"
#include "core/settlement_window.hpp"

namespace holdfast::core {

struct engine_parts;

/// Nobody has to wait for a settlement, but somebody may.
///
/// Thread-safety: none; it belongs to the engine.
class settler {
public:
    settler(engine_parts& parts, engine_context& shared) noexcept
        : parts_{parts}, shared_{shared} {}

    /// From here on the claim belongs to nobody; the settler alone sees to its end.
    void settle(claim_state& claim, base::instant now);
    /// Sends the settlement of a claim that is ending, when its turn comes.
    void send_settle(claim_state& claim, base::instant now);
    /// The same at once.
    void settle_now(claim_state& claim, base::instant now);
    /// Whoever asks for a name of this hash must find it free: what is kept back of it goes at once.
    void settle_before(std::size_t name_hash, base::instant now);
    void on_reply(claim_state& claim, seam::reply const& answer, base::instant now);
    void on_failure(claim_state& claim, base::error const& error, base::instant now);
    /// Completes the releases that wait for it, and remembers the outcome for those that come later.
    void tell_release(claim_state& claim, release_outcome outcome);
    void withdraw(release_call& call) noexcept;
    /// The store does not have the claim, or will not for long: it is no more.
    void forget(claim_state& claim);

private:
    [[nodiscard]] bool must_wait(claim_state& claim);
    void settle_next(seam::lane_id lane);

    engine_parts& parts_;
    engine_context& shared_;
    settlement_window window_;
};

}  // namespace holdfast::core
