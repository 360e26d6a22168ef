// Releases: a holder lets go, and the next one of this client may have it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/clock.hpp"
#include "core/claim_state.hpp"
#include "core/engine_context.hpp"

namespace holdfast::core {

struct engine_parts;

/// A hold passes among the callers of a queue without a message; otherwise it is settled.
///
/// Thread-safety: none; it belongs to the engine.
class releaser {
public:
    releaser(engine_parts& parts, engine_context& shared) noexcept
        : parts_{parts}, shared_{shared} {}

    /// `call`, when given, is completed with the store's word.
    void release(std::shared_ptr<hold_state> const& held, base::instant now,
                 release_call* call = nullptr);
    /// The same for what nobody was given: no minimum hold keeps it.
    void give_back(std::shared_ptr<hold_state> const& held, base::instant now);
    /// The same for a permit that is used up with it.
    void consume(std::shared_ptr<hold_state> const& held, base::instant now);
    /// Gives back what a thread took up in the biased hold and could not put aside again.
    void release(wait_queue& queue, std::uint64_t generation, base::instant now);
    /// See engine::weaken.
    [[nodiscard]] std::optional<seam::convert> weaken(hold_state& held, terms_ptr to,
                                                      base::instant now);
    /// The hold is free for the next local waiter.
    void offer(claim_state& claim, base::instant now);

private:
    /// `used`: somebody was given it.
    void end(std::shared_ptr<hold_state> const& held, base::instant now, bool used,
             release_call* call);
    void repeat(hold_state& held, base::instant now, release_call* call);
    void pass_on(claim_state& claim, base::instant now);

    engine_parts& parts_;
    engine_context& shared_;
};

}  // namespace holdfast::core
