// holdfast barrier: wait for each other.

#include <memory>

#include <CLI/App.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <holdfast/barrier.hpp>
#include <holdfast/client.hpp>
#include <holdfast/error.hpp>

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

constexpr char const* barrier_examples =
    "Arrives and waits until N have arrived; then all of them print the number of their meeting\n"
    "(0 for the first) and go on, and the barrier is ready for the next. A party that leaves\n"
    "before, because its time is over (75), a signal ended it (128+n) or it died, breaks the\n"
    "barrier: those who wait, and all who arrive later, end with 76 until somebody resets it.\n"
    "All must give the same number of parties (64), until somebody deletes it.\n"
    "\n"
    "Examples:\n"
    "  holdfast barrier loaded --parties 3               on three hosts: go on together\n"
    "  holdfast barrier loaded --parties 3 --wait 5m || exit\n"
    "  holdfast barrier loaded --reset                   begin again; whoever waits ends with 76\n"
    "  holdfast barrier loaded --delete                  forget it, and how many meet\n"
    "  holdfast show loaded                              who has arrived";

constexpr std::uint32_t most = 1U << 20;

struct barrier_options {
    std::string name{};
    std::uint32_t parties{0};
    std::optional<std::chrono::milliseconds> wait{};
    bool reset{false};
    bool remove{false};
    std::string label{};
    bool quiet{false};
    bool json{false};
};

int reset(barrier_options const& options, client& client) {
    auto parties = options.parties;
    // A name that the store does not know has nothing to reset, whatever its parties.
    if (parties == 0) {
        auto const found = find_name(client, options.name, lock_kind::barrier);
        parties = found && found->limit > 0 ? static_cast<std::uint32_t>(found->limit) : 1;
    }
    barrier{client, options.name, parties}.reset();
    if (!options.json) return exit_status::success;
    lock_info unknown;
    unknown.name = options.name;
    unknown.kind = lock_kind::barrier;
    print_out(
        json_of(find_name(client, options.name, lock_kind::barrier).value_or(std::move(unknown))));
    return exit_status::success;
}

int remove(barrier_options const& options, client& client) {
    barrier{client, options.name, 1}.remove();  // whatever its parties
    return exit_status::success;
}

// The generation; nothing when the time was over, or a signal came.
std::optional<std::uint64_t> meet(barrier_options const& options, client& client,
                                  interruption const& signals) try {
    barrier meeting{client, options.name, options.parties};
    // There is no other way to leave: the store then knows that this party is gone.
    std::stop_callback const leave{signals.token(), [&] { client.close(); }};
    return options.wait ? meeting.arrive_and_wait_for(*options.wait) : meeting.arrive_and_wait();
} catch (std::system_error const& error) {
    if (signals.signal() != 0 && error.code() == make_error_code(errc::closed)) return std::nullopt;
    if (error.code() != make_error_code(errc::broken_barrier)) throw;
    throw failure{
        exit_status::lost,
        fmt::format("{} is broken, since a party left it, or somebody reset or deleted it; "
                    "'holdfast barrier {} --reset' makes it usable again",
                    harmless(options.name), shell_word(options.name))
            .c_str()};
}

int arrive(barrier_options const& options, std::string const& store, invocation const& invocation) {
    interruption const signals;
    auto client = open_client(store, invocation, options.label);
    auto const generation =
        contacted(client, invocation, [&] { return meet(options, client, signals); });
    if (!generation && signals.signal() != 0) return exit_status::signalled(signals.signal());
    if (!generation) {
        if (!options.quiet)
            complain(
                fmt::format("not all {} parties came to {} within {}: it is broken until "
                            "'holdfast barrier {} --reset'",
                            options.parties, harmless(options.name), short_duration(*options.wait),
                            shell_word(options.name)));
        return exit_status::not_acquired;
    }
    nlohmann::ordered_json const object{
        {"name", options.name}, {"parties", options.parties}, {"generation", *generation}};
    print_out(options.json ? object.dump() + "\n" : fmt::format("{}\n", *generation));
    return exit_status::success;
}

int perform_barrier(barrier_options const& options, invocation const& invocation) {
    if (options.wait && options.wait->count() == 0)
        throw usage_error{"--wait: nobody can be met within 0s"};
    bool const arrives = !options.reset && !options.remove;
    if (arrives && options.parties == 0)
        throw usage_error{"--parties is missing: how many are to meet"};
    auto const store = choose_store(invocation).url;
    if (arrives) return arrive(options, store, invocation);
    auto client = open_client(store, invocation);
    return contacted(client, invocation, [&] {
        return options.reset ? reset(options, client) : remove(options, client);
    });
}

}  // namespace

void define_barrier(CLI::App& parent, invocation& invocation) {
    auto options = std::make_shared<barrier_options>();
    auto* app = parent.add_subcommand("barrier", "Wait for each other, then go on together");
    app->footer(barrier_examples);
    app->add_option("NAME", options->name, "The barrier: any text up to 512 bytes")->required();
    auto* parties = add_number(*app, "--parties", options->parties, 1U, most, "How many meet");
    auto* wait = add_duration(*app, "--wait", options->wait,
                              "Give up after this time (75), which breaks the barrier");
    auto* reset = app->add_flag("--reset", options->reset,
                                "Begin again, broken or not; those who wait end with 76")
                      ->excludes(wait);
    auto* remove = app->add_flag("--delete", options->remove,
                                 "Delete it; there need be none. Those who wait end with 76");
    for (auto* other : {parties, wait, reset})
        remove->excludes(other);
    app->add_option("--label", options->label, "Text that 'holdfast list' shows")
        ->type_name("TEXT");
    app->add_flag("--quiet", options->quiet, "Do not say that the others did not come");
    app->add_flag("--json", options->json, "For programs: one object");
    app->callback([options, &invocation] {
        invocation.action = [options, &invocation] {
            return perform_barrier(*options, invocation);
        };
    });
}

}  // namespace holdfast::cli
