// Which claims an engine knows: nobody but a simulation asks for that.
#pragma once

#include "core/engine.hpp"

namespace holdfast::simulation {

[[nodiscard]] bool knows_claim(core::engine& engine, seam::claim_id id);

}  // namespace holdfast::simulation
