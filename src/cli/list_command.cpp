// holdfast list: what is held and waited for.

#include <memory>

#include <unistd.h>

#include <CLI/App.hpp>

#include <holdfast/client.hpp>

#include "exit_status.hpp"
#include "invocation.hpp"
#include "lock_text.hpp"
#include "store_choice.hpp"
#include "terminal.hpp"

namespace holdfast::cli {

namespace {

constexpr char const* examples =
    "Examples:\n"
    "  holdfast list\n"
    "  holdfast list orders/\n"
    "  holdfast list --json | jq -r '.[] | select(.waiters | length > 3) | .name'";

struct list_options {
    std::string prefix{};
    bool json{false};
};

int list(list_options const& options, invocation const& invocation) {
    client client{choose_store(invocation.store)};
    auto const locks = client.locks(options.prefix);
    print_out(options.json ? json_of(locks) : table_of(locks, is_colourful(STDOUT_FILENO)));
    return exit_status::success;
}

}  // namespace

void define_list(CLI::App& parent, invocation& invocation) {
    auto options = std::make_shared<list_options>();
    auto* app = parent.add_subcommand("list", "Show what is held and waited for");
    app->footer(examples);
    app->add_option("PREFIX", options->prefix, "Only names that begin with this");
    app->add_flag("--json", options->json, "For programs: an array of names");
    app->callback([options, &invocation] {
        invocation.action = [options, &invocation] { return list(*options, invocation); };
    });
}

}  // namespace holdfast::cli
