// The address of this machine, as the servers and proxies of tests need it.
#pragma once

#include <cstdint>

#include <arpa/inet.h>
#include <sys/socket.h>

namespace holdfast::support {

/// 127.0.0.1; without a port, one of the system's choice.
[[nodiscard]] inline sockaddr_in loopback(std::uint16_t port = 0) {
    sockaddr_in out{};
    out.sin_family = AF_INET;
    out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    out.sin_port = htons(port);
    return out;
}

/// As the calls of sockets want it.
[[nodiscard]] inline sockaddr* raw(sockaddr_in& of) {
    return static_cast<sockaddr*>(static_cast<void*>(&of));
}
[[nodiscard]] inline sockaddr const* raw(sockaddr_in const& of) {
    return static_cast<sockaddr const*>(static_cast<void const*>(&of));
}

}  // namespace holdfast::support
