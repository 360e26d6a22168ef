// The checkers, one for each promise.
#pragma once

#include <memory>

#include "simulation/checker.hpp"

namespace holdfast::simulation {

using checker_ptr = std::unique_ptr<checker>;

/// By the store's own clock, no two unexpired grants of one name conflict.
[[nodiscard]] checker_ptr make_exclusion(world& where);
/// A holder knows that its hold is over before the store can give the name to another.
[[nodiscard]] checker_ptr make_early_loss(world& where);
/// A failed renewal is tried again until the deadline: no error ends a hold, nor the renewing.
[[nodiscard]] checker_ptr make_persistence(world& where);
/// Tokens rise between conflicting grants.
[[nodiscard]] checker_ptr make_fencing(world& where);
/// Every call ends once, in time, and with a true answer.
[[nodiscard]] checker_ptr make_calls(world& where);
/// Nothing stays at the store that nobody owns.
[[nodiscard]] checker_ptr make_leftovers(world& where);
/// A free name does not stay free while somebody waits for it.
[[nodiscard]] checker_ptr make_wake_up(world& where);
/// The store's line is served in its order.
[[nodiscard]] checker_ptr make_order(world& where);
/// A release says what happened.
[[nodiscard]] checker_ptr make_honesty(world& where);
/// Local passes keep within their bounds.
[[nodiscard]] checker_ptr make_passes(world& where);

void add_all_checkers(world& where);

}  // namespace holdfast::simulation
