#include "stores/zookeeper/settings.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "stores/compare/login.hpp"

namespace holdfast::stores::zookeeper {

namespace {

// `lease` is the core's affair; it is listed so that it is not taken for a misprint.
constexpr std::array<std::string_view, 9> known_options{
    "acl", "ca", "cert", "key", "lease", "passwordfile", "servername", "tick", "timeout"};
constexpr std::array<std::string_view, 4> tls_options{"ca", "cert", "key", "servername"};

constexpr char const* password_variable = "HOLDFAST_ZOOKEEPER_PASSWORD";
constexpr std::uint16_t default_port = 2181;

[[noreturn]] void bad(std::string words) { base::raise(errc::bad_url, std::move(words)); }

void find_root(settings& out, std::string path) {
    while (path.ends_with('/'))
        path.pop_back();
    if (path.empty()) return;
    for (char const each : path)
        if (static_cast<unsigned char>(each) <= ' ' || static_cast<unsigned char>(each) >= 127)
            bad("the path of a zookeeper URL may have printable ASCII only");
    for (auto const* const wrong : {"//", "/./", "/../"})
        if ((path + "/").find(wrong) != std::string::npos)
            bad("the path of a zookeeper URL may have no empty part and no '.' or '..' in it");
    if ((path + "/").starts_with("/zookeeper/"))
        bad("the path /zookeeper belongs to ZooKeeper itself; use another one");
    out.root = std::move(path);
}

}  // namespace

settings settings::parse(base::url const& url) {
    url.require_known_options(known_options);
    settings out;
    if (url.hosts.empty())
        bad("a zookeeper store needs a host, or several: zookeeper://host:port,host:port");
    for (auto const key : tls_options)
        if (url.options.contains(key))
            base::raise(errc::unsupported,
                        "the option '" + std::string{key} +
                            "' of the store URL asks for TLS, and the ZooKeeper library that "
                            "holdfast uses is built without it; reach the servers through a TLS "
                            "tunnel, or by a private network, without this option");
    for (auto const& each : url.hosts) {
        bool const bare = each.host.find(':') != std::string::npos;
        auto const port = each.port == 0 ? default_port : each.port;
        out.servers.push_back({each.host, port});
        out.hosts += (out.hosts.empty() ? "" : ",") + (bare ? "[" + each.host + "]" : each.host) +
                     ":" + std::to_string(port);
    }
    find_root(out, url.path);
    auto who = compare::find_login(url, password_variable);
    if (who.user.find(':') != std::string::npos)
        bad("the user of a zookeeper URL has no ':' in it");
    out.user = std::move(who.user);
    out.password = std::move(who.password);
    out.private_nodes = !out.user.empty();
    if (auto const acl = url.options.find("acl"); acl != url.options.end()) {
        if (acl->second != "open" && acl->second != "creator")
            bad("the option 'acl' of the store URL is 'open' or 'creator'");
        out.private_nodes = acl->second == "creator";
        if (out.private_nodes && out.user.empty())
            bad("the option acl=creator of the store URL needs a user and a password");
    }
    out.timeout = url.duration_option("timeout", out.timeout);
    out.tick = url.duration_option("tick", out.tick);
    if (out.timeout <= out.timeout.zero() || out.tick <= out.tick.zero())
        bad("the options 'timeout' and 'tick' of the store URL must be above zero");
    return out;
}

}  // namespace holdfast::stores::zookeeper
