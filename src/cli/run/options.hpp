// The options that the commands which run a program have in common.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "exit_status.hpp"
#include "invocation.hpp"
#include "run/plan.hpp"

namespace holdfast::cli {

/// How a program is run under a hold, as it was typed.
struct hold_options {
    std::string name{};
    std::optional<std::chrono::milliseconds> wait{};
    bool no_wait{false};
    std::optional<std::chrono::milliseconds> lease{};
    std::optional<std::chrono::milliseconds> max_hold{};
    std::optional<std::chrono::milliseconds> min_hold{};
    std::optional<std::chrono::milliseconds> grace{};
    bool fair{false};
    std::string on_lost{"term"};
    int conflict_exit{exit_status::not_acquired};
    std::optional<std::string> label{};
    bool quiet{false};
};

/// Adds NAME, which is `what`, and the options to the command.
void add_hold_options(CLI::App& app, hold_options& options, char const* what);

/// What they ask for: the plan of a lock. Throws `usage_error`.
[[nodiscard]] run_plan plan_of(hold_options const& options, invocation const& invocation);

}  // namespace holdfast::cli
