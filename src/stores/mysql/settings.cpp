#include "stores/mysql/settings.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace holdfast::stores::mysql {

namespace {

// `lease` is the core's affair; it is listed so that it is not taken for a misprint.
constexpr std::array<std::string_view, 11> known_options{
    "ca",           "cert",   "connections", "key",     "lease",  "optionfile",
    "passwordfile", "prefix", "socket",      "sslmode", "timeout"};

constexpr std::array<std::string_view, 4> tls_modes{"disable", "prefer", "require", "verify-full"};

[[noreturn]] void bad(std::string words) { base::raise(errc::bad_url, std::move(words)); }

void parse_server(settings& out, base::url const& url) {
    if (url.hosts.size() > 1)
        bad("a mysql URL names one server, the one that takes the writes: two that both took them "
            "would each give out the same lock");
    out.socket = url.text_option("socket");
    if (!url.hosts.empty()) {
        out.host = url.hosts.front().host;
        out.port = url.hosts.front().port;
    }
    if (!out.socket.empty() && !out.host.empty() && out.host != "localhost")
        bad("the store URL names a host and a 'socket': give one");
    out.server = "mysql://" + sql::shown_hosts(url) +
                 (out.socket.empty() ? "" : " (socket " + out.socket + ")");
    out.database = url.path.starts_with('/') ? url.path.substr(1) : url.path;
    if (out.database.empty()) bad("the store URL names no database: mysql://user@host/database");
}

}  // namespace

settings settings::parse(base::url const& url) {
    url.require_known_options(known_options);
    settings out;
    parse_server(out, url);
    sql::parse_common(out, url, false);
    out.user = url.user;
    out.option_file = url.text_option("optionfile");
    (void)url.file_option("optionfile");  // it can be read
    out.tls = sql::parse_tls(url, tls_modes);
    return out;
}

}  // namespace holdfast::stores::mysql
