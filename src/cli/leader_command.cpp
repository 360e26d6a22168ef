// holdfast leader: who leads.

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <memory>

#include <poll.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <holdfast/client.hpp>
#include <holdfast/election.hpp>

#include "base/event.hpp"
#include "exit_status.hpp"
#include "invocation.hpp"
#include "outage_line.hpp"
#include "run/signal_inbox.hpp"
#include "store_choice.hpp"
#include "terminal.hpp"

namespace holdfast::cli {

namespace {

constexpr char const* leader_examples =
    "Prints the value of the leader, control characters as '?'; --json gives all of its text, "
    "with\n"
    "the fencing token of the term. Status 1 when nobody leads.\n"
    "\n"
    "Examples:\n"
    "  curl \"http://$(holdfast leader web)/health\"\n"
    "  holdfast leader --json web | jq -r .token\n"
    "  holdfast leader --watch web | while read -r leader; do echo \"now: ${leader:-nobody}\"; "
    "done";

struct leader_options {
    std::string name{};
    bool watch{false};
    bool json{false};
};

std::string line_of(leader_options const& options, std::optional<leader_info> const& leader) {
    if (!options.json) return (leader ? harmless(leader->value) : std::string{}) + "\n";
    using json = nlohmann::ordered_json;
    json object{{"name", options.name}, {"value", nullptr}, {"token", nullptr}};
    if (leader) {
        object["value"] = leader->value;
        object["token"] = std::to_string(leader->token);
    }
    return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

int print(leader_options const& options, invocation const& invocation) {
    auto client = open_client(invocation);
    auto const leader = contacted(client, invocation, [&] {
        return election{client, options.name}.leader();
    });
    if (leader || options.json) print_out(line_of(options, leader));
    if (leader) return exit_status::success;
    complain(fmt::format("{} has no leader", harmless(options.name)));
    return exit_status::absent;
}

// What kept the observer, who has a thread of his own, from printing.
class output_fault {
public:
    void set(int fault) noexcept {
        fault_.store(fault);
        event_.set();
    }
    [[nodiscard]] int get() const noexcept { return fault_.load(); }
    [[nodiscard]] int descriptor() const noexcept { return event_.number(); }

private:
    std::atomic<int> fault_{0};
    base::event event_{};
};

// Until a signal ends it, nobody reads any more, or nothing can be written.
int wait_for_end(signal_inbox& signals, output_fault const& fault) {
    for (;;) {
        std::array<pollfd, 3> sources{{{signals.descriptor(), POLLIN, 0},
                                       {STDOUT_FILENO, 0, 0},
                                       {fault.descriptor(), POLLIN, 0}}};
        ::poll(sources.data(), sources.size(), -1);
        if ((sources[1].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0 || fault.get() == EPIPE)
            return exit_status::signalled(SIGPIPE);
        if (fault.get() != 0) refuse_output(fault.get());
        while (auto const signal = signals.next()) {
            if (*signal == SIGTSTP) signals.stop_group();
            if (ends_a_process(*signal)) return exit_status::signalled(*signal);
        }
    }
}

int watch(leader_options const& options, invocation const& invocation) {
    auto const store = choose_store(invocation).url;
    signal_inbox signals;  // before the client, whose threads must not get them
    auto client = open_client(store, invocation);
    election contest{client, options.name};
    outage_line line{client, invocation};
    (void)contest.leader();  // an observer is not told what is wrong with the store
    output_fault fault;
    auto const subscription = contest.observe([&](std::optional<leader_info> const& leader) {
        line.clear();  // both may go to the same terminal
        if (!write_text(STDOUT_FILENO, line_of(options, leader))) fault.set(errno);
    });
    int const status = wait_for_end(signals, fault);
    signals.restore();  // a second signal does not wait for the store
    return status;
}

}  // namespace

void define_leader(CLI::App& parent, invocation& invocation) {
    auto options = std::make_shared<leader_options>();
    auto* app = parent.add_subcommand("leader", "Print who leads");
    app->footer(leader_examples);
    app->add_option("NAME", options->name, "The election")->required();
    app->add_flag("--watch", options->watch,
                  "Print every change, an empty line when nobody leads, until interrupted");
    app->add_flag("--json", options->json, "For programs: one object, with the token");
    app->callback([options, &invocation] {
        invocation.action = [options, &invocation] {
            return options->watch ? watch(*options, invocation) : print(*options, invocation);
        };
    });
}

}  // namespace holdfast::cli
