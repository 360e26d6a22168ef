// holdfast evict: free a name from its holders.

#include <memory>

#include <CLI/App.hpp>
#include <fmt/format.h>

#include <holdfast/client.hpp>

#include "exit_status.hpp"
#include "invocation.hpp"
#include "lookup.hpp"
#include "outage_line.hpp"
#include "store_choice.hpp"
#include "terminal.hpp"

namespace holdfast::cli {

namespace {

constexpr char const* evict_examples =
    "The holder learns that it lost the name, but whatever it does at this moment it may still "
    "do:\n"
    "only the fencing token keeps its late writes out. Be sure that it is needed.\n"
    "\n"
    "Examples:\n"
    "  holdfast evict backup\n"
    "  holdfast evict --claim \"$(holdfast show --json backup | jq -r '.holders[0].id')\" backup";

struct evict_request {
    std::string name{};
    evict_options options{};
};

int evict(evict_request const& request, invocation const& invocation) {
    auto client = open_client(invocation);
    auto const count =
        contacted(client, invocation, [&] { return client.evict(request.name, request.options); });
    if (count == 0 && find_name(client, request.name, lock_kind::latch)) {
        complain(
            fmt::format("{0} is a latch, which nobody holds: 'holdfast latch {1} --reset' closes "
                        "it again, 'holdfast latch {1} --delete' deletes it",
                        harmless(request.name), shell_word(request.name)));
        return exit_status::usage;
    }
    if (count == 0 && find_name(client, request.name, lock_kind::barrier)) {
        complain(
            fmt::format("{0} is a barrier at which nobody waits: 'holdfast barrier {1} --reset' "
                        "begins it again, 'holdfast barrier {1} --delete' deletes it",
                        harmless(request.name), shell_word(request.name)));
        return exit_status::usage;
    }
    print_out(count == 0 ? fmt::format("{}: nothing to evict\n", harmless(request.name))
                         : fmt::format("{}: evicted {}\n", harmless(request.name), count));
    return exit_status::success;
}

}  // namespace

void define_evict(CLI::App& parent, invocation& invocation) {
    auto request = std::make_shared<evict_request>();
    auto* app = parent.add_subcommand("evict", "Free a name from its holders");
    app->footer(evict_examples);
    app->add_option("NAME", request->name, "The lock")->required();
    app->add_option("--claim", request->options.claim, "Only this claim (see 'holdfast show')")
        ->type_name("ID");
    app->add_flag("--force", request->options.force, "Also what other programs than holdfast hold");
    app->callback([request, &invocation] {
        invocation.action = [request, &invocation] { return evict(*request, invocation); };
    });
}

}  // namespace holdfast::cli
