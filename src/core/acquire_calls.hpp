// Acquires: callers come, wait, are given a hold, or go without one.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/clock.hpp"
#include "core/call.hpp"
#include "core/claim_state.hpp"
#include "core/engine_context.hpp"

namespace holdfast::core {

struct engine_parts;

/// The wait queues, from the side of those who stand in them.
///
/// Thread-safety: none; it belongs to the engine.
class acquire_calls {
public:
    acquire_calls(engine_parts& parts, engine_context& shared) noexcept
        : parts_{parts}, shared_{shared} {}

    void begin(acquire_call& call, base::instant now, base::instant deadline);
    /// Completes the call, unless it is complete already.
    void withdraw(acquire_call& call, base::instant now);
    void take_offer(acquire_call& call, base::instant now);
    void on_deadline(acquire_call& call, base::instant now);
    void answer_retry(std::uint64_t ticket, std::optional<std::chrono::milliseconds> delay,
                      base::instant now);

    /// A claim for those who wait in the queue, which has none. The store may have been silent to the claim that they
    /// had before: whoever has waited for it then does not begin anew.
    void start(std::shared_ptr<wait_queue> const& queue, base::instant now,
               base::instant silent_since = base::never);
    /// The same for those who wait behind a hold that this client has just let go.
    void start_again(std::shared_ptr<wait_queue> const& queue, base::instant now,
                     base::instant silent_since = base::never);
    /// Nobody wants the claim any more: makes sure that the store does not keep it.
    void abandon(claim_state& claim, base::instant now);

    /// The hold is given to the first caller.
    void give_first(claim_state& claim, base::instant now);
    /// Whether the hold may go to one more caller of this client.
    [[nodiscard]] bool may_pass(claim_state const& claim, base::instant now) const;

    /// The retry policy of the first caller decides how it goes on.
    void ask_policy(claim_state& claim, base::error const& error, base::instant now);
    /// Ends the calls that made one attempt; and the claim, when nobody is left.
    void answer_busy(wait_queue& queue, base::instant now);
    /// Ends the calls that made one attempt.
    void end_attempts(wait_queue& queue);
    /// Ends all calls of the queue in the same way.
    void end_all(wait_queue& queue, verdict outcome, base::error const& error = {});
    /// The same, and the claim with them.
    void fail_queue(claim_state& claim, base::error const& error, base::instant now);
    /// When the first of the calls without a deadline gives a silent store up; never while it answers.
    [[nodiscard]] base::instant patience_end(claim_state const& claim) const;
    /// Ends those of them whose patience is over.
    void fail_impatient(claim_state& claim, base::instant now);

private:
    /// At a store without a line nobody knows whether others wait. Who has used up its passes lets them try.
    static constexpr std::chrono::milliseconds longest_pause_for_others{50};

    [[nodiscard]] static std::chrono::nanoseconds pause_for_others(wait_queue const& queue,
                                                                   base::instant now);
    [[nodiscard]] bool must_let_others_try(wait_queue& queue, base::instant now) const;
    [[nodiscard]] base::instant patience_end(acquire_call const& call,
                                             claim_state const& claim) const;
    void leave(acquire_call& call, base::instant now);
    void give(claim_state& claim, acquire_call& call, base::instant now);
    void complete(acquire_call& call, verdict outcome, base::error error = {});

    engine_parts& parts_;
    engine_context& shared_;
    boost::unordered_flat_map<std::uint64_t, acquire_call*>
        asked_;  ///< whose policy is being asked
    std::uint64_t last_ticket_{0};
};

}  // namespace holdfast::core
