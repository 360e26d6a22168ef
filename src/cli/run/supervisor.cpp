#include "run/supervisor.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "exit_status.hpp"
#include "run/child.hpp"
#include "run/holder.hpp"
#include "run/running_phase.hpp"
#include "run/waiting_phase.hpp"
#include "store_paths.hpp"
#include "store_url.hpp"
#include "terminal.hpp"

namespace holdfast::cli {

namespace {

partner start_holder(run_plan const& plan, shared_page& page, signal_inbox& signals,
                     death_signal& death, bool narrate) {
    auto [ours, theirs] = make_message_channel();
    pid_t const supervisor = ::getpid();
    pid_t const pid = ::fork();
    if (pid < 0) throw std::system_error{errno, std::generic_category(), "cannot start a process"};
    if (pid == 0) {
        { auto const closed = std::move(ours); }  // or we would not see the supervisor's end
        run_holder({plan, page, signals, std::move(theirs), death, supervisor, narrate});
    }
    death.keep_reading_end();
    return {pid, std::move(ours)};
}

// Tells the holder that the command is over and returns whether it had been over inside the hold.
// `told`: the user knows already that it was not.
bool give_back(run_plan const& plan, partner& holder, signal_inbox& signals, bool told) {
    holder.dismiss(message_kind::done);
    for (;;) {
        std::array<pollfd, 2> sources{
            {{holder.channel().descriptor(), POLLIN, 0}, {signals.descriptor(), POLLIN, 0}}};
        ::poll(sources.data(), sources.size(), -1);
        while (auto const signal = signals.next())
            if (ends_a_process(*signal)) holder.hasten();
        if (sources[0].revents == 0) continue;
        auto const message = holder.channel().receive();
        if (!message) {
            if (!told && !holder.was_hastened()) complain_of_loss(plan, holder_killed);
            return false;
        }
        // It may have come while we were stopped, and the command have ended first.
        if (message->kind == message_kind::lost) {
            complain_of_loss(plan, message->text);
            told = true;
        }
        if (message->kind != message_kind::released) continue;
        if (!message->text.empty()) complain(message->text);
        bool const in_time = static_cast<hold_end>(message->number) == hold_end::in_time;
        if (!in_time && !told && message->text.empty())
            complain(fmt::format("the hold of {} was lost before it was given back", plan.name));
        return in_time;
    }
}

// How the command finds the store. Its own `holdfast` reads the same configuration, where a store with a password
// is best known by its name.
std::string store_for_command(run_plan const& plan, std::string const& shown) {
    if (plan.pass_credentials) {
        std::error_code no_directory;  // then paths stay relative, and mean nothing to anybody
        return with_option(with_absolute_paths(plan.store, no_directory), plan.store_lease);
    }
    return plan.store_name.empty() ? shown : plan.store_name;
}

int report(run_plan const& plan, shared_page const& page, ending const& end, bool in_time) {
    if (int const fault = page.exec_error.load()) {
        complain(fmt::format("cannot run {}: {}", plan.program.front(), std::strerror(fault)));
        return end.status;
    }
    return end.lost || !in_time ? exit_status::lost : end.status;
}

}  // namespace

int supervisor::run() {
    signal_inbox signals;
    shared_memory const memory;
    foreground terminal;
    wait_line line{!plan_.quiet};
    death_signal death;
    auto holder = start_holder(plan_, memory.page(), signals, death, line.is_on());

    auto const outcome = waiting_phase{holder, signals, terminal, line}.run();
    if (auto const* refused = std::get_if<refusal>(&outcome)) {
        holder.join(signals);
        return refused->status;
    }
    auto const& taken = std::get<taken_lock>(outcome);
    if (base::boot_clock::now().time_since_epoch().count() >= memory.page().deadline.load()) {
        // We were stopped between the grant and now.
        complain(fmt::format("the hold of {} was lost before the command started", plan_.name));
        give_back(plan_, holder, signals, true);
        holder.join(signals);
        return exit_status::lost;
    }
    child_environment const environment{plan_.name, std::to_string(taken.token),
                                        store_for_command(plan_, taken.store),
                                        plan_.pass_credentials, plan_.value};
    bool const ends = plan_.on_lost != loss_policy::ignore;
    pid_t const child = start_child(plan_.program, environment, memory.page(), signals,
                                    hold_ties{ends ? &death : nullptr, taken.presence.get()},
                                    terminal.is_ours() ? terminal.descriptor() : -1);
    auto const end = running_phase{plan_, holder, signals, terminal, memory.page(), child}.run();
    death.disarm();
    bool const in_time = give_back(plan_, holder, signals, end.lost);
    holder.join(signals);
    return report(plan_, memory.page(), end, in_time);
}

}  // namespace holdfast::cli
