// What a mysql: URL asks for.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/url.hpp"

namespace holdfast::stores::mysql {

enum class tls_mode { disable, prefer, require, verify_full };

/// What the URL does not say comes from the option files that clients of MySQL read: /etc/mysql/my.cnf, ~/.my.cnf and so
/// on, groups [client] and [holdfast].
struct settings {
    std::string host;
    std::uint16_t port{0};
    std::string socket;  ///< a UNIX socket instead of host and port
    std::string user;
    std::string password;
    std::string database;
    std::string option_file;  ///< read instead of the usual ones
    tls_mode tls{tls_mode::prefer};
    std::string authorities, certificate, key;
    std::string server;                       ///< as messages name it, without user and password
    std::string prefix{"holdfast_"};          ///< of all tables
    std::uint32_t connections{4};             ///< at most so many
    std::chrono::milliseconds timeout{3000};  ///< for a connection, and for an answer
    /// Numbers come from rows of a table, as on MySQL, also where the server has sequences.
    bool numbers_from_rows{false};

    /// Takes the password out of words that come from elsewhere.
    [[nodiscard]] std::string without_password(std::string_view words) const;

    /// Throws errc::bad_url.
    [[nodiscard]] static settings parse(base::url const& url);
};

}  // namespace holdfast::stores::mysql
