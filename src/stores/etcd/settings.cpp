#include "stores/etcd/settings.hpp"

#include <array>
#include <utility>

#include "base/error.hpp"
#include "stores/compare/login.hpp"

namespace holdfast::stores::etcd {

namespace {

// `lease` is the core's affair; it is listed so that it is not taken for a misprint.
constexpr std::array<std::string_view, 8> known_options{
    "ca", "cert", "key", "lease", "passwordfile", "prefix", "servername", "timeout"};

constexpr std::array<std::string_view, 4> tls_options{"ca", "cert", "key", "servername"};

constexpr char const* password_variable = "HOLDFAST_ETCD_PASSWORD";
constexpr std::uint16_t default_port = 2379;
constexpr std::size_t longest_prefix = 128;

[[noreturn]] void bad(std::string words) { base::raise(errc::bad_url, std::move(words)); }

void parse_tls(tls_settings& out, base::url const& url) {
    out.on = url.scheme == "etcds";
    for (auto const key : tls_options)
        if (!out.on && url.options.contains(key))
            bad("the option '" + std::string{key} + "' of the store URL is for etcds: only");
    out.authorities = url.file_option("ca");
    out.certificate = url.file_option("cert");
    out.key = url.file_option("key");
    out.server_name = url.text_option("servername");
    if (out.certificate.empty() != out.key.empty())
        bad("the options 'cert' and 'key' of the store URL belong together");
}

}  // namespace

std::string settings::member(std::size_t index) const {
    auto const& at = members[index];
    auto const name = at.host.find(':') == std::string::npos ? at.host : "[" + at.host + "]";
    return name + ":" + std::to_string(at.port);
}

std::string settings::shown() const {
    std::string out = tls.on ? "etcds://" : "etcd://";
    for (std::size_t each = 0; each < members.size(); ++each)
        out += (each == 0 ? "" : ",") + member(each);
    return out;
}

settings settings::parse(base::url const& url) {
    url.require_known_options(known_options);
    settings out;
    if (url.hosts.empty())
        bad("an " + url.scheme + " store needs a host, or several: " + url.scheme +
            "://host:port,host:port");
    // Not repeated: it may be the end of a password with a bare '/'.
    if (!url.path.empty() && url.path != "/")
        bad("nothing may follow the hosts of an " + url.scheme +
            " URL but options; the keys' prefix is ?prefix=...");
    for (auto each : url.hosts) {
        if (each.port == 0) each.port = default_port;
        out.members.push_back(std::move(each));
    }
    parse_tls(out.tls, url);
    auto who = compare::find_login(url, password_variable);
    out.user = std::move(who.user);
    out.password = std::move(who.password);
    if (auto const prefix = url.text_option("prefix"); !prefix.empty()) out.prefix = prefix;
    if (out.prefix.size() > longest_prefix)
        bad("the option 'prefix' of the store URL has at most " + std::to_string(longest_prefix) +
            " bytes");
    out.timeout = url.duration_option("timeout", out.timeout);
    if (out.timeout <= out.timeout.zero())
        bad("the option 'timeout' of the store URL must be above zero");
    return out;
}

}  // namespace holdfast::stores::etcd
