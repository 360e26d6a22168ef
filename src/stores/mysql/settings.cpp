#include "stores/mysql/settings.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"

namespace holdfast::stores::mysql {

namespace {

// `lease` is the core's affair; it is listed so that it is not taken for a misprint.
constexpr std::array<std::string_view, 11> known_options{
    "ca",           "cert",   "connections", "key",     "lease",  "optionfile",
    "passwordfile", "prefix", "socket",      "sslmode", "timeout"};

constexpr std::array tls_modes{std::pair{std::string_view{"disable"}, tls_mode::disable},
                               std::pair{std::string_view{"prefer"}, tls_mode::prefer},
                               std::pair{std::string_view{"require"}, tls_mode::require},
                               std::pair{std::string_view{"verify-full"}, tls_mode::verify_full}};

constexpr std::uint32_t most_connections = 64;
constexpr std::size_t longest_prefix = 40;

[[noreturn]] void bad(std::string words) { base::raise(errc::bad_url, std::move(words)); }

std::string text_option(base::url const& url, std::string_view key) {
    auto const found = url.options.find(key);
    if (found == url.options.end()) return {};
    if (found->second.empty()) bad("the option '" + found->first + "' of the store URL is empty");
    return found->second;
}

std::string contents(std::string const& path, char const* what) {
    std::ifstream in{path, std::ios::binary};
    std::string out{std::istreambuf_iterator<char>{in}, {}};
    if (!in) bad(std::string{"the "} + what + " '" + path + "' of the store URL cannot be read");
    return out;
}

void parse_server(settings& out, base::url const& url) {
    if (url.hosts.size() > 1)
        bad("a mysql URL names one server, the one that takes the writes: two that both took them "
            "would each give out the same lock");
    out.socket = text_option(url, "socket");
    if (!url.hosts.empty()) {
        out.host = url.hosts.front().host;
        out.port = url.hosts.front().port;
    }
    if (!out.socket.empty() && !out.host.empty() && out.host != "localhost")
        bad("the store URL names a host and a 'socket': give one");
    bool const v6 = out.host.find(':') != std::string::npos;
    out.server = "mysql://" + (v6 ? "[" + out.host + "]" : out.host) +
                 (out.port == 0 ? "" : ":" + std::to_string(out.port)) +
                 (out.socket.empty() ? "" : " (socket " + out.socket + ")");
    out.database = url.path.starts_with('/') ? url.path.substr(1) : url.path;
    if (out.database.empty()) bad("the store URL names no database: mysql://user@host/database");
}

void parse_login(settings& out, base::url const& url) {
    out.user = url.user;
    out.password = url.password;
    if (auto const file = text_option(url, "passwordfile"); !file.empty()) {
        if (!out.password.empty())
            bad("the store URL has a password and a 'passwordfile': give one");
        out.password = contents(file, "password file");
        while (out.password.ends_with('\n') || out.password.ends_with('\r'))
            out.password.pop_back();
        if (out.password.empty()) bad("the password file '" + file + "' of the store URL is empty");
    }
    out.option_file = text_option(url, "optionfile");
    if (!out.option_file.empty()) (void)contents(out.option_file, "option file");
}

void parse_tls(settings& out, base::url const& url) {
    auto const mode = text_option(url, "sslmode");
    out.authorities = text_option(url, "ca");
    out.certificate = text_option(url, "cert");
    out.key = text_option(url, "key");
    if (out.certificate.empty() != out.key.empty())
        bad("the options 'cert' and 'key' of the store URL belong together");
    auto const* const found =
        std::ranges::find(tls_modes, mode, &decltype(tls_modes)::value_type::first);
    if (!mode.empty() && found == tls_modes.end())
        bad("the option 'sslmode' of the store URL is disable, prefer, require or verify-full, not "
            "'" +
            mode + "'");
    if (mode == "disable" && !(out.authorities.empty() && out.certificate.empty()))
        bad("the options 'ca' and 'cert' of the store URL need another 'sslmode' than disable");
    if (!mode.empty()) {
        out.tls = found->second;
    } else if (!out.authorities.empty()) {
        out.tls = tls_mode::verify_full;  // whoever names an authority wants it asked
    }
}

void parse_prefix(settings& out, base::url const& url) {
    if (auto const prefix = text_option(url, "prefix"); !prefix.empty()) out.prefix = prefix;
    bool const legal =
        out.prefix.size() <= longest_prefix && std::ranges::all_of(out.prefix, [](char each) {
            return (each >= 'a' && each <= 'z') || (each >= '0' && each <= '9') || each == '_';
        });
    if (!legal || (out.prefix.front() >= '0' && out.prefix.front() <= '9'))
        bad("the option 'prefix' of the store URL has at most " + std::to_string(longest_prefix) +
            " lower-case letters, digits and underscores, and begins with no digit");
}

}  // namespace

std::string settings::without_password(std::string_view words) const {
    std::string out{words};
    if (password.empty()) return out;
    constexpr std::string_view stars = "***";
    for (auto at = out.find(password); at != std::string::npos;
         at = out.find(password, at + stars.size()))
        out.replace(at, password.size(), stars);
    return out;
}

settings settings::parse(base::url const& url) {
    url.require_known_options(known_options);
    settings out;
    parse_server(out, url);
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
    return out;
}

}  // namespace holdfast::stores::mysql
