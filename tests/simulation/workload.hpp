// Workloads: who wants what, how, and how long, drawn from the seed.
#pragma once

#include "simulation/user.hpp"

namespace holdfast::simulation {

class world;

/// One user's habit.
[[nodiscard]] habit draw_habit(world& where);

/// A client with as many users as the profile says, already at work.
void add_working_client(world& where);

}  // namespace holdfast::simulation
