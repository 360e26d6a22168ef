#include "run/partner.hpp"

#include <cerrno>
#include <csignal>

#include <sys/wait.h>

namespace holdfast::cli {

void partner::signal(int signal) const noexcept {
    if (pid_ > 0) ::kill(pid_, signal);
}

void partner::join() noexcept {
    while (pid_ > 0 && ::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
    pid_ = -1;
}

}  // namespace holdfast::cli
