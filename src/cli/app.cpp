// The command line as a whole: parsing, help, and what is said to a person who mistyped.

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include <holdfast/version.hpp>

#include "base/suggestion.hpp"
#include "exit_status.hpp"
#include "invocation.hpp"
#include "option.hpp"
#include "terminal.hpp"

namespace holdfast::cli {

namespace {

constexpr char const* description =
    "Locks between processes and machines, for the shell.\n"
    "\n"
    "The store is --store, else $HOLDFAST_STORE, else the default of "
    "~/.config/holdfast/config.toml\n"
    "or /etc/holdfast/config.toml, which also give stores names, else a file: below\n"
    "/var/lib/holdfast for the superuser, below ~/.local/state/holdfast for others. It works with\n"
    "nothing set up; --verbose says which store it is.";

constexpr char const* examples =
    "Examples:\n"
    "  holdfast run backup -- tar czf /backup/all.tgz /srv     one at a time; others wait\n"
    "  holdfast run --no-wait nightly -- ./nightly.sh          skip it when it runs already\n"
    "  holdfast run --wait 30s --lease 10s deploy -- make -C site deploy\n"
    "  holdfast elect web --value \"$HOSTNAME\" -- ./serve.sh    one leader, the others stand by\n"
    "  holdfast latch ready --count 3 --down --wait            go on when three are ready\n"
    "  holdfast list                                           who holds and who waits\n"
    "  holdfast --store file:/var/lib/app/locks.db show orders/42\n"
    "\n"
    "Exit status:\n"
    "  the command's own (128+n when signal n ended it, 126 and 127 as a shell gives them);\n"
    "  64 usage, 69 store unavailable, 75 not acquired in time, 76 hold lost while running;\n"
    "  1 when 'leader' or 'latch' is asked for what is not there.\n"
    "\n"
    "'holdfast help COMMAND' says more about a command; man holdfast says everything.";

// Headings stand out, and only on a terminal.
class formatter : public CLI::Formatter {
public:
    std::string make_group(std::string group, bool is_positional,
                           std::vector<CLI::Option const*> options) const override {
        return CLI::Formatter::make_group(painted(group, colour::bold, is_colourful(STDOUT_FILENO)),
                                          is_positional, std::move(options));
    }

    // How it is used comes first; what it is for comes second.
    std::string make_description(CLI::App const* app) const override {
        return fmt::format("Usage: {}\n\n{}\n", usage_of(app->get_name()), app->get_description());
    }
    std::string make_usage(CLI::App const*, std::string) const override { return {}; }

