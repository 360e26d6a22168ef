// What an etcd: URL asks for.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/url.hpp"

namespace holdfast::stores::etcd {

/// How a TLS connection proves who is who: certificates as text, not as files.
struct tls_settings {
    bool on{false};
    std::string authorities{};  ///< to trust; those of the system when empty
    std::string certificate{};  ///< of this client, with its key
    std::string key{};
    std::string server_name{};  ///< that the servers' certificates must have; the host when empty
};

struct settings {
    std::vector<base::endpoint> members;  ///< at least one, each with its port
    std::string user;
    std::string password;
    tls_settings tls;
    std::string prefix{"holdfast/"};          ///< of all keys
    std::chrono::milliseconds timeout{3000};  ///< for a connection, and for an answer

    /// One member as messages and gRPC name it: host:port.
    [[nodiscard]] std::string member(std::size_t index) const;

    /// All members as a URL, without user and password.
    [[nodiscard]] std::string shown() const;

    /// Throws errc::bad_url. A password that the URL lacks comes from the file that `passwordfile`
    /// names, else from the environment. Reads the files of certificates.
    [[nodiscard]] static settings parse(base::url const& url);
};

}  // namespace holdfast::stores::etcd
