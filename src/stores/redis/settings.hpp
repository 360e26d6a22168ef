// What a redis: URL asks for.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/url.hpp"
#include "net/endpoint.hpp"

namespace holdfast::stores::redis {

/// Which keys and scripts the locks live in.
enum class layout_name { native, plain };

struct settings {
    net::endpoint server{.port = 6379};
    std::string user;
    std::string password;
    std::uint32_t database{0};
    std::string prefix{"holdfast:"};  ///< of all keys that are not names
    layout_name layout{layout_name::native};
    bool one_server{true};      ///< what the URL is for: not a Sentinel, not a cluster
    std::uint32_t replicas{0};  ///< that must confirm a grant or a renewal
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
