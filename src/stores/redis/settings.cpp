#include "stores/redis/settings.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/error.hpp"
#include "base/text.hpp"
#include "net/address.hpp"

namespace holdfast::stores::redis {

namespace {

// `lease` is the core's affair; it is listed so that it is not taken for a misprint.
constexpr std::array<std::string_view, 13> known_options{
    "ca",           "cert",   "db",       "insecure",   "key",     "layout", "lease",
    "passwordfile", "prefix", "replicas", "servername", "timeout", "user"};

constexpr std::array<std::string_view, 5> tls_options{"ca", "cert", "insecure", "key",
                                                      "servername"};

constexpr char const* password_variable = "HOLDFAST_REDIS_PASSWORD";
constexpr std::uint32_t most_replicas = 64;
constexpr std::size_t longest_prefix = 128;

[[noreturn]] void bad(std::string words) { base::raise(errc::bad_url, std::move(words)); }

std::string text_option(base::url const& url, std::string_view key) {
    auto const found = url.options.find(key);
    if (found == url.options.end()) return {};
    if (found->second.empty()) bad("the option '" + found->first + "' of the store URL is empty");
    return found->second;
}

std::uint32_t number_option(base::url const& url, std::string_view key, std::uint32_t limit) {
    auto const text = text_option(url, key);
    if (text.empty()) return 0;
    auto const value = base::parse_number(text, limit);
    if (!value)
        bad("the option '" + std::string{key} + "' of the store URL is a number from 0 to " +
            std::to_string(limit) + ", not '" + text + "'");
    return static_cast<std::uint32_t>(*value);
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

void find_password(settings& out, base::url const& url) {
    auto const file = text_option(url, "passwordfile");
    if (!out.password.empty()) {
        if (!file.empty()) bad("the store URL has a password and a 'passwordfile': give one");
    } else if (!file.empty()) {
        out.password = read_password(file);
    } else if (auto const* const value = std::getenv(password_variable)) {
        out.password = value;
    }
    if (!out.user.empty() && out.password.empty())
        bad("the store URL names the user '" + out.user +
            "' but no password; give it as user:password@host, by the option 'passwordfile' or in "
            "the environment as " +
            password_variable);
}

std::uint32_t parse_database(std::string_view path) {
    if (path.starts_with('/')) path.remove_prefix(1);
    if (path.empty()) return 0;
    auto const number = base::parse_number(path, INT32_MAX);
    // Not repeated: it may be the end of a password with a bare '/'.
    if (!number) bad("after the host of a redis URL stands the number of a database, such as /0");
    return static_cast<std::uint32_t>(*number);
}

void parse_socket(settings& out, base::url const& url) {
    if (!url.hosts.empty())
        bad("a UNIX socket is on this machine: write redis+unix:/absolute/path, not "
            "redis+unix://HOST/path");
    if (url.path.empty())
        bad("a redis+unix store needs the path of a socket, such as redis+unix:/run/redis.sock");
    std::error_code trouble;
    out.server.socket_path = std::filesystem::absolute(url.path, trouble).string();
    if (trouble) bad("'" + url.path + "' cannot be made absolute: " + trouble.message());
    if (out.server.socket_path.size() > net::longest_socket_path)
        bad("the path of a UNIX socket has at most " + std::to_string(net::longest_socket_path) +
            " bytes: '" + out.server.socket_path + "'");
    out.database = number_option(url, "db", INT32_MAX);
    if (auto const user = text_option(url, "user"); !user.empty()) out.user = user;
}

void parse_host(settings& out, base::url const& url) {
    if (url.hosts.size() != 1)
        bad("a " + url.scheme + " store has one host: " + url.scheme + "://host:port");
    for (auto const* const key : {"db", "user"})
        if (url.options.contains(key))
            bad("the option '" + std::string{key} +
                "' is for redis+unix: only; with a host write " + url.scheme +
                "://user:password@host/db");
    out.server.host = url.hosts.front().host;
    if (url.hosts.front().port != 0) out.server.port = url.hosts.front().port;
    out.database = parse_database(url.path);
}

void parse_tls(settings& out, base::url const& url) {
    out.server.tls.on = url.scheme == "rediss";
    for (auto const key : tls_options)
        if (!out.server.tls.on && url.options.contains(key))
            bad("the option '" + std::string{key} + "' of the store URL is for rediss: only");
    out.server.tls.authorities = text_option(url, "ca");
    out.server.tls.certificate = text_option(url, "cert");
    out.server.tls.key = text_option(url, "key");
    out.server.tls.server_name = text_option(url, "servername");
    out.server.tls.insecure = url.flag_option("insecure", false);
    if (out.server.tls.certificate.empty() != out.server.tls.key.empty())
        bad("the options 'cert' and 'key' of the store URL belong together");
    if (out.server.tls.insecure && !out.server.tls.authorities.empty())
        bad("the options 'ca' and 'insecure' of the store URL contradict each other");
}

}  // namespace

std::string settings::shown() const {
    if (server.host.empty()) return "redis+unix:" + server.socket_path;
    auto const name =
        server.host.find(':') == std::string::npos ? server.host : "[" + server.host + "]";
    return (server.tls.on ? "rediss://" : "redis://") + name + ":" + std::to_string(server.port);
}

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
    out.user = url.user;
    out.password = url.password;
    if (url.scheme == "redis+unix") {
        parse_socket(out, url);
    } else {
        parse_host(out, url);
    }
    parse_tls(out, url);
    find_password(out, url);
    if (auto const found = url.options.find("prefix"); found != url.options.end())
        out.prefix = found->second;
    if (out.prefix.size() > longest_prefix || out.prefix.find_first_of("{}") != std::string::npos)
        bad("the option 'prefix' of the store URL has at most " + std::to_string(longest_prefix) +
            " bytes and no braces");
    if (auto const layout = text_option(url, "layout"); layout == "plain") {
        out.layout = layout_name::plain;
    } else if (!layout.empty() && layout != "native") {
        bad("the option 'layout' of the store URL is native or plain, not '" + layout + "'");
    }
    out.replicas = number_option(url, "replicas", most_replicas);
    out.timeout = url.duration_option("timeout", out.timeout);
    return out;
}

}  // namespace holdfast::stores::redis
