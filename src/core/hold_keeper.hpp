// The keeper of holds: what a renewal brings, doubt, and loss before the deadline.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "core/claim_state.hpp"
#include "core/engine_context.hpp"

namespace holdfast::core {

struct engine_parts;

/// A hold is kept until its holder lets go, or until it is lost: one error never means lost.
///
/// Thread-safety: none; it belongs to the engine.
class hold_keeper {
public:
    hold_keeper(engine_parts& parts, engine_context& shared) noexcept
        : parts_{parts}, shared_{shared} {}

    /// Renews now; the call is completed with the store's word.
    void renew(hold_state& held, std::optional<std::chrono::milliseconds> lease, renew_call& call,
               base::instant now);
    void on_reply(pending_request const& was, seam::reply const& answer, base::instant now);
    /// A whole request has failed.
    void on_failure(pending_request const& was, base::error const& error, base::instant now);
    /// The renewal of one claim has failed.
    void on_renewal_failure(claim_state& claim, base::error const& error, base::instant now);
    /// Nothing is proven either way until the next answer. The deadline stands.
    void doubt(claim_state& claim, base::instant now);
    /// Tells the holder, before the store can give the name to another.
    void lose(claim_state& claim, std::string const& why, base::instant now);
    /// Ends the hold as lost, of which its holder is told; false when it had ended already.
    bool end_hold(std::shared_ptr<hold_state> const& held, std::string const& why);
    /// The store has forgotten a waiter, or gave it what it has lost since.
    void begin_anew(claim_state& claim, base::instant now);
    /// How often the claim is renewed, when its lease is as long as that.
    [[nodiscard]] static std::chrono::nanoseconds renew_every(claim_state const& claim,
                                                              std::chrono::milliseconds lease);

private:
    void on_renewal(claim_state& claim, seam::renewal const& result,
                    std::chrono::milliseconds lease, clock_readings::reading const& by,
                    base::instant now);
    void confirm(claim_state& claim, seam::grant const& grant, std::chrono::milliseconds asked,
                 clock_readings::reading const& by, base::instant now);

    engine_parts& parts_;
    engine_context& shared_;
};

}  // namespace holdfast::core
