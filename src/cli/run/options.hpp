// The options that the commands which run a program have in common.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
    bool shared{false};
    std::uint32_t permits{0};
    std::uint32_t limit{0};
    std::string on_lost{"term"};
    int conflict_exit{exit_status::not_acquired};
    std::optional<std::string> label{};
    bool quiet{false};
    bool pass_credentials{false};
};

/// Adds NAME, which is `what`, and the options that say how it is acquired.
void add_acquire_options(CLI::App& app, hold_options& options, char const* what);

/// The same, and what is done to a program that runs under the hold.
void add_hold_options(CLI::App& app, hold_options& options, char const* what);

/// --shared, --limit and --permits, which an election has not.
void add_mode_options(CLI::App& app, hold_options& options);

/// What they ask for: the plan of a lock. Throws `usage_error`.
[[nodiscard]] run_plan plan_of(hold_options const& options, invocation const& invocation);
[[nodiscard]] run_plan plan_of(hold_options const& options, invocation const& invocation,
                               std::vector<std::string> program);

/// The same where no program is run, but for the label.
[[nodiscard]] run_plan plan_without_program(hold_options const& options,
                                            invocation const& invocation);

}  // namespace holdfast::cli
