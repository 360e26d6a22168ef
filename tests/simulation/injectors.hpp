// Injectors: what goes wrong, and when, drawn from the seed. Faults of single messages are the
// link's; these are the ones that have a moment.
#pragma once

namespace holdfast::simulation {

class world;

/// Plans all faults of the profile over the chaotic part of the run.
void inject(world& where);

/// Ends all faults: connections mend, the store speaks, stopped clients go on.
void heal(world& where);

}  // namespace holdfast::simulation
