#include "simulation/checkers/all.hpp"

#include "simulation/world.hpp"

namespace holdfast::simulation {

void add_all_checkers(world& where) {
    for (auto* const make :
         {&make_exclusion, &make_early_loss, &make_persistence, &make_fencing, &make_calls,
          &make_leftovers, &make_wake_up, &make_order, &make_honesty, &make_passes, &make_permits,
          &make_progress, &make_latch, &make_barrier, &make_election, &make_condition,
          &make_sessions, &make_together, &make_owners})
        where.checkers.push_back(make(where));
}

}  // namespace holdfast::simulation
