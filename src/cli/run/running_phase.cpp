#include "run/running_phase.hpp"

#include <array>
#include <csignal>

#include <poll.h>
#include <sys/wait.h>

#include <fmt/format.h>

#include "exit_status.hpp"
#include "terminal.hpp"

namespace holdfast::cli {

void complain_of_loss(run_plan const& plan, std::string_view why) {
    complain(fmt::format("the hold of {} is lost: {}", plan.name, why));
}

running_phase::running_phase(run_plan const& plan, partner& holder, signal_inbox& signals,
                             foreground& terminal, shared_page& page, pid_t child)
    : plan_{plan},
      holder_{holder},
      signals_{signals},
      terminal_{terminal},
      child_{child},
      enforcer_{page, plan.grace} {}

ending running_phase::run() {
    reap();  // it may have ended before we looked
    while (!is_over()) {
        timer_.arm(next_look());
        std::array<pollfd, 3> sources{
            {{signals_.descriptor(), POLLIN, 0},
             {timer_.number(), POLLIN, 0},
             {holder_alive_ ? holder_.channel().descriptor() : -1, POLLIN, 0}}};
        ::poll(sources.data(), sources.size(), -1);
        if (sources[0].revents != 0) take_signals();
        if (sources[2].revents != 0) take_message();
        watch_deadline();
    }
    terminal_.take_back_from(child_);
    return {*status_, lost_};
}

bool running_phase::is_over() const noexcept {
    // Its children may outlive the command, but not its hold.
    return status_ && (!enforcer_.has_begun() || enforcer_.is_over());
}

// The holder ends the group at the grace before the deadline. Where it has not done so at half the
// grace it is stopped or stuck, and we do it.
void running_phase::watch_deadline() {
    enforcer_.act();
    if (enforcer_.has_begun() || plan_.on_lost == loss_policy::ignore || !holder_alive_) return;
    if (base::boot_clock::now() < enforcer_.deadline() - plan_.final_grace() / 2) return;
    lost_ = true;
    enforcer_.terminate();
}

base::instant running_phase::next_look() const noexcept {
    if (enforcer_.has_begun()) return enforcer_.next();
    if (plan_.on_lost == loss_policy::ignore || !holder_alive_) return base::never;
    return enforcer_.deadline() - plan_.final_grace() / 2;
}

void running_phase::take_message() {
    auto const message = holder_.channel().receive();
    if (!message) {
        holder_alive_ = false;
        lost_ = true;
        complain_of_loss(plan_, holder_killed);
        // No grace: the system has done it already, unless it could not.
        if (plan_.on_lost != loss_policy::ignore) enforcer_.kill();
    } else if (message->kind == message_kind::lost) {
        lost_ = true;
        complain_of_loss(plan_, message->text);
    }
}

void running_phase::take_signals() {
    while (auto const signal = signals_.next()) {
        switch (*signal) {
        case SIGCHLD: reap(); break;
        case SIGCONT: resume(); break;
        case SIGTTIN:
        case SIGTTOU: yield_terminal(); break;
        default: ::kill(-child_, *signal); break;
        }
    }
}

void running_phase::reap() {
    int state = 0;
    while (!status_ && ::waitpid(child_, &state, WNOHANG | WUNTRACED) == child_) {
        if (WIFSTOPPED(state))
            child_stopped(WSTOPSIG(state));
        else if (WIFSIGNALED(state))
            status_ = exit_status::signalled(WTERMSIG(state));
        else if (WIFEXITED(state))
            status_ = WEXITSTATUS(state);
    }
}

void running_phase::child_stopped(int signal) {
    // Without a terminal nobody would continue us, and who stopped the command continues it.
    if (!terminal_.has_terminal()) return;
    // Some programs answer Ctrl-Z with SIGSTOP; elsewhere it is somebody's deliberate act.
    if (signal == SIGSTOP && !terminal_.is_of(child_)) return;
    bool const wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
    if (wants_terminal && terminal_.is_ours()) {
        yielded_ = false;
        resume();
        return;
    }
    terminal_.take_back_from(child_);
    bool const stopped = signals_.stop_group();
    // In an orphaned group Ctrl-Z has no effect, so it must not have one on the command. A command
    // that wants a terminal which we cannot give it stays stopped, or it would ask for ever.
    if (stopped || !wants_terminal) resume();
}

void running_phase::resume() {
    if (!yielded_ && terminal_.is_ours()) terminal_.give_to(child_);
    ::kill(-child_, SIGCONT);
}

// Another process of our group, such as a pager behind us in a pipeline, used the terminal while
// the command had it, and the system stopped the group.
void running_phase::yield_terminal() {
    if (!terminal_.is_of(child_)) return;
    terminal_.take_back_from(child_);
    yielded_ = true;
    ::kill(0, SIGCONT);
}

}  // namespace holdfast::cli