    std::string make_option_opts(CLI::Option const* option) const override {
        bool const has_value = !option->get_positional() && option->get_items_expected_max() > 0;
        return has_value ? " " + option->get_type_name() : std::string{};
    }
};

CLI::App* chosen(CLI::App& app) {
    auto const parsed = app.get_subcommands();
    return parsed.empty() ? &app : parsed.front();
}

std::string path_of(CLI::App const& app) {
    return app.get_parent() ? "holdfast " + app.get_name() : "holdfast";
}

// Says what was not understood, and what was probably meant.
std::string hint(CLI::App& app, std::vector<std::string> const& extras) {
    CLI::App* const command = chosen(app);
    auto const option = std::ranges::find_if(
        extras, [](std::string const& word) { return word.size() > 1 && word[0] == '-'; });
    std::string const word = option != extras.end() ? *option : extras.front();
    std::vector<std::string> names;
    std::string what = "unexpected argument";
    if (option != extras.end()) {
        what = "unknown option";
        for (auto const* each : command->get_options())
            for (auto const& name : each->get_lnames())
                names.push_back("--" + name);
    } else if (command == &app) {
        what = "unknown command";
        for (auto const& each : commands())
            names.emplace_back(each.name);
    }
    std::vector<std::string_view> const known{names.begin(), names.end()};
    return fmt::format("{} '{}'{}", what, harmless(word),
                       base::did_you_mean(word.substr(0, word.find('=')), known));
}

// What nothing took; a "--" among it has done its work.
std::vector<std::string> extras_of(CLI::App& app) {
    auto out = app.remaining(true);
    std::erase(out, "--");
    return out;
}

std::string all_names() {
    std::vector<char const*> names;
    for (auto const& each : commands())
        names.push_back(each.name);
    return fmt::format("{}", fmt::join(names, ", "));
}

int refuse(CLI::App& app, std::string const& text) {
    complain(fmt::format("{}\nTry '{} --help'.", text, path_of(*chosen(app))));
    return exit_status::usage;
}

void add_common_options(CLI::App& app, invocation& invocation) {
    app.add_option("--store", invocation.store, "Where the locks live: a URL or a configured name")
        ->type_name("STORE");
    add_duration(app, "--patience", invocation.patience,
                 "How long to wait for a store that does not answer (10s)");
    app.add_flag("-v,--verbose", invocation.verbose, "Say which store it is");
}

void define(CLI::App& app, invocation& invocation) {
    app.name("holdfast");
    app.formatter(std::make_shared<formatter>());
    app.get_formatter()->column_width(25);
    app.get_formatter()->label("Positionals", "Arguments");
    app.set_help_flag("-h,--help", "Say how it is used");
    app.set_version_flag("-V,--version", "holdfast " HOLDFAST_VERSION_STRING,
                         "Say which version this is");
    add_common_options(app, invocation);
    app.footer(examples);
    // The others are not worth their time at every start, unless one is to be guessed.
    bool const known = std::ranges::any_of(
        commands(), [&](command const& each) { return each.name == invocation.command; });
    for (auto const& each : commands())
        if (!known || each.name == invocation.command) each.define(app, invocation);
    for (auto* command : app.get_subcommands({})) {
        add_common_options(*command, invocation);
        command->set_help_flag("-h,--help", "Say how it is used");
        command->group("Commands");
    }
}

bool takes_value(CLI::Option const& option) { return option.get_items_expected_max() > 0; }

// How many words behind this one are its value, 0 or 1; nothing when it is no option of the command.
std::optional<std::ptrdiff_t> values_of(CLI::App const& command, std::string const& word) {
    if (word.starts_with("--")) {
        auto const equals = word.find('=');
        auto const* const option = command.get_option_no_throw(word.substr(0, equals));
        if (!option) return std::nullopt;
        return equals == std::string::npos && takes_value(*option) ? 1 : 0;
    }
    for (std::size_t i = 1; i < word.size(); ++i) {
        auto const* const option = command.get_option_no_throw({'-', word[i]});
        if (!option) return std::nullopt;
        if (takes_value(*option)) return i + 1 == word.size() ? 1 : 0;
    }
    return 0;
}

using word_iterator = std::vector<std::string>::iterator;

// The program begins with "--", or with the second word that is no option, as the first is the name. Behind an
// option that is not known, whose value might be either, only "--" is clear.
word_iterator begin_of_program(CLI::App const& command, word_iterator from, word_iterator dashes,
                               word_iterator end) {
    bool named = false;
    for (auto word = from; word < dashes; ++word) {
        if (word->size() > 1 && word->front() == '-') {
            auto const values = values_of(command, *word);
            if (!values) return dashes;
            word += *values;
        } else if (std::exchange(named, true)) {
            if (dashes == end) return word;
            // "run my job -- true" is rather a name that lacks its quotes.
            throw usage_error{fmt::format(
                "unexpected argument '{}' before '--': a name with blanks wants quotes; a "
                "program with a '--' of its own wants another one before it",
                harmless(*word))};
        }
    }
    return dashes;
}

void cut_program(CLI::App& app, invocation& invocation) {
    auto const known = std::ranges::find_if(
        commands(), [&](command const& each) { return each.name == invocation.command; });
    if (known == commands().end() || known->program == program_place::none) return;
    auto& words = invocation.words;
    auto const from = words.begin() + static_cast<std::ptrdiff_t>(invocation.command_at) + 1;
    auto const dashes = std::find(from, words.end(), "--");
    auto const begin =
        known->program == program_place::behind_name
            ? begin_of_program(*app.get_subcommand(invocation.command), from, dashes, words.end())
            : dashes;
    invocation.program.assign(begin == dashes && dashes != words.end() ? begin + 1 : begin,
                              words.end());
    words.erase(begin, words.end());
}

// "--store: At Most 1 required but received 2", in other words.
std::string text_of_mismatch(CLI::ArgumentMismatch const& error) {
    std::string const text = error.what();
    auto const colon = text.find(':');
    bool const twice = text.find("At Most 1 required") != std::string::npos;
    return twice && colon != std::string::npos ? text.substr(0, colon) + " is given more than once"
                                               : text;
}

}  // namespace

int perform(invocation& invocation) {
    CLI::App app{description};
    try {
        if (invocation.command == "help") ask_for_help(invocation);
        define(app, invocation);
        cut_program(app, invocation);
        // CLI11 takes its words from the back.
        std::vector<std::string> words{invocation.words.rbegin(), invocation.words.rend()};
        app.allow_extras();
        for (auto* command : app.get_subcommands({}))
            command->allow_extras();
        app.parse(std::move(words));
        if (auto const extras = extras_of(app); !extras.empty())
            return refuse(app, hint(app, extras));
        if (!invocation.action) return refuse(app, "a command is missing: one of " + all_names());
        return invocation.action();
    } catch (CLI::Success const& success) {
        std::ostringstream text;
        app.exit(success, text, text);
        print_out(text.str());
        return exit_status::success;
    } catch (CLI::ArgumentMismatch const& error) {
        return refuse(app, text_of_mismatch(error));
    } catch (CLI::ParseError const& error) {
        // A mistyped option explains best why something else is missing.
        if (auto const extras = extras_of(app); !extras.empty())
            return refuse(app, hint(app, extras));
        return refuse(app, error.what());
    } catch (usage_error const& error) {
        return refuse(app, error.what());
    }
}

}  // namespace holdfast::cli
