#include "simulation/engine_claims.hpp"

namespace holdfast::simulation {

namespace {

core::engine_parts& parts_of(core::engine& engine);

// The language lets an explicit instantiation name what is private, so that the engine need not be told of its tests.
template <core::engine_parts core::engine::*Parts>
struct parts_access {
    friend core::engine_parts& parts_of(core::engine& engine) { return engine.*Parts; }
};

template struct parts_access<&core::engine::parts_>;

}  // namespace

bool knows_claim(core::engine& engine, seam::claim_id id) {
    return parts_of(engine).claims.find(id.number) != nullptr;
}

}  // namespace holdfast::simulation
