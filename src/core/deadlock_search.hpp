// The search for cycles of waiting owners.
#pragma once

#include "base/clock.hpp"
#include "core/claim_state.hpp"
#include "core/engine_context.hpp"

namespace holdfast::core {

struct engine_parts;

/// Queue first, then look: whoever queues last sees the whole cycle.
///
/// Thread-safety: none; it belongs to the engine.
class deadlock_search {
public:
    deadlock_search(engine_parts& parts, engine_context& shared) noexcept
        : parts_{parts}, shared_{shared} {}

    /// Looks whether the wait of this claim closes a cycle.
    void look(claim_state& claim, base::instant now);
    void on_reply(claim_state& claim, seam::reply const& answer, base::instant now);

private:
    engine_parts& parts_;
    engine_context& shared_;
};

}  // namespace holdfast::core
