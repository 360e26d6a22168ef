// Submits: asks the store for a claim, and takes its answer.
#pragma once

#include <chrono>

#include "base/clock.hpp"
#include "core/claim_state.hpp"
#include "core/engine_context.hpp"

namespace holdfast::core {

struct engine_parts;

/// A submit may be under way more than once; whichever answer comes first counts.
///
/// Thread-safety: none; it belongs to the engine.
class submitter {
public:
    submitter(engine_parts& parts, engine_context& shared) noexcept
        : parts_{parts}, shared_{shared} {}

    void submit(claim_state& claim, base::instant now);
    void on_reply(claim_state& claim, pending_request const& was, seam::reply const& answer,
                  base::instant now);
    void on_failure(claim_state& claim, base::error const& error, base::instant now);
    /// The lane has told the time.
    void on_clock(seam::lane_id lane, base::instant now);
    /// The lane could not be asked for the time.
    void on_clock_failure(seam::lane_id lane, base::error const& error, base::instant now);

    /// The store has granted the claim, by an answer or by a notice.
    void on_granted(claim_state& claim, seam::grant const& grant, clock_readings::reading const& by,
                    base::instant now);
    /// When to show the store that the waiter is alive, which also moves a line whose holder died.
    void plan_wait(claim_state& claim, std::chrono::milliseconds blocked_for, base::instant now);

private:
    void send_submit(claim_state& claim, base::instant now);
    void await_clock(claim_state& claim, base::instant now);
    [[nodiscard]] base::instant give_up_time(claim_state const& claim, base::instant now) const;
    void on_queued(claim_state& claim, std::chrono::milliseconds blocked_for, base::instant now);
    void on_refused(claim_state& claim, seam::refused const& no, base::instant now);
    void on_too_late(claim_state& claim, base::instant now);
    [[nodiscard]] std::chrono::nanoseconds poll_interval(claim_state& claim,
                                                         std::chrono::milliseconds blocked_for);

    engine_parts& parts_;
    engine_context& shared_;
};

}  // namespace holdfast::core
