#include "invocation.hpp"

#include <array>

namespace holdfast::cli {

namespace {

constexpr std::array table{
    command{"run", "[OPTION…] NAME [--] COMMAND [ARG…]", program_place::behind_name, &define_run},
    command{"lock", "[OPTION…] NAME", program_place::none, &define_lock},
    command{"unlock", "[OPTION…] NAME", program_place::none, &define_unlock},
    command{"elect", "[OPTION…] NAME --value VALUE -- COMMAND [ARG…]", program_place::behind_dashes,
            &define_elect},
    command{"leader", "[OPTION…] NAME", program_place::none, &define_leader},
    command{"latch",
            "NAME [--count N | --reset [N] | --delete] [--down [N]] [--wait [DUR]] [--json]",
            program_place::none, &define_latch},
    command{"barrier", "NAME (--parties N [--wait DUR] | --reset | --delete) [--json]",
            program_place::none, &define_barrier},
    command{"list", "[OPTION…] [PREFIX]", program_place::none, &define_list},
    command{"show", "[OPTION…] NAME", program_place::none, &define_show},
    command{"evict", "[OPTION…] NAME", program_place::none, &define_evict},
    command{"schema", "[OPTION…]", program_place::none, &define_schema},
    command{"bench", "[OPTION…]", program_place::none, &define_bench},
    command{"help", "[COMMAND]", program_place::none, &define_help},
};

}  // namespace

std::span<command const> commands() noexcept { return table; }

std::string usage_of(std::string_view name) {
    for (auto const& each : table)
        if (name == each.name) return std::string{"holdfast "} + each.name + " " + each.arguments;
    return "holdfast [--store URL|NAME] COMMAND …";
}

invocation read_arguments(std::span<char* const> arguments) {
    invocation out;
    out.words.assign(arguments.begin(), arguments.end());
    bool is_value = false;
    for (std::size_t i = 0; i < out.words.size() && out.command.empty(); ++i) {
        auto const& word = out.words[i];
        if (!is_value && !word.starts_with('-')) {
            out.command = word;
            out.command_at = i;
        }
        is_value = !is_value && (word == "--store" || word == "--patience");
    }
    return out;
}

}  // namespace holdfast::cli
