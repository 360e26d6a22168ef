// holdfast lock: a hold for the calling shell, which ends with it.

#include <cerrno>
#include <memory>
#include <system_error>

#include <sys/types.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <fmt/format.h>

#include "exit_status.hpp"
#include "invocation.hpp"
#include "nesting.hpp"
#include "option.hpp"
#include "run/foreground.hpp"
#include "run/options.hpp"
#include "run/waiting_phase.hpp"
#include "secrets.hpp"
#include "shell/calling_shell.hpp"
#include "shell/shell_holder.hpp"
#include "terminal.hpp"

namespace holdfast::cli {

namespace {

constexpr char const* lock_examples =
    "For scripts that cannot wrap what they do into one command; where they can, 'holdfast run' "
    "is\n"
    "better, since it ends everything in time when the hold is lost. The lock is held for the "
    "process\n"
    "that called holdfast, by a process in the background which renews it, until 'holdfast unlock' "
    "or\n"
    "the end of that process, however it ends.\n"
    "\n"
    "When the hold is lost, the shell gets TERM a quarter of the lease before anybody else can "
    "have\n"
    "the name; what it has started is not ended. 'holdfast lock --check NAME' tells before each "
    "step:\n"
    "status 0 while it is held, 76 when it was lost, 1 when there is none.\n"
    "\n"
    "Examples:\n"
    "  holdfast lock deploy || exit                       wait as long as it takes\n"
    "  ./migrate && holdfast lock --check deploy && ./switch\n"
    "  holdfast unlock deploy\n"
    "  holdfast lock -n --on-lost ignore nightly || exit 0\n"
    "  token=$(holdfast lock --token --pid $$ write)      the fencing token";

struct lock_command_options {
    hold_options hold{};
    std::optional<pid_t> shell{};
    bool check{false};
    bool token{false};
};

void print_token(lock_command_options const& options, std::uint64_t token) {
    if (options.token) print_out(fmt::format("{}\n", token));
}

int check(lock_command_options const& options, run_plan const& plan, shell_claim const& claim) {
    auto const reply = ask_ancestors(claim, hold_request::check);
    if (!reply) {
        if (!plan.quiet)
            complain(fmt::format("process {} holds no lock {} in {}", claim.shell,
                                 harmless(plan.name), plan.store));
        return exit_status::absent;
    }
    if (reply->answer == hold_answer::held) {
        print_token(options, reply->token);
        return exit_status::success;
    }
    if (!plan.quiet)
        complain(fmt::format("the hold of {} is lost: {}", harmless(plan.name), reply->text));
    return exit_status::lost;
}

// What this shell has already, it would wait for in vain.
bool has_it_already(run_plan const& plan, shell_claim const& claim) {
    std::string whose;
    if (ask_ancestors(claim, hold_request::check))
        whose = fmt::format("this shell already: 'holdfast unlock {}' ends that",
                            shell_word(plan.name));
    else if (auto const outer = find_outer_hold(plan))
        whose = *outer;
    if (!whose.empty() && !plan.quiet)
        complain(fmt::format("{} is held by {}", harmless(plan.name), whose));
    return !whose.empty();
}

int acquire(lock_command_options const& options, run_plan const& plan, shell_claim const& claim) {
    auto const shell = watch_process(claim.shell);
    if (has_it_already(plan, claim)) return plan.conflict_exit;
    signal_inbox signals;
    foreground terminal;
    wait_line line{!plan.quiet};
    auto [ours, theirs] = make_message_channel();
    pid_t const pid = ::fork();
    if (pid < 0) throw std::system_error{errno, std::generic_category(), "cannot start a process"};
    if (pid == 0) {
        { auto const closed = std::move(ours); }  // or it would not see our end
        run_shell_holder({plan, claim, shell.get(), signals, std::move(theirs), line.is_on()});
    }
    { auto const closed = std::move(theirs); }
    partner holder{pid, std::move(ours)};
    auto const outcome = waiting_phase{holder, signals, terminal, line}.run();
    if (auto const* refused = std::get_if<refusal>(&outcome)) {
        holder.join(signals);
        return refused->status;
    }
    // Before the holder may rely on us: output that cannot be written must not leave a lock behind.
    print_token(options, std::get<taken_lock>(outcome).token);
    holder.channel().send({message_kind::granted, 0, {}});
    return exit_status::success;
}

int lock(lock_command_options const& options, invocation const& invocation) {
    auto plan = plan_without_program(options.hold, invocation);
    shell_claim const claim{calling_shell(options.shell), plan.store, plan.name};
    if (options.check) return check(options, plan, claim);
    plan.lock.label = options.hold.label.value_or(process_name(claim.shell));
    return acquire(options, plan, claim);
}

}  // namespace

void define_lock(CLI::App& parent, invocation& invocation) {
    auto options = std::make_shared<lock_command_options>();
    auto* app = parent.add_subcommand("lock", "Hold a lock for the calling shell");
    app->footer(lock_examples);
    add_acquire_options(*app, options->hold, "The lock: any text up to 512 bytes");
    add_mode_options(*app, options->hold);
    app->add_option("--on-lost", options->hold.on_lost,
                    "What the shell gets when the hold is lost: term (TERM), kill (KILL), ignore")
        ->type_name("ACTION");
    add_duration(*app, "--grace", options->hold.grace,
                 "Time between that and the end of the hold (a quarter of the lease)");
    add_number(*app, "--pid", options->shell, 2, 1 << 22,
               "The process that holds it (the one that called holdfast)")
        ->type_name("PID");
    app->add_flag("--check", options->check, "Only tell whether it is held: 0, 76 or 1");
    app->add_flag("--token", options->token, "Print the fencing token");
    app->callback([options, &invocation] {
        invocation.action = [options, &invocation] { return lock(*options, invocation); };
    });
}

}  // namespace holdfast::cli
