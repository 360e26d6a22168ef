#include "run/options.hpp"

#include <utility>

#include <CLI/App.hpp>
#include <fmt/format.h>

#include "option.hpp"
#include "secrets.hpp"
#include "store_choice.hpp"
#include "store_url.hpp"

namespace holdfast::cli {

namespace {

loss_policy policy_of(std::string const& word) {
    if (word == "term") return loss_policy::term;
    if (word == "kill") return loss_policy::kill;
    if (word == "ignore") return loss_policy::ignore;
    throw usage_error{fmt::format("--on-lost: '{}' is none of term, kill and ignore", word)};
}

std::string base_name(std::string const& path) { return path.substr(path.find_last_of('/') + 1); }

// The lease and what is measured by it.
void plan_times(hold_options const& options, run_plan& plan) {
    auto& lock = plan.lock;
    if (options.lease) {
        lock.lease = *options.lease;
        // To the library a lease of 30s is one that nobody asked for, and the URL's would win.
        plan.store_lease = take_lease(plan.store);
    }
    plan.lease = options.lease.value_or(lease_of_store(plan.store).value_or(lock.lease));
    if (options.lease && options.lease->count() == 0)
        throw usage_error{"--lease: nothing can be held for 0s"};
    lock.grace = options.grace.value_or(plan.lease / 4);
    // A lease of 0 in the store's URL is refused by the library.
    if (lock.grace >= plan.lease && plan.lease.count() > 0)
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
}

}  // namespace

void add_acquire_options(CLI::App& app, hold_options& options, char const* what) {
    app.add_option("NAME", options.name, what)->required();
    auto* wait = add_duration(app, "-w,--wait", options.wait, "Give up after this time (75)");
    app.add_flag("-n,--no-wait", options.no_wait, "Give up at once when it is held (75)")
        ->excludes(wait);
    add_duration(app, "--lease", options.lease,
                 "How long the hold outlives its last renewal (30s)");
    add_duration(app, "--min-hold", options.min_hold, "Keep the name taken at least this long");
    app.add_flag("--fair", options.fair, "First come, first served");
    add_number(app, "-E,--conflict-exit", options.conflict_exit, 0, 255,
               "Exit status instead of 75")
        ->type_name("CODE");
    app.add_option("--label", options.label, "Text that 'holdfast list' shows")->type_name("TEXT");
    app.add_flag("--quiet", options.quiet, "Do not show who is waited for");
}

void add_hold_options(CLI::App& app, hold_options& options, char const* what) {
    add_acquire_options(app, options, what);
    add_duration(app, "--max-hold", options.max_hold, "End COMMAND after this time (76)");
    app.add_option("--on-lost", options.on_lost,
                   "What to do to COMMAND when the hold is lost: term (TERM, then KILL), kill, "
                   "ignore")
        ->type_name("ACTION");
    app.add_flag("--pass-credentials", options.pass_credentials,
                 "Give COMMAND the store's password too, in HOLDFAST_STORE: everything that it "
                 "starts can read it");
    add_duration(app, "--grace", options.grace,
                 "Time between TERM and the end of the hold (a quarter of the lease)");
}

void add_mode_options(CLI::App& app, hold_options& options) {
    auto* shared = app.add_flag("-s,--shared", options.shared, "As a reader, together with others");
    auto* limit = add_number(app, "--limit", options.limit, 1U, 1'000'000U,
                             "A semaphore of this many permits instead of a lock")
                      ->type_name("M")
                      ->excludes(shared);
    add_number(app, "--permits", options.permits, 1U, 1'000'000U,
               "How many permits of the semaphore are needed (1)")
        ->type_name("N")
        ->needs(limit);
}

run_plan plan_without_program(hold_options const& options, invocation const& invocation) {
    run_plan plan;
    plan.on_lost = policy_of(options.on_lost);
    auto store = choose_store(invocation);
    plan.store = std::move(store.url);
    if (without_secrets(plan.store) != plan.store) plan.store_name = std::move(store.name);
    plan.pass_credentials = options.pass_credentials;
    plan.patience = invocation.patience;
    plan.name = options.name;
    plan.wait = options.no_wait ? std::chrono::milliseconds{0} : options.wait;
    plan.conflict_exit = options.conflict_exit;
    plan.quiet = options.quiet;
    plan.verbose = invocation.verbose;
    plan_times(options, plan);
    plan.lock.order = options.fair ? ordering::fair : ordering::barging;
    plan.shared = options.shared;
    plan.permits = options.permits == 0 && options.limit > 0 ? 1 : options.permits;
    plan.limit = options.limit;
    if (plan.permits > plan.limit)
        throw usage_error{"--permits must not be more than --limit, the permits that there are"};
    return plan;
}

run_plan plan_of(hold_options const& options, invocation const& invocation,
                 std::vector<std::string> program) {
    if (program.empty())
        throw usage_error{"the program to run is missing: " + usage_of(invocation.command)};
    auto plan = plan_without_program(options, invocation);
    plan.program = std::move(program);
    // Its arguments may hold what others must not read; its name says enough.
    plan.lock.label = options.label.value_or(base_name(plan.program.front()));
    return plan;
}

run_plan plan_of(hold_options const& options, invocation const& invocation) {
    return plan_of(options, invocation, invocation.program);
}

}  // namespace holdfast::cli
