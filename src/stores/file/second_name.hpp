// Whether a store file can be reached by a second name, which would have companions of its own: users of
// the two names would lock in one file without seeing each other.
#pragma once

#include <string>

#include <sys/stat.h>

namespace holdfast::stores::file {

enum class second_name {
    none,
    hard_link,
    mount,  ///< the file alone is mounted here from elsewhere, without its directory
};

/// Answers what statx(2) answers; tests put another one in its place.
using statx_probe = int (*)(int, char const*, int, unsigned, struct statx*);

/// What is known at `path`, an absolute one. A file that cannot be examined has none that we know of.
/// Opens nothing in a way that could drop locks.
[[nodiscard]] second_name find_second_name(std::string const& path, statx_probe probe = &::statx);

/// Refuses a file that has one, in words that say what to do.
void require_one_name(std::string const& path);

}  // namespace holdfast::stores::file
