// What a mysql: URL asks for.
#pragma once

#include <cstdint>
#include <string>

#include "stores/sql/settings.hpp"

namespace holdfast::stores::mysql {

/// What the URL does not say comes from the option files that clients of MySQL read: /etc/mysql/my.cnf, ~/.my.cnf and so
/// on, groups [client] and [holdfast].
struct settings : sql::settings {
    std::string host;
    std::uint16_t port{0};
    std::string socket;  ///< a UNIX socket instead of host and port
    std::string user;
    std::string database;
    std::string option_file;  ///< read instead of the usual ones
    sql::tls_settings tls;    ///< without a mode: when the server offers it
    /// Numbers come from rows of a table, as on MySQL, also where the server has sequences.
    bool numbers_from_rows{false};

    [[nodiscard]] bool needs_tls() const noexcept {
        return tls.mode == "require" || tls.mode == "verify-full";
    }

    /// Throws errc::bad_url.
    [[nodiscard]] static settings parse(base::url const& url);
};

}  // namespace holdfast::stores::mysql
