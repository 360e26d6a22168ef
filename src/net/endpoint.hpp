// Where a server is, and how to talk to it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace holdfast::net {

/// How a TLS connection proves who is who.
struct tls_settings {
    bool on{false};
    std::string authorities{};  ///< a file of certificates to trust; the system's when empty
    std::string certificate{};  ///< of this client, with its key
    std::string key{};
    std::string server_name{};  ///< that the server's certificate must have; the host when empty
    bool insecure{false};       ///< takes any certificate
};

/// When the system asks whether the other side of an idle TCP connection is still there.
struct keepalive_settings {
    std::chrono::seconds idle{15};
    std::chrono::seconds interval{5};
    int probes{3};  ///< unanswered ones after which the connection is dead
};

struct endpoint {
    std::string host{};  ///< a name or a number; empty for a UNIX socket
    std::uint16_t port{0};
    std::string socket_path{};  ///< absolute; without a host
    tls_settings tls{};
    keepalive_settings keepalive{};
};

}  // namespace holdfast::net
