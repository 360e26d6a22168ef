// Holds that are put aside for the next lock by this client, on a store of the same process.
#pragma once

#include <cstdint>
#include <deque>

#include "base/clock.hpp"
#include "core/claim_state.hpp"
#include "core/engine_context.hpp"

namespace holdfast::core {

struct engine_parts;

/// See biased_hold. The store can take back by itself what is put aside.
///
/// Thread-safety: none; it belongs to the engine.
class parked_holds {
public:
    parked_holds(engine_parts& parts, engine_context& shared) noexcept
        : parts_{parts}, shared_{shared} {}

    enum class state { free, used, gone };

    /// Instead of a settlement: nobody here wants the hold now. False when it cannot be put aside.
    [[nodiscard]] bool park(claim_state& claim, base::instant now);
    /// Takes the hold out of the biased hold. `used`: a thread has it, and it is a regular hold from now on.
    /// `gone`: the store took it back, and the claim is no more.
    state unpark(claim_state& claim);
    /// Settles what is put aside, unless a thread uses it.
    void give_back(claim_state& claim, base::instant now);
    /// Locks and unlocks that the engine has not seen.
    void count_uses(wait_queue& queue);

private:
    void limit(base::instant now);

    engine_parts& parts_;
    engine_context& shared_;
    std::deque<std::uint64_t> order_;  ///< in which they were put aside; some are back
};

}  // namespace holdfast::core
