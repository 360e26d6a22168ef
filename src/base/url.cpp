#include "base/url.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "base/duration.hpp"
#include "base/error.hpp"
#include "base/percent.hpp"
#include "base/suggestion.hpp"
#include "base/text.hpp"

namespace holdfast::base {

namespace {

[[noreturn]] void bad(std::string words) { raise(errc::bad_url, std::move(words)); }

std::string decode(std::string_view text, char const* part) {
    if (auto decoded = percent_decode(text)) return *std::move(decoded);
    bad(std::string{"a percent sign in the "} + part +
        " of a store URL must be followed by two hexadecimal digits, not 00");
}

endpoint parse_endpoint(std::string_view text) {
    endpoint out;
    std::string_view port;
    if (text.starts_with('[')) {
        auto const end = text.find(']');
        if (end == std::string_view::npos) bad("an IPv6 address in a store URL must end with ']'");
        out.host = std::string{text.substr(1, end - 1)};
        auto const rest = text.substr(end + 1);
        if (!rest.empty() && rest[0] != ':') bad("after ']' a store URL may only have :port");
        port = rest.empty() ? rest : rest.substr(1);
        if (!rest.empty() && port.empty()) bad("a port is missing after ':' in a store URL");
    } else {
        auto const colon = text.rfind(':');
        out.host = decode(text.substr(0, colon), "host");
        if (colon != std::string_view::npos) {
            port = text.substr(colon + 1);
            if (port.empty()) bad("a port is missing after ':' in a store URL");
        }
    }
    if (out.host.empty()) bad("a host is missing in a store URL");
    if (!port.empty()) {
        // Not repeated: where an '@' is missing or misplaced it is a piece of a password.
        auto const number = parse_number(port, 65535);
        if (!number || *number == 0) bad("a port must be a number from 1 to 65535");
        out.port = static_cast<std::uint16_t>(*number);
    }
    return out;
}

void parse_authority(url& out, std::string_view text) {
    if (auto const at = text.rfind('@'); at != std::string_view::npos) {
        auto const login = text.substr(0, at);
        auto const colon = login.find(':');
        out.user = decode(login.substr(0, colon), "user");
        if (colon != std::string_view::npos)
            out.password = decode(login.substr(colon + 1), "password");
        text.remove_prefix(at + 1);
    }
    while (!text.empty()) {
        auto const comma = text.find(',');
        out.hosts.push_back(parse_endpoint(text.substr(0, comma)));
        if (comma == std::string_view::npos) break;
        text.remove_prefix(comma + 1);
        if (text.empty()) bad("a host is missing after ',' in a store URL");
    }
}

// An '@' this far behind ends a login that has a bare '/' or '?' in its password. The pieces would be
// taken for port, path and options, and errors would repeat them.
void refuse_late_login(std::string_view behind_authority) {
    if (behind_authority.find('@') == std::string_view::npos) return;
    bad("an '@' stands behind the host of a store URL: in a password write %2F for '/' and %3F for "
        "'?'; in a path or an option write %40 for '@'");
}

void parse_options(url& out, std::string_view text) {
    while (!text.empty()) {
        auto const end = text.find('&');
        auto const pair = text.substr(0, end);
        auto const equals = pair.find('=');
        if (equals == std::string_view::npos || equals == 0)
            bad("options of a store URL are written ?key=value&key=value");
        auto key = decode(pair.substr(0, equals), "options");
        if (!out.options.emplace(key, decode(pair.substr(equals + 1), "options")).second)
            bad("the option '" + key + "' stands twice in the store URL");
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
}

}  // namespace

url url::parse(std::string_view text) {
    auto const colon = text.find(':');
    std::string scheme{text.substr(0, colon)};
    // As RFC 3986 has it: capitals mean the same.
    for (char& c : scheme)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    auto const is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
    bool const legal =
        !scheme.empty() && is_letter(scheme.front()) && std::ranges::all_of(scheme, [&](char c) {
            return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
        });
    if (colon == std::string_view::npos || !legal)
        bad("a store URL begins with its scheme, such as file:/var/lib/app/locks.db or "
            "redis://HOST");
    url out;
    out.scheme = std::move(scheme);
    text.remove_prefix(colon + 1);
    out.has_authority = text.starts_with("//") && out.scheme != "file";
    if (out.has_authority) {
        text.remove_prefix(2);
        auto const end = std::min(text.find_first_of("/?"), text.size());
        refuse_late_login(text.substr(end));
        parse_authority(out, text.substr(0, end));
        text.remove_prefix(end);
    }
    if (auto const question = text.find('?'); question != std::string_view::npos) {
        parse_options(out, text.substr(question + 1));
        text = text.substr(0, question);
    }
    out.path = decode(text, "path");
    return out;
}

std::string url::shown() const {
    std::string out = scheme + ":";
    if (has_authority) {
        out += "//";
        if (!user.empty()) out += percent_encode(user, "") + "@";
        for (auto const& host : hosts) {
            if (&host != &hosts.front()) out += ',';
            out += host.host.find(':') == std::string::npos ? host.host : "[" + host.host + "]";
            if (host.port != 0) out += ":" + std::to_string(host.port);
        }
    }
    // Behind a host an '@' would be taken for the end of a login.
    std::string const at = has_authority ? "" : "@";
    out += percent_encode(path, "/:!$'()*+,;= " + at);
    char separator = '?';
    for (auto const& [key, value] : options) {
        if (key.find("password") != std::string::npos && !key.ends_with("passwordfile")) continue;
        out +=
            separator + percent_encode(key, "") + "=" + percent_encode(value, "/:!$'()*+,; " + at);
        separator = '&';
    }
    return out;
}

void url::require_known_options(std::span<std::string_view const> known) const {
    for (auto const& [key, value] : options) {
        if (std::ranges::find(known, key) != known.end()) continue;
        bad("the store URL has an unknown option '" + key + "' for " + scheme + ":" +
            did_you_mean(key, known));
    }
}

std::chrono::milliseconds url::duration_option(std::string_view key,
                                               std::chrono::milliseconds otherwise) const {
    auto const found = options.find(key);
    if (found == options.end()) return otherwise;
    auto const value = parse_duration(found->second);
    if (value && value->count() > 0) return *value;
    bad("the option '" + found->first + "' of the store URL: " +
        (value ? "it must be longer than 0" : duration_fault(found->second)));
}

std::string url::text_option(std::string_view key) const {
    auto const found = options.find(key);
    if (found == options.end()) return {};
    if (found->second.empty()) bad("the option '" + found->first + "' of the store URL is empty");
    return found->second;
}

std::string url::file_option(std::string_view key) const {
    auto const file = text_option(key);
    if (file.empty()) return {};
    std::ifstream in{file, std::ios::binary};
    std::string out{std::istreambuf_iterator<char>{in}, {}};
    auto const which = "the file '" + file + "' that the option '" + std::string{key} +
                       "' of the store URL names ";
    if (!in) bad(which + "cannot be read");
    if (out.empty()) bad(which + "is empty");
    return out;
}

std::string url::password_or_file() const {
    auto out = file_option("passwordfile");
    if (out.empty()) return password;
    if (!password.empty()) bad("the store URL has a password and a 'passwordfile': give one");
    while (out.ends_with('\n') || out.ends_with('\r'))
        out.pop_back();
    if (out.empty())
        bad("the file '" + options.find("passwordfile")->second +
            "' that the option 'passwordfile' of the store URL names is empty");
    return out;
}

bool url::flag_option(std::string_view key, bool otherwise) const {
    auto const found = options.find(key);
    if (found == options.end()) return otherwise;
    auto const& value = found->second;
    if (value == "1" || value == "true" || value == "yes") return true;
    if (value == "0" || value == "false" || value == "no") return false;
    bad("the option '" + found->first + "' of the store URL is 1 or 0, not '" + value + "'");
}

}  // namespace holdfast::base
