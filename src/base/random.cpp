#include "base/random.hpp"

#include <cerrno>
#include <system_error>

#include <sys/random.h>

namespace holdfast::base {

// Not std::random_device, which asks the processor what it can do: in a virtual machine that alone takes
// longer than all the rest of making a client.
std::uint64_t entropy() {
    std::uint64_t out = 0;
    for (;;) {
        auto const got = ::getrandom(&out, sizeof out, 0);
        if (got == sizeof out) return out;
        if (got < 0 && errno != EINTR)
            throw std::system_error{errno, std::system_category(), "getrandom"};
    }
}

}  // namespace holdfast::base
