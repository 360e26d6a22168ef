#include "stores/postgres/settings.hpp"

#include <array>
#include <string_view>

namespace holdfast::stores::postgres {

namespace {

// `lease` is the core's affair; it is listed so that it is not taken for a misprint.
constexpr std::array<std::string_view, 9> known_options{
    "ca", "cert", "connections", "key", "lease", "passwordfile", "prefix", "sslmode", "timeout"};

constexpr std::array<std::string_view, 6> tls_modes{"disable", "allow",     "prefer",
                                                    "require", "verify-ca", "verify-full"};

void add_hosts(settings& out, base::url const& url) {
    std::string hosts;
    std::string ports;
    for (auto const& each : url.hosts) {
        auto const comma = hosts.empty() ? "" : ",";
        hosts += comma + each.host;
        ports += comma + (each.port == 0 ? std::string{} : std::to_string(each.port));
    }
    if (hosts.empty()) return;
    out.parameters.emplace_back("host", hosts);
    if (ports.find_first_not_of(',') != std::string::npos)
        out.parameters.emplace_back("port", ports);
    // Of several, the one that takes writes.
    if (url.hosts.size() > 1) out.parameters.emplace_back("target_session_attrs", "read-write");
}

void add_parameters(settings& out, base::url const& url) {
    auto const add = [&](char const* key, std::string const& value) {
        if (!value.empty()) out.parameters.emplace_back(key, value);
    };
    add("dbname", url.path.starts_with('/') ? url.path.substr(1) : url.path);
    add("user", url.user);
    add("password", out.password);
    auto const tls = sql::parse_tls(url, tls_modes);
    add("sslmode", tls.mode);
    add("sslrootcert", tls.authorities);
    add("sslcert", tls.certificate);
    add("sslkey", tls.key);
    // A dead peer is noticed on an idle connection too: that for messages mostly is.
    add("keepalives_idle", "15");
    add("keepalives_interval", "5");
    add("keepalives_count", "3");
    add("client_encoding", "UTF8");
    add("fallback_application_name", "holdfast");
}

}  // namespace

settings settings::parse(base::url const& url) {
    url.require_known_options(known_options);
    settings out;
    out.server = url.hosts.empty() ? "postgres:" : "postgres://" + sql::shown_hosts(url);
    sql::parse_common(out, url, true);
    add_hosts(out, url);
    add_parameters(out, url);
    return out;
}

}  // namespace holdfast::stores::postgres
