#include "support/free_port.hpp"

#include <random>
#include <set>
#include <stdexcept>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/loopback.hpp"

namespace holdfast::support {

// Below those that the system gives to outgoing connections, which come and go all the time: a server that is
// restarted would find its port taken by one of them.
std::uint16_t free_port() {
    constexpr int first = 10'000;
    constexpr int last = 32'000;
    static std::mt19937 draws{std::random_device{}()};
    static std::set<int> given;  // to servers that may not listen yet
    for (int tries = 0; tries < 1'000; ++tries) {
        int const port = std::uniform_int_distribution{first, last}(draws);
        auto const here = loopback(static_cast<std::uint16_t>(port));
        int const socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        bool const bound = ::bind(socket, raw(here), sizeof here) == 0;
        ::close(socket);
        if (bound && given.insert(port).second) return static_cast<std::uint16_t>(port);
    }
    throw std::runtime_error{"there is no free port"};
}

}  // namespace holdfast::support
