// Loaded before a program starts (LD_PRELOAD): what it sends to some ports of 127.0.0.1 goes to others, as the lines of
// the file HOLDFAST_TEST_ROUTES say: "FROM TO". So two programs can reach one server by different ways, and each server
// the others, without any address being another one than they tell each other.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

std::uint16_t route_of(std::uint16_t port) noexcept {
    static char const* const path = std::getenv("HOLDFAST_TEST_ROUTES");
    auto* const file = path == nullptr ? nullptr : std::fopen(path, "re");
    if (file == nullptr) return port;
    unsigned from = 0;
    unsigned to = 0;
    auto out = port;
    while (std::fscanf(file, "%u %u", &from, &to) == 2)
        if (from == port) out = static_cast<std::uint16_t>(to);
    std::fclose(file);
    return out;
}

}  // namespace

extern "C" int connect(int socket, sockaddr const* to, socklen_t length) {
    sockaddr_in elsewhere{};
    if (to->sa_family == AF_INET && length >= sizeof elsewhere) {
        elsewhere = *static_cast<sockaddr_in const*>(static_cast<void const*>(to));
        elsewhere.sin_port = htons(route_of(ntohs(elsewhere.sin_port)));
        to = static_cast<sockaddr const*>(static_cast<void const*>(&elsewhere));
    }
    return static_cast<int>(::syscall(SYS_connect, socket, to, length));
}
