// A command inside the hold that it asks for.
#pragma once

#include <optional>
#include <string>

#include "run/plan.hpp"

namespace holdfast::cli {

/// Whose hold of the same name, in the same store, this process runs under: that of a `holdfast run` around it,
/// by HOLDFAST_NAME and HOLDFAST_TOKEN, or one that the calling shell has by `holdfast lock`. Nothing when there
/// is none, or it has ended: a daemon keeps its environment longer than the hold it was started under.
///
/// Asks the store only when the name is that of the environment. Throws std::system_error then.
[[nodiscard]] std::optional<std::string> find_outer_hold(run_plan const& plan);

}  // namespace holdfast::cli
