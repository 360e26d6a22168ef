#include "run/partner.hpp"

#include <csignal>

#include <poll.h>
#include <sys/wait.h>

namespace holdfast::cli {

namespace {
using namespace std::chrono_literals;
constexpr auto undisturbed = 1s;  // for giving back; the man page names it
}  // namespace

void partner::signal(int signal) const noexcept {
    if (pid_ > 0) ::kill(pid_, signal);
}

void partner::note_dismissal() noexcept {
    if (!dismissed_) dismissed_ = base::boot_clock::now();
}

void partner::dismiss(message_kind kind) noexcept {
    note_dismissal();
    channel_.send({kind, 0, {}});
}

void partner::hasten() noexcept {
    if (!dismissed_ || base::boot_clock::now() < *dismissed_ + undisturbed) return;
    hastened_ = true;
    signal(SIGKILL);
}

void partner::join(signal_inbox& signals) noexcept {
    note_dismissal();  // it may be ending of its own accord
    while (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == 0) {
        pollfd source{signals.descriptor(), POLLIN, 0};  // its end is announced by a signal, too
        ::poll(&source, 1, -1);
        while (auto const signal = signals.next())
            if (ends_a_process(*signal)) hasten();
    }
    pid_ = -1;
}

}  // namespace holdfast::cli
