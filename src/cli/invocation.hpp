// One invocation of the command: what was typed, and what is to be done about it.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/options.hpp>

#include "trouble_log.hpp"

namespace CLI {
class App;
}

namespace holdfast::cli {

struct invocation {
    std::string command{};               ///< the first word that is not an option; may be unknown
    std::vector<std::string> words{};    ///< what holdfast itself is to understand
    std::size_t command_at{0};           ///< where `command` stands among them
    std::vector<std::string> program{};  ///< what is to be run, for commands that run a program
    std::string store{};                 ///< --store as given; empty when it was not
    std::chrono::milliseconds patience{client_options{}.patience};  ///< with a silent store
    bool verbose{false};
    trouble_log trouble{};          ///< of the client that `open_client` makes
    std::function<int()> action{};  ///< set by the command that was chosen
};

/// Where the program that a command runs stands among its words.
enum class program_place {
    none,
    behind_dashes,  ///< "-- COMMAND [ARG…]"
    behind_name,    ///< the same, and without "--" as the second word that is no option
};

/// One word of the command line. Each is defined in a file of its own.
struct command {
    char const* name;
    char const* arguments;  ///< for the line "Usage:"
    program_place program;
    void (*define)(CLI::App& parent, invocation& invocation);
};

void define_run(CLI::App& parent, invocation& invocation);
void define_lock(CLI::App& parent, invocation& invocation);
void define_unlock(CLI::App& parent, invocation& invocation);
void define_help(CLI::App& parent, invocation& invocation);
void define_elect(CLI::App& parent, invocation& invocation);
void define_leader(CLI::App& parent, invocation& invocation);
void define_latch(CLI::App& parent, invocation& invocation);
void define_barrier(CLI::App& parent, invocation& invocation);
void define_list(CLI::App& parent, invocation& invocation);
void define_show(CLI::App& parent, invocation& invocation);
void define_evict(CLI::App& parent, invocation& invocation);
void define_schema(CLI::App& parent, invocation& invocation);
void define_bench(CLI::App& parent, invocation& invocation);

/// All commands, in the order in which the help shows them.
[[nodiscard]] std::span<command const> commands() noexcept;

/// "holdfast NAME ARGUMENTS": how the command is used, in one line.
[[nodiscard]] std::string usage_of(std::string_view name);

/// Copies the arguments and finds the word that is the command.
[[nodiscard]] invocation read_arguments(std::span<char* const> arguments);

/// Turns "help [COMMAND]" into "[COMMAND] --help". Throws `usage_error` for an unknown command.
void ask_for_help(invocation& invocation);

/// Parses, performs, and returns the exit status.
[[nodiscard]] int perform(invocation& invocation);

}  // namespace holdfast::cli
