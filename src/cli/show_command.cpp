// holdfast show: one name with its holders and waiters.

#include <algorithm>
#include <memory>

#include <unistd.h>

#include <CLI/App.hpp>

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include "exit_status.hpp"
#include "invocation.hpp"
#include "lock_text.hpp"
#include "store_choice.hpp"
#include "terminal.hpp"

namespace holdfast::cli {

namespace {

constexpr char const* examples =
    "Examples:\n"
    "  holdfast show backup\n"
    "  holdfast show --json backup | jq -r '.holders[0].token'\n"
    "  holdfast show --deadlocks        cycles of owners who wait for each other";

struct show_options {
    std::string name{};
    bool json{false};
    bool deadlocks{false};
};

int show_deadlocks(show_options const& options, invocation const& invocation) {
    client client{choose_store(invocation.store)};
    auto const cycles = find_deadlocks(client.locks());
    write_text(STDOUT_FILENO, options.json ? json_of(cycles) : text_of(cycles));
    return exit_status::success;
}

int show(show_options const& options, invocation const& invocation) {
    if (options.deadlocks) return show_deadlocks(options, invocation);
    if (options.name.empty()) throw usage_error{"the name is missing: holdfast show NAME"};
    client client{choose_store(invocation.store)};
    mutex const checked{client, options.name};  // for its judgement of the name
    auto locks = client.locks(options.name);
    auto const found = std::ranges::find(locks, options.name, &lock_info::name);
    lock_info lock;
    lock.name = options.name;
    if (found != locks.end()) lock = std::move(*found);
    write_text(STDOUT_FILENO,
               options.json ? json_of(lock) : details_of(lock, is_colourful(STDOUT_FILENO)));
    return exit_status::success;
}

}  // namespace

void define_show(CLI::App& parent, invocation& invocation) {
    auto options = std::make_shared<show_options>();
    auto* app = parent.add_subcommand("show", "Show one name: holders, waiters, tokens");
    app->footer(examples);
    auto* name = app->add_option("NAME", options->name, "The lock");
    app->add_flag("--deadlocks", options->deadlocks,
                  "Owners who wait for each other, over all names")
        ->excludes(name);
    app->add_flag("--json", options->json, "For programs: one object");
    app->callback([options, &invocation] {
        invocation.action = [options, &invocation] { return show(*options, invocation); };
    });
}

}  // namespace holdfast::cli
