// Who waits for whom: cycles in what a store knows of its names.
#pragma once

#include <string_view>
#include <vector>

#include <holdfast/info.hpp>

namespace holdfast::core {

/// The cycle of owners in which the claim `id` takes part as a waiter, beginning with it; empty when
/// there is none. Owners are nodes; a waiter waits for every holder of its name and for the waiter
/// before it. Permits are left out: any one of many holders can free them. What is kept under a minimum
/// hold is nobody's, and ends by itself. A claim whose thread is not known, because threads of its client
/// hand it on among themselves, waits for nobody.
[[nodiscard]] std::vector<deadlock_step> find_cycle(std::vector<lock_info> const& names,
                                                    std::string_view id);

/// Whether the claim `id` is the youngest waiter of the cycle: the one that closed it.
[[nodiscard]] bool is_youngest(std::vector<deadlock_step> const& cycle, std::string_view id);

}  // namespace holdfast::core
