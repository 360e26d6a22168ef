#include "invocation.hpp"

#include <algorithm>
#include <array>

namespace holdfast::cli {

namespace {

constexpr std::array table{
    command{"run", "[OPTION…] NAME -- COMMAND [ARG…]", true, &define_run},
    command{"elect", "[OPTION…] NAME --value VALUE -- COMMAND [ARG…]", true, &define_elect},
    command{"leader", "[OPTION…] NAME", false, &define_leader},
    command{"latch", "NAME [--count N] [--down [N]] [--wait [DUR]] [--json]", false, &define_latch},
    command{"barrier", "NAME (--parties N [--wait DUR] | --reset) [--json]", false,
            &define_barrier},
    command{"list", "[OPTION…] [PREFIX]", false, &define_list},
    command{"show", "[OPTION…] NAME", false, &define_show},
    command{"evict", "[OPTION…] NAME", false, &define_evict},
    command{"bench", "[OPTION…]", false, &define_bench},
};

bool runs_program(std::string const& word) {
    return std::ranges::any_of(
        table, [&](command const& known) { return known.runs_program && word == known.name; });
}

}  // namespace

std::span<command const> commands() noexcept { return table; }

std::string usage_of(std::string_view name) {
    for (auto const& each : table)
        if (name == each.name) return std::string{"holdfast "} + each.name + " " + each.arguments;
    return "holdfast [--store URL] COMMAND …";
}

invocation read_arguments(std::span<char* const> arguments) {
    invocation out;
    bool in_program = false;
    bool is_value = false;
    for (char const* argument : arguments) {
        std::string word{argument};
        if (in_program) {
            out.program.push_back(std::move(word));
            continue;
        }
        // The first "--" of a command that runs a program begins that program. Elsewhere it keeps
        // its usual meaning: names may begin with a dash.
        if (word == "--" && runs_program(out.command)) {
            in_program = true;
            continue;
        }
        if (out.command.empty() && !is_value && !word.starts_with('-')) out.command = word;
        is_value = out.command.empty() && word == "--store";
        out.words.push_back(std::move(word));
    }
    return out;
}

}  // namespace holdfast::cli
