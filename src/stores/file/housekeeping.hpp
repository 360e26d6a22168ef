// What clients do for each other in their file: they end the claims of the dead, and keep it small.
#pragma once

#include <chrono>

#include "stores/file/open_file.hpp"
#include "stores/lease/rules.hpp"

namespace holdfast::stores::file {

// All of these within a transaction, by its rules.

/// So many claims, names or rows at once, so that no transaction keeps the file locked for long.
inline constexpr std::int64_t chores_at_once = 256;

/// Ends the claims of a client that is gone, at most a batch of them; its row goes with the last: whether
/// it went.
bool reap(open_file& file, lease::rules& rules, seam::client_id client);

/// Looks who is dead, unless somebody has done so lately.
void reap_dead(open_file& file, lease::rules& rules, std::chrono::microseconds at_most_every);

/// Removes what is over and what nobody asks for any more.
void sweep(open_file& file, lease::rules& rules, seam::store_time now);

}  // namespace holdfast::stores::file
