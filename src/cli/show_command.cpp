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
#include "outage_line.hpp"
#include "store_choice.hpp"
#include "terminal.hpp"

namespace holdfast::cli {

namespace {

constexpr char const* show_examples =
    "Examples:\n"
    "  holdfast show backup\n"
    "  holdfast show --json backup | jq -r '.holders[0].token'\n"
    "  holdfast show loaded             a barrier: who has arrived, and whether it is broken\n"
    "  holdfast show --deadlocks        cycles of owners who wait for each other";

struct show_options {
    std::string name{};
    bool json{false};
    bool deadlocks{false};
};

int show_deadlocks(show_options const& options, invocation const& invocation) {
    auto client = open_client(invocation);
    auto const cycles =
        find_deadlocks(contacted(client, invocation, [&] { return client.locks(); }));
    print_out(options.json ? json_of(cycles) : text_of(cycles));
    return exit_status::success;
}

int show(show_options const& options, invocation const& invocation) {
    if (options.deadlocks) return show_deadlocks(options, invocation);
    if (options.name.empty()) throw usage_error{"the name is missing: holdfast show NAME"};
    auto client = open_client(invocation);
    mutex const checked{client, options.name};  // for its judgement of the name
    auto found = contacted(client, invocation, [&] { return client.locks(options.name); });
    std::erase_if(found, [&](lock_info const& each) { return each.name != options.name; });
    if (found.empty()) found.emplace_back().name = options.name;
    // A condition may stand beside another kind of the same name, and is then not what was meant.
    std::stable_partition(found.begin(), found.end(),
                          [](lock_info const& each) { return each.kind != lock_kind::condition; });
    if (options.json) {
        print_out(json_of(found.front()));
        return exit_status::success;
    }
    for (auto const& each : found)
        print_out(details_of(each, is_colourful(STDOUT_FILENO)));
    return exit_status::success;
}

}  // namespace

void define_show(CLI::App& parent, invocation& invocation) {
    auto options = std::make_shared<show_options>();
    auto* app = parent.add_subcommand("show", "Show one name: holders, waiters, tokens");
    app->footer(show_examples);
    auto* name =
        app->add_option("NAME", options->name, "The lock, semaphore, latch, barrier or election");
    app->add_flag("--deadlocks", options->deadlocks,
                  "Owners who wait for each other, over all names")
        ->excludes(name);
    app->add_flag("--json", options->json, "For programs: one object");
    app->callback([options, &invocation] {
        invocation.action = [options, &invocation] { return show(*options, invocation); };
    });
}

}  // namespace holdfast::cli
