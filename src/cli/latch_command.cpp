// holdfast latch: declare a latch or close it again, count it down, wait until nothing is left.

#include <cctype>
#include <memory>

#include <CLI/App.hpp>
#include <fmt/format.h>

#include <holdfast/client.hpp>
#include <holdfast/error.hpp>
#include <holdfast/latch.hpp>

#include "exit_status.hpp"
#include "interruption.hpp"
#include "invocation.hpp"
#include "lock_text.hpp"
#include "lookup.hpp"
#include "option.hpp"
#include "outage_line.hpp"
#include "store_choice.hpp"
#include "terminal.hpp"

namespace holdfast::cli {

namespace {

constexpr char const* latch_examples =
    "A latch counts down to zero. It is open when nothing is left, and stays open for a day, "
    "unless\n"
    "--reset closes it again for the next time. The first count is kept: giving another one, or "
    "one\n"
    "for a latch that is open, is an error (64). Several options are done in the order declare or\n"
    "reset, count down, wait. Without any, what is left is printed; status 1 when nobody has "
    "declared\n"
    "the latch. Waiting for one that nobody has declared yet is possible. Who waits while it is "
    "reset\n"
    "or deleted ends with 76, unless it was open before.\n"
    "\n"
    "Examples:\n"
    "  holdfast latch migrated --reset 1                 close it: before each deployment\n"
    "  holdfast latch migrated --wait 10m && ./serve     on every host: wait, at most 10 minutes\n"
    "  holdfast latch migrated --down                    let them all go\n"
    "  holdfast latch ready --count 3 --down --wait      go on when three have come here\n"
    "  holdfast latch ready                              print what is left\n"
    "  holdfast latch ready --delete\n"
    "  holdfast latch --json ready | jq .count";

constexpr std::uint32_t most = 999'999'999;

struct latch_options {
    std::string name{};
    std::optional<std::uint32_t> count{};
    std::optional<std::string> reset{};  ///< as typed: its value may be missing, or be the name
    std::optional<std::string> down{};   ///< as typed: its value may be missing, or be the name
    std::optional<std::string> wait{};
    bool remove{false};
    bool quiet{false};
    bool json{false};

