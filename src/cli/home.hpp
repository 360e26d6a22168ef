// Where a user's own files are.
#pragma once

#include <string>

namespace holdfast::cli {

/// The value of an environment variable; empty when it is not set.
[[nodiscard]] std::string environment(char const* name);

/// The directory that `variable` names, else `below` the home directory; empty when there is none.
/// A relative path in the variable is ignored, as the XDG specification wants it.
[[nodiscard]] std::string user_directory(char const* variable, char const* below);

}  // namespace holdfast::cli
