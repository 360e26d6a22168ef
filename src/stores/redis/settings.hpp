// What a redis: URL asks for.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/url.hpp"

namespace holdfast::stores::redis {

/// How a TLS connection proves who is who.
struct tls_settings {
    bool on{false};
    std::string authorities;  ///< a file of certificates to trust; the system's when empty
    std::string certificate;  ///< of this client, with its key
    std::string key;
    std::string server_name;  ///< that the server's certificate must have; the host when empty
    bool insecure{false};     ///< takes any certificate
};

/// Which keys and scripts the locks live in.
enum class layout_name { native, plain };

struct settings {
    std::string host;  ///< empty for a UNIX socket
    std::uint16_t port{6379};
    std::string socket_path;  ///< absolute
    tls_settings tls;
    std::string user;
    std::string password;
    std::uint32_t database{0};
    std::string prefix{"holdfast:"};  ///< of all keys that are not names
    layout_name layout{layout_name::native};
    std::uint32_t replicas{0};                ///< that must confirm a grant or a renewal
    std::chrono::milliseconds timeout{3000};  ///< for a connection, and for an answer

    /// The server as messages name it, without user and password.
    [[nodiscard]] std::string shown() const;

    /// Takes the password out of words that come from elsewhere.
    [[nodiscard]] std::string without_password(std::string_view words) const;

    /// Throws errc::bad_url. A password that the URL lacks comes from the file that `passwordfile`
    /// names, else from the environment.
    [[nodiscard]] static settings parse(base::url const& url);
};

}  // namespace holdfast::stores::redis
