#include "stores/redis/settings.hpp"

#include <algorithm>
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
constexpr std::array<std::string_view, 13> sentinel_options{
    "ca",           "cert",         "insecure", "key",      "layout",
    "lease",        "passwordfile", "prefix",   "replicas", "sentinelpasswordfile",
    "sentineluser", "servername",   "timeout"};

constexpr std::array<std::string_view, 5> tls_options{"ca", "cert", "insecure", "key",
                                                      "servername"};

constexpr char const* password_variable = "HOLDFAST_REDIS_PASSWORD";
constexpr char const* sentinel_password_variable = "HOLDFAST_REDIS_SENTINEL_PASSWORD";
constexpr std::uint16_t usual_port = 6379;
constexpr std::uint16_t usual_sentinel_port = 26379;
// A guide that is silent is left for the next one.
constexpr std::chrono::milliseconds longest_for_guide{1000};
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

void refuse_socket_options(base::url const& url) {
    for (auto const* const key : {"db", "user"})
        if (url.options.contains(key))
            bad("the option '" + std::string{key} +
                "' is for redis+unix: only; with a host write " + url.scheme +
                "://user:password@host/db");
}

void parse_host(settings& out, base::url const& url) {
    if (url.hosts.size() != 1)
        bad("a " + url.scheme + " store has one host: " + url.scheme +
            "://host:port; several are for redis+sentinel:// and redis+cluster://");
    out.server.host = url.hosts.front().host;
    if (url.hosts.front().port != 0) out.server.port = url.hosts.front().port;
    out.database = parse_database(url.path);
}

void take_hosts(settings& out, base::url const& url, std::uint16_t port) {
    for (auto const& each : url.hosts)
        out.hosts.push_back({.host = each.host, .port = each.port != 0 ? each.port : port});
    out.server.port = 0;
}

void parse_sentinels(settings& out, base::url const& url) {
    auto const wanted = url.scheme + "://host1:26379,host2/NAME";
    if (url.hosts.empty()) bad("a " + url.scheme + " store names its sentinels: " + wanted);
    out.kind = deployment::sentinel;
    take_hosts(out, url, usual_sentinel_port);
    std::string_view path{url.path};
    if (path.starts_with('/')) path.remove_prefix(1);
    auto const slash = std::min(path.find('/'), path.size());
    out.master_name = path.substr(0, slash);
    if (out.master_name.empty())
        bad("after the hosts of a " + url.scheme +
            " store stands the name by which the sentinels know the master: " + wanted);
    out.database = parse_database(path.substr(slash));
    out.sentinel.user = text_option(url, "sentineluser");
    if (auto const file = text_option(url, "sentinelpasswordfile"); !file.empty()) {
        out.sentinel.password = read_password(file);
    } else if (auto const* const value = std::getenv(sentinel_password_variable)) {
        out.sentinel.password = value;
    }
    if (!out.sentinel.user.empty() && out.sentinel.password.empty())
        bad("the option 'sentineluser' of the store URL needs a password: give it by "
            "'sentinelpasswordfile' or in the environment as " +
            std::string{sentinel_password_variable});
}

void parse_cluster(settings& out, base::url const& url) {
    if (url.hosts.empty())
        bad("a " + url.scheme + " store names some of its nodes: " + url.scheme +
            "://host1:6379,host2");
    out.kind = deployment::cluster;
    take_hosts(out, url, usual_port);
    if (parse_database(url.path) != 0) bad("a cluster has no databases but 0");
}

void parse_tls(settings& out, base::url const& url) {
    out.server.tls.on = url.scheme.starts_with("rediss");
    for (auto const key : tls_options)
        if (!out.server.tls.on && url.options.contains(key))
            bad("the option '" + std::string{key} + "' of the store URL is for TLS only: write " +
                (url.scheme == "redis+unix" ? "rediss" : "rediss" + url.scheme.substr(5)) + ":");
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

namespace {

std::string shown_address(net::endpoint const& where) {
    auto const name =
        where.host.find(':') == std::string::npos ? where.host : "[" + where.host + "]";
    return name + ":" + std::to_string(where.port);
}

}  // namespace

std::string settings::shown() const {
    std::string const scheme = server.tls.on ? "rediss" : "redis";
    if (!server.host.empty()) return scheme + "://" + shown_address(server);
    if (kind == deployment::one_server) return "redis+unix:" + server.socket_path;
    auto out = scheme + (kind == deployment::sentinel ? "+sentinel://" : "+cluster://");
    for (auto const& each : hosts) {
        if (&each != &hosts.front()) out += ',';
        out += shown_address(each);
    }
    return kind == deployment::sentinel ? out + "/" + master_name : out;
}

settings settings::at(std::string host, std::uint16_t port) const {
    auto out = *this;
    out.server.host = std::move(host);
    out.server.port = port;
    return out;
}

settings settings::at_guide(net::endpoint const& where) const {
    auto out = at(where.host, where.port);
    out.timeout = std::min(timeout, longest_for_guide);
    if (kind == deployment::cluster) return out;
    out.user = sentinel.user;
    out.password = sentinel.password;
    out.database = 0;
    return out;
}

settings settings::parse(base::url const& url) {
    bool const is_sentinel = url.scheme.ends_with("+sentinel");
    if (is_sentinel) {
        url.require_known_options(sentinel_options);
    } else {
        url.require_known_options(known_options);
    }
    settings out;
    out.user = url.user;
    out.password = url.password;
    if (url.scheme == "redis+unix") {
        parse_socket(out, url);
    } else if (is_sentinel) {
        parse_sentinels(out, url);
    } else if (url.scheme.ends_with("+cluster")) {
        refuse_socket_options(url);
        parse_cluster(out, url);
    } else {
        refuse_socket_options(url);
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
