// Renewals: sent in batches, by lanes, a bounded number at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "core/claim_state.hpp"
#include "core/engine_context.hpp"
#include "core/renewal_window.hpp"

namespace holdfast::core {

struct engine_parts;

/// Sends what shows the store that claims are alive. What the answers mean is the hold_keeper's.
///
/// Thread-safety: none; it belongs to the engine.
class renewer {
public:
    renewer(engine_parts& parts, engine_context& shared) noexcept
        : parts_{parts}, shared_{shared} {}

    /// The claim goes when its turn comes, with `send_due`.
    void want(claim_state& claim, base::instant now);
    /// The same for all of them, the oldest first. Where the store has forgotten those who wait for a name, they queue
    /// anew in the order in which they are asked for: of these none goes before an older one, whatever their leases.
    void want_all(std::span<claim_state* const> by_age, base::instant now);
    /// Whether a batch would leave now.
    [[nodiscard]] bool can_send(base::instant now) const noexcept {
        return window_.next_place() <= now;
    }
    /// Sends what there is a place for.
    void send_due(base::instant now);
    /// The claim wants it, and goes at once when there is a place.
    void renew_now(claim_state& claim, base::instant now);
    /// Without waiting its turn: somebody waits for it.
    void send_alone(claim_state& claim, base::instant now);
    /// The request has been answered, or has failed.
    void on_answer(pending_request const& was) { window_.leave(*was.lane, was.subject); }

private:
    void add(claim_state& claim, renewal_window::wish const& wish, base::instant now);
    [[nodiscard]] renewal_window::wish wish_of(claim_state const& claim, base::instant now) const;
    [[nodiscard]] std::chrono::nanoseconds answer_time(claim_state const& claim) const;
    [[nodiscard]] std::vector<claim_state*> next_batch(seam::lane_id lane);
    void send_batch(seam::lane_id lane, std::span<claim_state* const> claims, base::instant now,
                    std::uint64_t place = 0);

    engine_parts& parts_;
    engine_context& shared_;
    renewal_window window_;
    timed timer_{timed::kind::renewals};  ///< for those that wait their turn
};

}  // namespace holdfast::core
