#include "run/death_signal.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace holdfast::cli {

death_signal::death_signal() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0)
        throw std::system_error{errno, std::generic_category(), "cannot make a pipe"};
    reader_ = base::descriptor{ends[0]};
    writer_ = base::descriptor{ends[1]};
}

bool death_signal::arm(pid_t group) const noexcept {
    ::fcntl(reader_.get(), F_SETOWN, -group);
    ::fcntl(reader_.get(), F_SETSIG, SIGKILL);
    ::fcntl(reader_.get(), F_SETFL, O_NONBLOCK | O_ASYNC);
    pollfd end{reader_.get(), POLLIN, 0};
    return ::poll(&end, 1, 0) == 0;
}

void death_signal::disarm() const noexcept { ::fcntl(reader_.get(), F_SETFL, O_NONBLOCK); }

}  // namespace holdfast::cli
