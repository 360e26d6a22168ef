// holdfast list: what is held and waited for.

#include <memory>

#include <unistd.h>

#include <CLI/App.hpp>
#include <fmt/format.h>

#include <holdfast/client.hpp>

#include "exit_status.hpp"
#include "invocation.hpp"
#include "lock_text.hpp"
#include "outage_line.hpp"
#include "store_choice.hpp"
#include "terminal.hpp"

namespace holdfast::cli {

namespace {

constexpr char const* list_examples =
    "Examples:\n"
    "  holdfast list\n"
    "  holdfast list orders/\n"
    "  holdfast list --json | jq -r '.[] | select(.waiters | length > 3) | .name'";

struct list_options {
    std::string prefix{};
    bool json{false};
};

// A person is told which store this is; a program that reads the table is not to be surprised.
std::string text_for(list_options const& options, std::string const& store,
                     std::vector<lock_info> const& locks) {
    bool const colourful = is_colourful(STDOUT_FILENO);
    if (::isatty(STDOUT_FILENO) != 1) return table_of(locks, colourful);
    if (!locks.empty())
        return painted(store, colour::dim, colourful) + "\n" + table_of(locks, colourful);
    auto const prefix = options.prefix.empty() ? std::string{}
                                               : fmt::format(" with a name that begins with '{}'",
                                                             harmless(options.prefix));
    return fmt::format("nothing is held or waited for in {}{}\n", store, prefix);
}

int list(list_options const& options, invocation const& invocation) {
    auto client = open_client(invocation);
    auto const locks = contacted(client, invocation, [&] { return client.locks(options.prefix); });
    print_out(options.json ? json_of(locks) : text_for(options, client.url(), locks));
    return exit_status::success;
}

}  // namespace

void define_list(CLI::App& parent, invocation& invocation) {
    auto options = std::make_shared<list_options>();
    auto* app = parent.add_subcommand("list", "Show what is held and waited for");
    app->footer(list_examples);
    app->add_option("PREFIX", options->prefix, "Only names that begin with this");
    app->add_flag("--json", options->json, "For programs: an array of names");
    app->callback([options, &invocation] {
        invocation.action = [options, &invocation] { return list(*options, invocation); };
    });
}

}  // namespace holdfast::cli
