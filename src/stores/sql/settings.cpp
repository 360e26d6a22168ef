#include "stores/sql/settings.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"

namespace holdfast::stores::sql {

namespace {

constexpr std::uint32_t most_connections = 64;
constexpr std::size_t longest_prefix = 40;

[[noreturn]] void bad(std::string words) { base::raise(errc::bad_url, std::move(words)); }

// Of a kind that needs no quotes in any database.
bool is_legal(std::string_view prefix, bool schemas) {
    bool legal =
        prefix.size() <= longest_prefix && std::ranges::count(prefix, '.') <= (schemas ? 1 : 0);
    char before = '.';
    for (char const each : prefix) {
        bool const letter = (each >= 'a' && each <= 'z') || each == '_';
        bool const inside = (each >= '0' && each <= '9') || each == '.';
        legal = legal && (letter || (before != '.' && inside));
        before = each;
    }
    return legal;
}

}  // namespace

void parse_common(settings& out, base::url const& url, bool schemas) {
    out.password = url.password_or_file();
    if (auto const prefix = url.text_option("prefix"); !prefix.empty()) out.prefix = prefix;
    if (!is_legal(out.prefix, schemas))
        bad("the option 'prefix' of the store URL has at most " + std::to_string(longest_prefix) +
            " lower-case letters, digits and underscores, and begins with no digit" +
            (schemas ? "; it may name a schema before a dot" : ""));
    if (auto const count = url.text_option("connections"); !count.empty()) {
        auto const value = base::parse_number(count, most_connections);
        if (!value || *value == 0)
            bad("the option 'connections' of the store URL is a number from 1 to " +
                std::to_string(most_connections) + ", not '" + count + "'");
        out.connections = static_cast<std::uint32_t>(*value);
    }
    out.timeout = url.duration_option("timeout", out.timeout);
}

tls_settings parse_tls(base::url const& url, std::span<std::string_view const> modes) {
    tls_settings out{.mode = url.text_option("sslmode"),
                     .authorities = url.text_option("ca"),
                     .certificate = url.text_option("cert"),
                     .key = url.text_option("key")};
    if (!out.mode.empty() && std::ranges::find(modes, out.mode) == modes.end()) {
        std::string known;
        for (auto const each : modes)
            known += (known.empty()          ? ""
                      : each == modes.back() ? " or "
                                             : ", ") +
                     std::string{each};
        bad("the option 'sslmode' of the store URL is " + known + ", not '" + out.mode + "'");
    }
    if (out.certificate.empty() != out.key.empty())
        bad("the options 'cert' and 'key' of the store URL belong together");
    if (out.mode == "disable" && !(out.authorities.empty() && out.certificate.empty()))
        bad("the options 'ca' and 'cert' of the store URL need another 'sslmode' than disable");
    // Whoever names an authority wants it asked.
    if (out.mode.empty() && !out.authorities.empty()) out.mode = "verify-full";
    return out;
}

std::string shown_hosts(base::url const& url) {
    std::string out;
    for (auto const& each : url.hosts)
        out += (out.empty() ? "" : ",") +
               (each.host.find(':') == std::string::npos ? each.host : "[" + each.host + "]") +
               (each.port == 0 ? "" : ":" + std::to_string(each.port));
    return out;
}

}  // namespace holdfast::stores::sql
