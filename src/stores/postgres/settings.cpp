#include "stores/postgres/settings.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "base/text.hpp"

namespace holdfast::stores::postgres {

namespace {

// `lease` is the core's affair; it is listed so that it is not taken for a misprint.
constexpr std::array<std::string_view, 9> known_options{
    "ca", "cert", "connections", "key", "lease", "passwordfile", "prefix", "sslmode", "timeout"};

constexpr std::array<std::string_view, 6> tls_modes{"disable", "allow",     "prefer",
                                                    "require", "verify-ca", "verify-full"};

constexpr std::uint32_t most_connections = 64;
constexpr std::size_t longest_prefix = 40;

[[noreturn]] void bad(std::string words) { base::raise(errc::bad_url, std::move(words)); }

std::string text_option(base::url const& url, std::string_view key) {
    auto const found = url.options.find(key);
    if (found == url.options.end()) return {};
    if (found->second.empty()) bad("the option '" + found->first + "' of the store URL is empty");
    return found->second;
}

std::string read_password(std::string const& path) {
    std::ifstream in{path, std::ios::binary};
    std::string out{std::istreambuf_iterator<char>{in}, {}};
    if (!in) bad("the password file '" + path + "' of the store URL cannot be read");
    while (out.ends_with('\n') || out.ends_with('\r'))
        out.pop_back();
    if (out.empty()) bad("the password file '" + path + "' of the store URL is empty");
    return out;
}

void parse_hosts(settings& out, base::url const& url) {
    std::string hosts;
    std::string ports;
    for (auto const& each : url.hosts) {
        auto const comma = hosts.empty() ? "" : ",";
        hosts += comma + each.host;
        ports += comma + (each.port == 0 ? std::string{} : std::to_string(each.port));
        out.server +=
            (out.server.empty() ? "postgres://" : ",") +
            (each.host.find(':') == std::string::npos ? each.host : "[" + each.host + "]") +
            (each.port == 0 ? "" : ":" + std::to_string(each.port));
    }
    if (out.server.empty()) out.server = "postgres:";
    if (hosts.empty()) return;
    out.parameters.emplace_back("host", hosts);
    if (ports.find_first_not_of(',') != std::string::npos)
        out.parameters.emplace_back("port", ports);
    // Of several, the one that takes writes.
    if (url.hosts.size() > 1) out.parameters.emplace_back("target_session_attrs", "read-write");
}

void parse_login(settings& out, base::url const& url) {
    auto database = url.path;
    if (database.starts_with('/')) database.erase(0, 1);
    if (!database.empty()) out.parameters.emplace_back("dbname", database);
    if (!url.user.empty()) out.parameters.emplace_back("user", url.user);
    out.password = url.password;
    if (auto const file = text_option(url, "passwordfile"); !file.empty()) {
        if (!out.password.empty())
            bad("the store URL has a password and a 'passwordfile': give one");
        out.password = read_password(file);
    }
    if (!out.password.empty()) out.parameters.emplace_back("password", out.password);
}

void parse_tls(settings& out, base::url const& url) {
    auto mode = text_option(url, "sslmode");
    auto const authorities = text_option(url, "ca");
    if (!mode.empty() && std::ranges::find(tls_modes, mode) == tls_modes.end())
        bad("the option 'sslmode' of the store URL is disable, allow, prefer, require, verify-ca "
            "or "
            "verify-full, not '" +
            mode + "'");
    auto const certificate = text_option(url, "cert");
    auto const key = text_option(url, "key");
    if (certificate.empty() != key.empty())
        bad("the options 'cert' and 'key' of the store URL belong together");
    if (mode == "disable" && !(authorities.empty() && certificate.empty()))
        bad("the options 'ca' and 'cert' of the store URL need another 'sslmode' than disable");
    // Whoever names an authority wants it asked.
    if (mode.empty() && !authorities.empty()) mode = "verify-full";
    if (!mode.empty()) out.parameters.emplace_back("sslmode", mode);
    if (!authorities.empty()) out.parameters.emplace_back("sslrootcert", authorities);
    if (!certificate.empty()) out.parameters.emplace_back("sslcert", certificate);
    if (!key.empty()) out.parameters.emplace_back("sslkey", key);
}

void parse_prefix(settings& out, base::url const& url) {
    if (auto const prefix = text_option(url, "prefix"); !prefix.empty()) out.prefix = prefix;
    bool legal = out.prefix.size() <= longest_prefix && std::ranges::count(out.prefix, '.') <= 1;
    char before = '.';
    for (char const each : out.prefix) {
        bool const letter = (each >= 'a' && each <= 'z') || each == '_';
        legal =
            legal && (letter || (before != '.' && ((each >= '0' && each <= '9') || each == '.')));
        before = each;
    }
    if (!legal)
        bad("the option 'prefix' of the store URL has at most " + std::to_string(longest_prefix) +
            " lower-case letters, digits and underscores, begins with no digit, and may name a "
            "schema before a dot");
}

}  // namespace

settings settings::parse(base::url const& url) {
    url.require_known_options(known_options);
    settings out;
    parse_hosts(out, url);
    parse_login(out, url);
    parse_tls(out, url);
    parse_prefix(out, url);
    if (auto const count = text_option(url, "connections"); !count.empty()) {
        auto const value = base::parse_number(count, most_connections);
        if (!value || *value == 0)
            bad("the option 'connections' of the store URL is a number from 1 to " +
                std::to_string(most_connections) + ", not '" + count + "'");
        out.connections = static_cast<std::uint32_t>(*value);
    }
    out.timeout = url.duration_option("timeout", out.timeout);
    // A dead peer is noticed on an idle connection too: that for messages mostly is.
    for (auto const& [key, value] : {std::pair{"keepalives_idle", "15"},
                                     {"keepalives_interval", "5"},
                                     {"keepalives_count", "3"},
                                     {"client_encoding", "UTF8"},
                                     {"fallback_application_name", "holdfast"}})
        out.parameters.emplace_back(key, value);
    return out;
}

}  // namespace holdfast::stores::postgres
