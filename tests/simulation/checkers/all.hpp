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
/// Permits held stay within the limit in force; several are had all or not at all.
[[nodiscard]] checker_ptr make_permits(world& where);
/// Whoever is first in the line comes in when nothing is in its way: nobody starves.
[[nodiscard]] checker_ptr make_progress(world& where);
/// What is left only sinks, by each count-down once; nobody passes before the end, and all after it.
[[nodiscard]] checker_ptr make_latch(world& where);
/// A generation trips for all its parties or for none, with as many as were declared.
[[nodiscard]] checker_ptr make_barrier(world& where);
/// One leader at a time; observers hear of them in order, and of the last one always.
[[nodiscard]] checker_ptr make_election(world& where);
/// No notice is lost: nobody waits for what is there.
[[nodiscard]] checker_ptr make_condition(world& where);
/// Whoever was told that a session is lost believes in nothing that was claimed in it.
[[nodiscard]] checker_ptr make_sessions(world& where);
/// Several names at once: all or none, and never holding while waiting.
[[nodiscard]] checker_ptr make_together(world& where);

/// At a store that compares: every claim in a living session is known to its client.
[[nodiscard]] checker_ptr make_owners(world& where);

void add_all_checkers(world& where);

}  // namespace holdfast::simulation
