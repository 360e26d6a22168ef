// summary: a run in a few lines.
#pragma once

#include <string>

#include "histories/run.hpp"

namespace holdfast::histories {

[[nodiscard]] std::string summary_of(run_result const& result);

/// The command that makes the same choices again.
[[nodiscard]] std::string command_of(run_settings const& settings);

}  // namespace holdfast::histories
