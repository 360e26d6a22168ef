#include "run/holder.hpp"

#include <csignal>
#include <exception>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <holdfast/client.hpp>
#include <holdfast/detail/presence.hpp>

#include "duration.hpp"
#include "error_text.hpp"
#include "exit_status.hpp"
#include "run/acquisition.hpp"
#include "run/hold_watch.hpp"
#include "store_choice.hpp"
#include "store_paths.hpp"
#include "store_url.hpp"

namespace holdfast::cli {

namespace {

// Seen by ps, pkill and killall: who kills everything that is called holdfast does not reach the
// holder, which then ends the command and gives the name back.
constexpr char const* process_name = "hf-holder";

// Away from the terminal: a signal typed there is for the supervisor, and a stopped job must not
// stop the renewals.
void detach(pid_t supervisor) noexcept {
    ::setsid();
    if (int const null = ::open("/dev/null", O_RDWR | O_CLOEXEC); null >= 0) {
        ::dup2(null, STDIN_FILENO);
        ::dup2(null, STDOUT_FILENO);
        ::close(null);
    }
    ::prctl(PR_SET_NAME, process_name);
    // Killed while a job is stopped in its wait, the supervisor cannot continue us any more.
    ::prctl(PR_SET_PDEATHSIG, SIGCONT);
    if (::getppid() != supervisor) ::_exit(exit_status::system);
}

void acquire_and_keep(holder_task& task) {
    // Never destroyed: that would wait for a store which may have fallen silent, and the process is
    // about to end anyway. Where the store answers, close() leaves everything in order.
    auto& client = *new holdfast::client{
        task.plan.store, {.patience = task.plan.patience, .log = task.trouble.receiver()}};
    acquisition attempt{task, client};
    auto outcome = attempt.run();
    if (!outcome.lease) {
        task.channel.send({message_kind::failed, static_cast<std::uint64_t>(outcome.status),
                           std::move(outcome.text)});
        client.close();
        return;
    }
    std::error_code no_directory;  // then they stay relative, and mean nothing to anybody
    auto store =
        with_option(with_absolute_paths(client.url(), no_directory), task.plan.store_lease);
    hold_watch watch{task, *outcome.lease, std::move(store),
                     base::descriptor{detail::share_presence(client)}};
    watch.run();
    watch.report();
    if (watch.confirmed()) client.close();
}

}  // namespace

void run_holder(holder_task task) noexcept {
    task.death.keep_writing_end();
    detach(task.supervisor);
    ::mallopt(M_ARENA_MAX, 1);  // to make one for each thread takes longer than all they do with it
    int status = exit_status::success;
    std::string text;
    try {
        acquire_and_keep(task);
    } catch (std::system_error const& error) {
        status = status_of(error.code());
        text = text_of(error);
    } catch (std::exception const& error) {
        status = exit_status::internal;
        text = error.what();
    }
    if (status != exit_status::success)
        task.channel.send(
            {message_kind::failed, static_cast<std::uint64_t>(status), std::move(text)});
    // Nothing of what the supervisor had set up before the fork is ours to tidy.
    ::_exit(status);
}

}  // namespace holdfast::cli
