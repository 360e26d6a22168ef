// What a redis: URL asks for.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/url.hpp"
#include "net/endpoint.hpp"

namespace holdfast::stores::redis {

/// Which keys and scripts the locks live in.
enum class layout_name { native, plain };

/// What the URL's hosts are.
enum class deployment { one_server, sentinel, cluster };

/// How those who are asked for the servers want to be greeted.
struct login {
    std::string user;
    std::string password;
};

struct settings {
    deployment kind{deployment::one_server};
    net::endpoint server{.port = 6379};  ///< without an address where it has to be found
    std::vector<net::endpoint> hosts{};  ///< sentinels, or some nodes of a cluster
    std::string master_name{};           ///< as the sentinels have it
    login sentinel{};
    std::string user;
    std::string password;
    std::uint32_t database{0};
    std::string prefix{"holdfast:"};  ///< of all keys that are not names
    layout_name layout{layout_name::native};
    bool one_server{true};      ///< what the URL is for: not a Sentinel, not a cluster
    std::uint32_t replicas{0};  ///< that must confirm a grant or a renewal
    std::chrono::milliseconds timeout{3000};  ///< for a connection, and for an answer

    /// The same for one of the servers.
    [[nodiscard]] settings at(std::string host, std::uint16_t port) const;
    /// The same for one of those who are asked where the servers are.
    [[nodiscard]] settings at_guide(net::endpoint const& where) const;

    /// The server as messages name it, without user and password; all hosts where it has to be found.
    [[nodiscard]] std::string shown() const;

    /// Throws errc::bad_url. A password that the URL lacks comes from the file that `passwordfile`
    /// names, else from the environment.
    [[nodiscard]] static settings parse(base::url const& url);
};

}  // namespace holdfast::stores::redis
