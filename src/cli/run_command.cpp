// holdfast run: take a lock, run a program while it is held, give it back.

#include <memory>

#include <CLI/App.hpp>

#include "exit_status.hpp"
#include "invocation.hpp"
#include "option.hpp"
#include "run/options.hpp"
#include "run/supervisor.hpp"

namespace holdfast::cli {

namespace {

constexpr char const* examples =
    "While COMMAND runs, the hold is renewed. COMMAND finds HOLDFAST_NAME, HOLDFAST_TOKEN (the\n"
    "fencing token: rises with every holder) and HOLDFAST_STORE in its environment. Should the\n"
    "hold be in danger, COMMAND and its process group get TERM at the grace before its end and\n"
    "KILL at its end, so that they are gone before anybody else can hold the name.\n"
    "\n"
    "Durations: 500ms, 10s, 2m, 1h; a plain number is seconds.\n"
    "\n"
    "Examples:\n"
    "  holdfast run backup -- ./backup.sh                 wait as long as it takes\n"
    "  holdfast run --no-wait nightly -- ./nightly.sh     exit with 75 when it runs already\n"
    "  holdfast run --no-wait --conflict-exit 0 --quiet nightly -- ./nightly.sh    for cron\n"
    "  holdfast run --wait 2m --label \"$USER\" deploy -- make deploy\n"
    "  holdfast run --fair --lease 10s gpu0 -- python3 train.py\n"
    "  holdfast run --limit 4 downloads -- curl -O \"$url\"    four at a time, over all machines\n"
    "  holdfast run --shared catalogue -- ./report.sh     readers together, writers alone\n"
    "  holdfast run write -- sh -c 'put --fence \"$HOLDFAST_TOKEN\" row'";

struct run_options {
    hold_options hold{};
    bool shared{false};
    std::uint32_t permits{0};
    std::uint32_t limit{0};
};

run_plan make_plan(run_options const& options, invocation const& invocation) {
    auto plan = plan_of(options.hold, invocation);
    plan.shared = options.shared;
    plan.permits = options.permits == 0 && options.limit > 0 ? 1 : options.permits;
    plan.limit = options.limit;
    if (plan.permits > plan.limit)
        throw usage_error{"--permits must not be more than --limit, the permits that there are"};
    return plan;
}

}  // namespace

void define_run(CLI::App& parent, invocation& invocation) {
    auto options = std::make_shared<run_options>();
    auto* app = parent.add_subcommand("run", "Run a program while holding a lock");
    app->footer(examples);
    add_hold_options(*app, options->hold, "The lock: any text up to 512 bytes");
    auto* shared = app->add_flag("--shared", options->shared, "As a reader, together with others");
    auto* limit = add_number(*app, "--limit", options->limit, 1U, 1'000'000U,
                             "A semaphore of this many permits instead of a lock")
                      ->type_name("M")
                      ->excludes(shared);
    add_number(*app, "--permits", options->permits, 1U, 1'000'000U,
               "How many permits of the semaphore COMMAND needs (1)")
        ->type_name("N")
        ->needs(limit);
    app->callback([options, &invocation] {
        invocation.action = [options, &invocation] {
            auto const plan = make_plan(*options, invocation);
            return supervisor{plan}.run();
        };
    });
}

}  // namespace holdfast::cli
