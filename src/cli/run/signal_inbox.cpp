#include "run/signal_inbox.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <system_error>

#include <sys/signalfd.h>

namespace holdfast::cli {

namespace {

constexpr std::array ending_signals{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM};
constexpr std::array job_control{SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGWINCH};

bool is_ignored(int signal) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    return action.sa_handler == SIG_IGN;
}

}  // namespace

bool ends_a_process(int signal) noexcept {
    return std::ranges::find(ending_signals, signal) != ending_signals.end();
}

signal_inbox::signal_inbox() {
    sigset_t wanted;
    ::sigemptyset(&wanted);
    for (int const signal : ending_signals)
        if (!is_ignored(signal)) ::sigaddset(&wanted, signal);
    for (int const signal : job_control)
        if (!is_ignored(signal)) ::sigaddset(&wanted, signal);
    // Ignored, it would hide the end of our children from us.
    struct sigaction by_default {};
    by_default.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &by_default, &original_child_);
    ::sigaddset(&wanted, SIGCHLD);

    sigset_t blocked = wanted;
    // A closed stderr must not end the one who watches over the command.
    ::sigaddset(&blocked, SIGPIPE);
    ::sigprocmask(SIG_BLOCK, &blocked, &original_);
    inbox_ = base::descriptor{::signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC)};
    if (!inbox_) throw std::system_error{errno, std::generic_category(), "cannot read signals"};
}

std::optional<int> signal_inbox::next() noexcept {
    signalfd_siginfo info{};
    if (::read(inbox_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return {};
    return static_cast<int>(info.ssi_signo);
}

bool signal_inbox::stop_group() noexcept {
    sigset_t stop;
    ::sigemptyset(&stop);
    ::sigaddset(&stop, SIGTSTP);
    // SIGTSTP and not SIGSTOP: the system refuses the former where it would be for ever.
    ::kill(0, SIGTSTP);
    ::sigprocmask(SIG_UNBLOCK, &stop, nullptr);
    // Stopped here.
    ::sigprocmask(SIG_BLOCK, &stop, nullptr);
    sigset_t go_on;
    ::sigemptyset(&go_on);
    ::sigaddset(&go_on, SIGCONT);
    timespec const at_once{};
    return ::sigtimedwait(&go_on, nullptr, &at_once) == SIGCONT;
}

void signal_inbox::restore() const noexcept {
    ::sigaction(SIGCHLD, &original_child_, nullptr);
    ::sigprocmask(SIG_SETMASK, &original_, nullptr);
}

}  // namespace holdfast::cli
