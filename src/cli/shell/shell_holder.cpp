#include "shell/shell_holder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <system_error>

#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <holdfast/client.hpp>

#include "error_text.hpp"
#include "exit_status.hpp"
#include "run/acquisition.hpp"
#include "run/holder.hpp"
#include "shell/shell_watch.hpp"

namespace holdfast::cli {

namespace {

constexpr char const* process_name = "hf-holder";  // as that of `holdfast run`

// Away from the terminal and its signals. Whatever the shell had open, such as the pipe of a command
// substitution, would be kept open for as long as the lock is held.
void detach(shell_task const& task) noexcept {
    ::setsid();
    if (int const null = ::open("/dev/null", O_RDWR | O_CLOEXEC); null >= 0) {
        for (int const stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
            ::dup2(null, stream);
    }
    std::array<int, 3> kept{task.shell, task.signals.descriptor(), task.channel.descriptor()};
    std::ranges::sort(kept);
    unsigned first = STDERR_FILENO + 1;
    for (int const each : kept) {
        auto const number = static_cast<unsigned>(each);
        if (number > first) ::close_range(first, number - 1, 0);
        first = number + 1;
    }
    ::close_range(first, ~0U, 0);
    [[maybe_unused]] int const here = ::chdir("/");
    ::prctl(PR_SET_NAME, process_name);
}

void send_failure(message_channel& channel, int status, std::string text) {
    channel.send({message_kind::failed, static_cast<std::uint64_t>(status), std::move(text)});
}

acquisition::outcome acquire(shell_task& task, client& client, trouble_log const& trouble) {
    shared_page page;     // there is no command to share it with
    death_signal unused;  // nor to end it
    holder_task acquiring{task.plan, page,        task.signals, std::move(task.channel),
                          unused,    ::getppid(), task.narrate, trouble};
    try {
        auto out = acquisition{acquiring, client}.run();
        task.channel = std::move(acquiring.channel);
        return out;
    } catch (...) {
        task.channel = std::move(acquiring.channel);  // for the words on what went wrong
        throw;
    }
}

void acquire_and_keep(shell_task& task) {
    rendezvous meeting{task.claim};
    // Never destroyed, as in `holdfast run`: that would wait for a store which may have fallen silent.
    trouble_log const trouble;
    auto& client = *new holdfast::client{
        task.plan.store, {.patience = task.plan.patience, .log = trouble.receiver()}};
    auto outcome = acquire(task, client, trouble);
    if (!outcome.lease) {
        send_failure(task.channel, outcome.status, std::move(outcome.text));
        client.close();
        return;
    }
    shell_watch watch{task, *outcome.lease, meeting};
    task.channel.send({message_kind::granted, outcome.lease->token(), client.url()});
    // Who asked may have been ended meanwhile: a lock that nobody knows of must not stay.
    auto const answer = task.channel.receive();
    if (answer && answer->kind == message_kind::granted)
        watch.run();
    else
        watch.give_back();
    task.channel.send({message_kind::released, 0, {}});
    if (watch.confirmed()) client.close();
}

}  // namespace

void run_shell_holder(shell_task task) noexcept {
    detach(task);
    ::mallopt(M_ARENA_MAX, 1);  // to make one for each thread takes longer than all they do with it
    int status = exit_status::success;
    try {
        acquire_and_keep(task);
    } catch (std::system_error const& error) {
        status = status_of(error.code());
        send_failure(task.channel, status, text_of(error));
    } catch (std::exception const& error) {
        status = exit_status::internal;
        send_failure(task.channel, status, error.what());
    }
    ::_exit(status);
}

}  // namespace holdfast::cli
