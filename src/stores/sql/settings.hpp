// What the URLs of databases have in common.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/url.hpp"

namespace holdfast::stores::sql {

struct settings {
    std::string server;                       ///< as messages name it, without user and password
    std::string password;                     ///< empty when the URL gives none
    std::string prefix{"holdfast_"};          ///< of all tables
    std::uint32_t connections{4};             ///< at most so many for exchanges
    std::chrono::milliseconds timeout{3000};  ///< for a connection, and for an answer
};

/// Reads `password`, `prefix`, `connections` and `timeout`; throws errc::bad_url. `schemas`: a prefix may name a schema before
/// a dot.
void parse_common(settings& out, base::url const& url, bool schemas);

/// As the options `sslmode`, `ca`, `cert` and `key` have it.
struct tls_settings {
    std::string mode;  ///< one of those that the database knows; empty: its default
    std::string authorities, certificate, key;
};
/// Throws errc::bad_url.
[[nodiscard]] tls_settings parse_tls(base::url const& url, std::span<std::string_view const> modes);

/// host:port of each, with commas, as a URL has them; the port only where the URL has one.
[[nodiscard]] std::string shown_hosts(base::url const& url);

}  // namespace holdfast::stores::sql
