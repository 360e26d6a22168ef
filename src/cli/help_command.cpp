// holdfast help: how holdfast or one of its commands is used.

#include <algorithm>

#include <CLI/App.hpp>
#include <fmt/format.h>

#include "base/suggestion.hpp"
#include "exit_status.hpp"
#include "invocation.hpp"
#include "terminal.hpp"

namespace holdfast::cli {

void ask_for_help(invocation& invocation) {
    auto& words = invocation.words;
    for (auto const& word : words)
        if (word.starts_with('-')) return;  // "help --help", and what is wrong, as with any command
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(invocation.command_at));
    if (words.size() > 1)
        throw usage_error{fmt::format("unexpected argument '{}'", harmless(words[1]))};
    std::vector<std::string_view> known;
    for (auto const& each : commands())
        known.emplace_back(each.name);
    invocation.command = words.empty() ? "" : words.front();
    invocation.command_at = 0;
    if (!words.empty() && std::ranges::find(known, words.front()) == known.end())
        throw usage_error{fmt::format("unknown command '{}'{}", harmless(words.front()),
                                      base::did_you_mean(words.front(), known))};
    words.emplace_back("--help");
}

void define_help(CLI::App& parent, invocation&) {
    parent.add_subcommand("help", "Say how holdfast or a command is used")
        ->footer(
            "Examples:\n"
            "  holdfast help\n"
            "  holdfast help run");
}

}  // namespace holdfast::cli
