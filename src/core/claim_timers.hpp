// What comes due, and doing it.
#pragma once

#include "base/clock.hpp"
#include "core/claim_state.hpp"
#include "core/engine_context.hpp"

namespace holdfast::core {

struct engine_parts;

/// Each claim has one timer: for whatever comes first of what its phase waits for.
///
/// Thread-safety: none; it belongs to the engine.
class claim_timers {
public:
    claim_timers(engine_parts& parts, engine_context& shared) noexcept
        : parts_{parts}, shared_{shared} {}

    /// After anything that may change when the claim comes due.
    void reschedule(claim_state& claim);
    void on_time(base::instant now);

private:
    [[nodiscard]] base::instant due_of(claim_state const& claim) const;
    void on_due(claim_state& claim, base::instant now);
    [[nodiscard]] bool end_in_time(claim_state& claim, base::instant now);
    void on_silence(claim_state& claim, base::instant now);
    void hurry_renewals(base::instant now);

    engine_parts& parts_;
    engine_context& shared_;
};

}  // namespace holdfast::core
