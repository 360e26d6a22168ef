// An address of a socket, of whatever family.
#pragma once

#include <string>

#include <sys/socket.h>

namespace holdfast::net {

struct address {
    sockaddr_storage bytes{};
    socklen_t length{0};

    [[nodiscard]] int family() const noexcept { return bytes.ss_family; }
    [[nodiscard]] sockaddr const* raw() const noexcept {
        return static_cast<sockaddr const*>(static_cast<void const*>(&bytes));
    }
};

/// The longest path of a UNIX socket, as sockaddr_un has it, without its end.
inline constexpr std::size_t longest_socket_path = 107;

}  // namespace holdfast::net
