// Locks as people and as programs read them.
#pragma once

#include <string>
#include <vector>

#include <holdfast/info.hpp>

namespace holdfast::cli {

/// A table with one line per holder and the number of waiters; for `holdfast list`.
[[nodiscard]] std::string table_of(std::vector<lock_info> const& locks, bool colourful);

/// Everything about one name; for `holdfast show`.
[[nodiscard]] std::string details_of(lock_info const& lock, bool colourful);

/// JSON. Tokens are decimal strings: many readers round large numbers.
[[nodiscard]] std::string json_of(std::vector<lock_info> const& locks);
[[nodiscard]] std::string json_of(lock_info const& lock);

/// Cycles of owners who wait for each other, as `find_deadlocks` returns them.
[[nodiscard]] std::string text_of(std::vector<std::vector<deadlock_step>> const& cycles);
[[nodiscard]] std::string json_of(std::vector<std::vector<deadlock_step>> const& cycles);

}  // namespace holdfast::cli
