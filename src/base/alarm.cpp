#include "base/alarm.hpp"

#include <cerrno>

#include <poll.h>

namespace holdfast::base {

void alarm::wait() noexcept {
    pollfd sources[] = {{rung_.number(), POLLIN, 0}, {timer_.number(), POLLIN, 0}};
    while (::poll(sources, 2, -1) < 0 && errno == EINTR) {}
    if (sources[0].revents != 0) rung_.clear();
    if (sources[1].revents != 0) timer_.clear();
}

}  // namespace holdfast::base
