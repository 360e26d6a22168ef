// holdfast run: take a lock, run a program while it is held, give it back.

#include <memory>

#include <CLI/App.hpp>
#include <fmt/format.h>

#include "exit_status.hpp"
#include "invocation.hpp"
#include "option.hpp"
#include "run/plan.hpp"
#include "run/supervisor.hpp"
#include "store_choice.hpp"

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
    std::string name{};
    std::optional<std::chrono::milliseconds> wait{};
    bool no_wait{false};
    std::optional<std::chrono::milliseconds> lease{};
    std::optional<std::chrono::milliseconds> max_hold{};
    std::optional<std::chrono::milliseconds> min_hold{};
    std::optional<std::chrono::milliseconds> grace{};
    bool shared{false};
    bool fair{false};
    std::uint32_t permits{0};
    std::uint32_t limit{0};
    std::string on_lost{"term"};
    int conflict_exit{exit_status::not_acquired};
    std::optional<std::string> label{};
    bool quiet{false};
};

loss_policy policy_of(std::string const& word) {
    if (word == "term") return loss_policy::term;
    if (word == "kill") return loss_policy::kill;
    if (word == "ignore") return loss_policy::ignore;
    throw usage_error{fmt::format("--on-lost: '{}' is none of term, kill and ignore", word)};
}

std::string base_name(std::string const& path) { return path.substr(path.find_last_of('/') + 1); }

run_plan make_plan(run_options const& options, invocation const& invocation) {
    if (invocation.program.empty())
        throw usage_error{
            "the program to run is missing: holdfast run [OPTION…] NAME -- COMMAND [ARG…]"};
    run_plan plan;
    plan.on_lost = policy_of(options.on_lost);
    plan.store = choose_store(invocation.store);
    plan.name = options.name;
    plan.program = invocation.program;
    plan.wait = options.no_wait ? std::chrono::milliseconds{0} : options.wait;
    plan.conflict_exit = options.conflict_exit;
    plan.quiet = options.quiet;
    plan.shared = options.shared;
    plan.permits = options.permits == 0 && options.limit > 0 ? 1 : options.permits;
    plan.limit = options.limit;
    if (plan.permits > plan.limit)
        throw usage_error{"--permits must not be more than --limit, the permits that there are"};
    auto& lock = plan.lock;
    if (options.lease) lock.lease = *options.lease;
    auto const lease = options.lease.value_or(lease_of_store(plan.store).value_or(lock.lease));
    plan.lease = lease;
    lock.grace = options.grace.value_or(lease / 4);
    if (lock.grace >= lease)
        throw usage_error{
            "--grace must be shorter than the lease: the command would be ended as "
            "soon as it starts"};
    plan.grace = lock.grace;
    plan.max_hold = options.max_hold;
    if (options.max_hold && options.max_hold->count() == 0)
        throw usage_error{"--max-hold: nothing can run for 0s"};
    if (options.max_hold && options.min_hold && *options.min_hold > *options.max_hold)
        throw usage_error{"--min-hold must not be longer than --max-hold"};
    lock.min_hold = options.min_hold;
    lock.order = options.fair ? ordering::fair : ordering::barging;
    // Its arguments may hold what others must not read; its name says enough.
    lock.label = options.label.value_or(base_name(plan.program.front()));
    return plan;
}

}  // namespace

void define_run(CLI::App& parent, invocation& invocation) {
    auto options = std::make_shared<run_options>();
    auto* app = parent.add_subcommand("run", "Run a program while holding a lock");
    app->footer(examples);
    app->add_option("NAME", options->name, "The lock: any text up to 512 bytes")->required();
    auto* wait = add_duration(*app, "--wait", options->wait, "Give up after this time (75)");
    app->add_flag("--no-wait", options->no_wait, "Give up at once when it is held (75)")
        ->excludes(wait);
    add_duration(*app, "--lease", options->lease,
                 "How long the hold outlives its last renewal (30s)");
    add_duration(*app, "--max-hold", options->max_hold, "End COMMAND after this time (76)");
    add_duration(*app, "--min-hold", options->min_hold, "Keep the name taken at least this long");
    auto* shared = app->add_flag("--shared", options->shared, "As a reader, together with others");
    app->add_flag("--fair", options->fair, "First come, first served");
    auto* limit = add_number(*app, "--limit", options->limit, 1U, 1'000'000U,
                             "A semaphore of this many permits instead of a lock")
                      ->type_name("M")
                      ->excludes(shared);
    add_number(*app, "--permits", options->permits, 1U, 1'000'000U,
               "How many permits of the semaphore COMMAND needs (1)")
        ->type_name("N")
        ->needs(limit);
    app->add_option("--on-lost", options->on_lost,
                    "What to do to COMMAND when the hold is lost: term (TERM, then KILL), kill, "
                    "ignore")
        ->type_name("ACTION");
    add_duration(*app, "--grace", options->grace,
                 "Time between TERM and the end of the hold (a quarter of the lease)");
    add_number(*app, "--conflict-exit", options->conflict_exit, 0, 255, "Exit status instead of 75")
        ->type_name("CODE");
    app->add_option("--label", options->label, "Text that 'holdfast list' shows")
        ->type_name("TEXT");
    app->add_flag("--quiet", options->quiet, "Do not show who is waited for");
    app->callback([options, &invocation] {
        invocation.action = [options, &invocation] {
            auto const plan = make_plan(*options, invocation);
            return supervisor{plan}.run();
        };
    });
}

}  // namespace holdfast::cli
