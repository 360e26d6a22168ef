// holdfast unlock: ends what `holdfast lock` began.

#include <memory>

#include <CLI/App.hpp>
#include <fmt/format.h>

#include "exit_status.hpp"
#include "invocation.hpp"
#include "option.hpp"
#include "shell/calling_shell.hpp"
#include "store_choice.hpp"
#include "terminal.hpp"

namespace holdfast::cli {

namespace {

constexpr char const* unlock_examples =
    "Gives the name back and waits for the store's word: status 76 when the hold had been lost\n"
    "before, 69 when the store did not confirm it (the name is free when its lease ends), 1 when "
    "this\n"
    "shell has no such lock.\n"
    "\n"
    "Examples:\n"
    "  holdfast unlock deploy\n"
    "  holdfast unlock --pid \"$worker\" deploy";

struct unlock_options {
    std::string name{};
    std::optional<pid_t> shell{};
    bool quiet{false};
};

int unlock(unlock_options const& options, invocation const& invocation) {
    shell_claim const claim{calling_shell(options.shell), choose_store(invocation).url,
                            options.name};
    auto const reply = ask_ancestors(claim, hold_request::release);
    auto const name = harmless(options.name);
    auto const say = [&](std::string const& text) {
        if (!options.quiet) complain(text);
    };
    if (!reply) {
        say(fmt::format("process {} holds no lock {} in {}", claim.shell, name, claim.store));
        return exit_status::absent;
    }
    switch (reply->answer) {
    case hold_answer::held:
    case hold_answer::released: break;
    case hold_answer::lost:
        say(fmt::format("the hold of {} was lost before: {}", name, reply->text));
        return exit_status::lost;
    case hold_answer::unknown:
        say(fmt::format(
            "the store did not confirm the release of {}: it is free when its lease ends", name));
        return exit_status::unavailable;
    }
    return exit_status::success;
}

}  // namespace

void define_unlock(CLI::App& parent, invocation& invocation) {
    auto options = std::make_shared<unlock_options>();
    auto* app = parent.add_subcommand("unlock", "Give back what 'lock' holds");
    app->footer(unlock_examples);
    app->add_option("NAME", options->name, "The lock")->required();
    add_number(*app, "--pid", options->shell, 2, 1 << 22,
               "The process that holds it (the one that called holdfast)")
        ->type_name("PID");
    app->add_flag("--quiet", options->quiet, "Leave it to the exit status");
    app->callback([options, &invocation] {
        invocation.action = [options, &invocation] { return unlock(*options, invocation); };
    });
}

}  // namespace holdfast::cli
