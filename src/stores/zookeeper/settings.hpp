// What a zookeeper: URL asks for.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/url.hpp"

namespace holdfast::stores::zookeeper {

struct settings {
    struct server {
        std::string host;  ///< a name or a number
        std::uint16_t port{0};
    };

    std::vector<server> servers;
    std::string hosts;  ///< the same as a URL has them: host:port,host:port
    std::string user;
    std::string password;
    std::string root{"/holdfast"};            ///< all nodes are below
    bool private_nodes{false};                ///< only their makers may read and write them
    std::chrono::milliseconds timeout{3000};  ///< for a connection, and for an answer
    std::chrono::milliseconds tick{2000};     ///< of the servers, no shorter than theirs

    /// The servers as a URL, without user and password.
    [[nodiscard]] std::string shown() const { return "zookeeper://" + hosts; }

    /// Throws errc::bad_url or errc::unsupported. A password that the URL lacks comes from the file that
    /// `passwordfile` names, else from the environment.
    [[nodiscard]] static settings parse(base::url const& url);
};

}  // namespace holdfast::stores::zookeeper
