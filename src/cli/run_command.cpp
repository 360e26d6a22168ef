// holdfast run: take a lock, run a program while it is held, give it back.

#include <cerrno>
#include <cstring>
#include <memory>

#include <unistd.h>

#include <CLI/App.hpp>
#include <fmt/format.h>

#include "exit_status.hpp"
#include "home.hpp"
#include "invocation.hpp"
#include "nesting.hpp"
#include "option.hpp"
#include "run/options.hpp"
#include "run/supervisor.hpp"
#include "terminal.hpp"

namespace holdfast::cli {

namespace {

constexpr char const* run_examples =
    "While COMMAND runs, the hold is renewed. COMMAND finds HOLDFAST_NAME, HOLDFAST_TOKEN (the\n"
    "fencing token: rises with every holder) and HOLDFAST_STORE in its environment. Should the\n"
    "hold be in danger, COMMAND and its process group get TERM at the grace before its end and\n"
    "KILL at its end, so that they are gone before anybody else can hold the name.\n"
    "\n"
    "Durations: 500ms, 10s, 2m, 1h, 1d, 1m30s; a plain number is seconds.\n"
    "\n"
    "Examples:\n"
    "  holdfast run backup -- ./backup.sh                 wait as long as it takes\n"
    "  holdfast run --no-wait nightly -- ./nightly.sh     exit with 75 when it runs already\n"
    "  holdfast run -n -E 0 --quiet nightly ./nightly.sh  for cron\n"
    "  holdfast run --wait 2m --label \"$USER\" deploy -- make deploy\n"
    "  holdfast run --fair --lease 10s gpu0 -- python3 train.py\n"
    "  holdfast run --limit 4 downloads -- curl -O \"$url\"    four at a time, over all machines\n"
    "  holdfast run --shared catalogue -- ./report.sh     readers together, writers alone\n"
    "  holdfast run write -c 'fetch | put --fence \"$HOLDFAST_TOKEN\" row'";

struct run_options {
    hold_options hold{};
    std::optional<std::string> shell_line{};
    bool nested{false};
};

bool can_be_found(std::string const& program) {
    if (program.find('/') != std::string::npos) return ::access(program.c_str(), F_OK) == 0;
    auto const path = environment("PATH");
    for (std::size_t begin = 0; begin <= path.size();) {
        auto const end = std::min(path.find(':', begin), path.size());
        auto const candidate = path.substr(begin, end - begin) + "/" + program;
        if (::access(candidate.c_str(), F_OK) == 0) return true;
        begin = end + 1;
    }
    return false;
}

// 'a && b' as one word: said before anybody waits for a lock, with the status that a shell would give.
void refuse_shell_line(std::string const& name, std::vector<std::string> const& program) {
    if (program.size() != 1 || program.front().find_first_of(" \t\n&|;<>") == std::string::npos ||
        can_be_found(program.front()))
        return;
    auto const line = harmless(program.front());
    throw failure{exit_status::not_found,
                  fmt::format("cannot run '{}': there is no such program. For a line of the shell: "
                              "holdfast run {} -c {}",
                              line, shell_word(name), shell_word(line))
                      .c_str()};
}

std::vector<std::string> program_of(run_options const& options, invocation const& invocation) {
    if (!options.shell_line) {
        refuse_shell_line(options.hold.name, invocation.program);
        return invocation.program;
    }
    if (!invocation.program.empty())
        throw usage_error{"-c has the whole command: give either -c STRING or a program"};
    return {"/bin/sh", "-c", *options.shell_line};
}

// Under a hold that is there already: in the place of this process.
int run_under_hold(std::vector<std::string>& program) {
    std::vector<char*> words;
    for (auto& word : program)
        words.push_back(word.data());
    words.push_back(nullptr);
    ::execvp(words.front(), words.data());
    int const fault = errno;
    complain(fmt::format("cannot run {}: {}", harmless(program.front()), std::strerror(fault)));
    return fault == ENOENT ? exit_status::not_found : exit_status::cannot_execute;
}

int run(run_options const& options, invocation const& invocation) {
    auto plan = plan_of(options.hold, invocation, program_of(options, invocation));
    if (auto const outer = find_outer_hold(plan)) {
        if (options.nested) return run_under_hold(plan.program);
        if (!plan.quiet)
            complain(
                fmt::format("{} is held by {}, and would be waited for in vain; --nested runs "
                            "the program under that hold",
                            harmless(plan.name), *outer));
        return plan.conflict_exit;
    }
    return supervisor{plan}.run();
}

}  // namespace

void define_run(CLI::App& parent, invocation& invocation) {
    auto options = std::make_shared<run_options>();
    auto* app = parent.add_subcommand("run", "Run a program while holding a lock");
    app->footer(run_examples);
    add_hold_options(*app, options->hold, "The lock: any text up to 512 bytes");
    add_mode_options(*app, options->hold);
    app->add_option("-c,--command", options->shell_line,
                    "Run this line by /bin/sh instead of COMMAND")
        ->type_name("STRING");
    app->add_flag("--nested", options->nested,
                  "Inside a hold of the same name, run COMMAND under that one");
    app->callback([options, &invocation] {
        invocation.action = [options, &invocation] { return run(*options, invocation); };
    });
}

}  // namespace holdfast::cli