    [[nodiscard]] bool only_asks() const noexcept {
        return !count && !reset && !down && !wait && !remove;
    }
};

// "--down NAME": a word that cannot be the option's value is the name, where that is missing.
void find_name_among_values(latch_options& options) {
    for (auto* const value : {&options.reset, &options.down, &options.wait}) {
        if (!options.name.empty() || !*value || (*value)->empty()) continue;
        auto const first = static_cast<unsigned char>((*value)->front());
        if (!std::isdigit(first) && first != '.') std::swap(options.name, **value);
    }
    if (options.name.empty()) throw usage_error{"the name is missing: " + usage_of("latch")};
}

latch latch_of(client const& client, latch_options const& options) {
    return options.count ? latch{client, options.name, *options.count}
                         : latch{client, options.name};
}

/// What is left; nothing when the latch was never declared.
std::optional<std::uint32_t> left_of(latch& gate) try {
    return gate.count();
} catch (std::system_error const& error) {
    if (error.code() == make_error_code(errc::bad_option)) return std::nullopt;
    throw;
}

// One that was left open the last time would let everybody pass at once.
void declare(latch& gate, latch_options const& options) {
    if (gate.count() == 0 && *options.count > 0)
        throw failure{exit_status::usage,
                      fmt::format("the latch {} is open already, and --count does not close it: "
                                  "'holdfast latch {} --reset {}' does",
                                  harmless(options.name), shell_word(options.name), *options.count)
                          .c_str()};
}

void reset(client& client, latch& gate, latch_options const& options) {
    if (!options.reset->empty())
        return gate.reset(whole_number("--reset", *options.reset, 0U, most));
    auto const found = find_name(client, options.name, lock_kind::latch);
    if (!found)
        throw usage_error{
            fmt::format("there is no latch {}: --reset N declares one with that count",
                        harmless(options.name))};
    gate.reset(static_cast<std::uint32_t>(found->limit));
}

/// The status, and what is to be said about it.
struct outcome {
    int status{exit_status::success};
    std::string text{};
};

outcome wait_for(latch& gate, std::optional<std::chrono::milliseconds> limit,
                 interruption const& signals) {
    bool open = false;
    try {
        open = !limit               ? gate.wait(signals.token())
               : limit->count() > 0 ? gate.wait_for(*limit, signals.token())
                                    : left_of(gate) == 0U;
    } catch (std::system_error const& error) {
        if (error.code() != make_error_code(errc::lost)) throw;
        return {exit_status::lost,
                fmt::format("{} was reset or deleted while it was waited for, before it was open",
                            harmless(gate.name()))};
    }
    if (open) return {};
    if (signals.signal() != 0) return {exit_status::signalled(signals.signal())};
    auto const left = left_of(gate);
    return {
        exit_status::not_acquired,
        fmt::format("{} was not open within {}: {}", harmless(gate.name()), short_duration(*limit),
                    left ? fmt::format("{} left", *left) : "nobody has declared it")};
}

int print(client& client, latch& gate, latch_options const& options) {
    if (options.json) {
        if (auto const found = find_name(client, options.name, lock_kind::latch)) {
            print_out(json_of(*found));
            return exit_status::success;
        }
    } else if (auto const left = left_of(gate)) {
        print_out(fmt::format("{}\n", *left));
        return exit_status::success;
    }
    complain(fmt::format("there is no latch {}: 'holdfast latch {} --count N' declares one",
                         harmless(options.name), shell_word(options.name)));
    return exit_status::absent;
}

int perform_latch(latch_options& options, invocation const& invocation) {
    find_name_among_values(options);
    std::uint32_t down = options.down ? 1 : 0;
    if (options.down && !options.down->empty())
        down = whole_number("--down", *options.down, 1U, most);
    std::optional<std::chrono::milliseconds> limit;
    if (options.wait && !options.wait->empty()) limit = duration("--wait", *options.wait);

    auto const store = choose_store(invocation).url;
    std::optional<interruption> signals;
    if (options.wait) signals.emplace();
    auto client = open_client(store, invocation);
    auto gate = latch_of(client, options);
    auto const [status, text] = contacted(client, invocation, [&] {
        if (options.remove) gate.remove();
        if (options.count) declare(gate, options);
        if (options.reset) reset(client, gate, options);
        if (down > 0) gate.count_down(down);
        return options.wait ? wait_for(gate, limit, *signals) : outcome{};
    });
    bool const silent = options.quiet && status == exit_status::not_acquired;
    if (!text.empty() && !silent) complain(text);
    if (options.remove) return status;
    if (!options.json && !options.only_asks()) return status;
    if (status > 128) return status;
    int const printed = print(client, gate, options);
    return status != exit_status::success ? status : printed;
}

}  // namespace

void define_latch(CLI::App& parent, invocation& invocation) {
    auto options = std::make_shared<latch_options>();
    auto* app = parent.add_subcommand("latch", "Count down; wait until nothing is left");
    app->footer(latch_examples);
    app->add_option("NAME", options->name, "The latch: any text up to 512 bytes");
    auto* count =
        add_number(*app, "--count", options->count, 0U, most, "Declare it with this count");
    auto* reset = add_optional_value(*app, "--reset", options->reset,
                                     "Close it again, with this count or the one it has")
                      ->type_name("[N]")
                      ->excludes(count);
    auto* down =
        add_optional_value(*app, "--down", options->down, "Count down by N (1)")->type_name("[N]");
    auto* wait = add_optional_value(*app, "--wait", options->wait,
                                    "Wait until it is open; at most DUR where given (75)")
                     ->type_name("[DUR]");
    auto* remove = app->add_flag("--delete", options->remove, "Delete it; there need be none");
    for (auto* other : {count, reset, down, wait})
        remove->excludes(other);
    app->add_flag("--quiet", options->quiet, "Do not say that it was not open in time");
    app->add_flag("--json", options->json, "For programs: one object, also after the others");
    app->callback([options, &invocation] {
        invocation.action = [options, &invocation] { return perform_latch(*options, invocation); };
    });
}

}  // namespace holdfast::cli
