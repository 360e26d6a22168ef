#include "base/event.hpp"

#include <cerrno>
#include <system_error>

#include <sys/eventfd.h>

namespace holdfast::base {

event::event() : event_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)} {
    if (!event_) throw std::system_error{errno, std::generic_category(), "cannot make an event"};
}

// Fails only when it is set as often as 64 bits count, and then it is readable.
void event::set() noexcept { ::eventfd_write(event_.get(), 1); }

void event::clear() noexcept {
    eventfd_t count = 0;
    ::eventfd_read(event_.get(), &count);
}

}  // namespace holdfast::base
