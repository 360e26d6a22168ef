// holdfast elect: stand for election, and run a program while leading.

#include <memory>

#include <CLI/App.hpp>

#include "invocation.hpp"
#include "run/options.hpp"
#include "run/supervisor.hpp"

namespace holdfast::cli {

namespace {

constexpr char const* elect_examples =
    "At most one candidate leads at a time; the others wait. VALUE is what everybody can read of\n"
    "the leader with 'holdfast leader', such as its address. COMMAND runs for the term and finds\n"
    "HOLDFAST_NAME, HOLDFAST_TOKEN (the fencing token: rises with every leader), HOLDFAST_STORE\n"
    "and HOLDFAST_VALUE in its environment. It is ended when the term is in danger, as\n"
    "'holdfast run' does: it is gone before anybody else can lead.\n"
    "\n"
    "Durations: 500ms, 10s, 2m, 1h, 1d, 1m30s; a plain number is seconds.\n"
    "\n"
    "Examples:\n"
    "  holdfast elect web --value \"$HOSTNAME:8080\" -- ./serve --port 8080\n"
    "  holdfast elect --lease 10s web --value \"$HOSTNAME\" -- ./serve    a successor after 10s\n"
    "  holdfast elect --no-wait --quiet sweep --value \"$HOSTNAME\" -- ./sweep.sh\n"
    "  curl \"http://$(holdfast leader web)/health\"        ask whoever leads";

struct elect_options {
    hold_options hold{};
    std::string value{};
};

}  // namespace

void define_elect(CLI::App& parent, invocation& invocation) {
    auto options = std::make_shared<elect_options>();
    auto* app = parent.add_subcommand("elect", "Run a program while leading");
    app->footer(elect_examples);
    add_hold_options(*app, options->hold, "The election: any text up to 512 bytes");
    app->add_option("--value", options->value, "What 'holdfast leader' prints of this candidate")
        ->type_name("VALUE")
        ->required();
    app->callback([options, &invocation] {
        invocation.action = [options, &invocation] {
            auto plan = plan_of(options->hold, invocation);
            plan.value = options->value;
            return supervisor{plan}.run();
        };
    });
}

}  // namespace holdfast::cli
