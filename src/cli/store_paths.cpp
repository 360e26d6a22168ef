#include "store_paths.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

namespace holdfast::cli {

namespace {

// What stands behind the scheme is the path of a file or a socket. Elsewhere it is a host or a name.
constexpr std::array<std::string_view, 2> path_schemes{"file", "redis+unix"};
constexpr std::array<std::string_view, 4> path_options{"ca", "cert", "key", "passwordfile"};

std::string encoded(std::string_view text) {
    constexpr std::string_view bare = "-._~/";
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (char const c : text) {
        auto const byte = static_cast<unsigned char>(c);
        bool const plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || bare.find(c) != std::string_view::npos ||
                           byte >= 0x80;
        if (plain) {
            out += c;
        } else {
            out += '%';
            out += digits[byte / 16];
            out += digits[byte % 16];
        }
    }
    return out;
}

std::string absolute(std::string_view path, std::string const& directory) {
    bool const relative = !path.empty() && !path.starts_with('/');
    return relative ? directory + "/" + std::string{path} : std::string{path};
}

}  // namespace

std::string with_absolute_paths(std::string_view url) {
    std::error_code none;
    auto const here = std::filesystem::current_path(none).string();
    if (none) return std::string{url};
    auto const directory = here == "/" ? "" : encoded(here);
    auto const colon = url.find(':');
    auto const question = std::min(url.find('?'), url.size());
    std::string out{url.substr(0, colon + 1)};
    auto const place = url.substr(colon + 1, question - colon - 1);
    bool const is_path =
        std::ranges::find(path_schemes, url.substr(0, colon)) != path_schemes.end();
    out += is_path ? absolute(place, directory) : std::string{place};
    for (auto begin = question; begin < url.size();) {
        auto const end = std::min(url.find('&', begin + 1), url.size());
        auto const option = url.substr(begin, end - begin);  // with the '?' or '&' before it
        auto const equals = std::min(option.find('='), option.size() - 1);
        auto const key = option.substr(1, equals - 1);
        out += option.substr(0, equals + 1);
        auto const value = option.substr(equals + 1);
        bool const names_file = std::ranges::find(path_options, key) != path_options.end();
        out += names_file ? absolute(value, directory) : std::string{value};
        begin = end;
    }
    return out;
}

}  // namespace holdfast::cli
