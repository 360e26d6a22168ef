#include "run/partner.hpp"

#include <csignal>

#include <poll.h>
#include <sys/wait.h>

namespace holdfast::cli {

void partner::signal(int signal) const noexcept {
    if (pid_ > 0) ::kill(pid_, signal);
}

void partner::join(signal_inbox& signals) noexcept {
    while (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == 0) {
        pollfd source{signals.descriptor(), POLLIN, 0};  // its end is announced by a signal, too
        ::poll(&source, 1, -1);
        while (auto const signal = signals.next())
            if (ends_a_process(*signal)) partner::signal(SIGKILL);
    }
    pid_ = -1;
}

}  // namespace holdfast::cli
