#include "store_paths.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/percent.hpp"
#include "store_url.hpp"

namespace holdfast::cli {

namespace {

constexpr std::string_view file_scheme = "file";
// What stands behind the scheme is the path of a file or a socket. Elsewhere it is a host or a name.
constexpr std::array path_schemes{file_scheme, std::string_view{"redis+unix"}};
constexpr std::array<std::string_view, 4> path_options{"ca", "cert", "key", "passwordfile"};

bool is_relative(std::string_view path) { return !path.empty() && !path.starts_with('/'); }

std::string absolute(std::string_view path, std::error_code& fault) {
    if (!is_relative(path)) return std::string{path};
    auto const here = std::filesystem::current_path(fault).string();
    return (here == "/" ? "" : url_path(here)) + "/" + std::string{path};
}

// "?key=value" or "&key=value".
std::string absolute_option(std::string_view option, std::error_code& fault) {
    auto const equals = std::min(option.find('='), option.size() - 1);
    auto const key = option.substr(1, equals - 1);
    auto const value = option.substr(equals + 1);
    bool const names_file = std::ranges::find(path_options, key) != path_options.end();
    return std::string{option.substr(0, equals + 1)} +
           (names_file ? absolute(value, fault) : std::string{value});
}

}  // namespace

// An '@' would be taken for the end of a login where a host stands before it.
std::string url_path(std::string_view path) { return base::percent_encode(path, "/:!$'()*+,;= "); }

bool is_relative_file(std::string_view url) {
    if (!has_scheme(url, file_scheme)) return false;
    auto const path = url.substr(file_scheme.size() + 1);
    return is_relative(path.substr(0, path.find('?')));
}

std::string with_absolute_paths(std::string_view url, std::error_code& fault) {
    fault.clear();
    auto const question = std::min(url.find('?'), url.size());
    auto const* const scheme = std::ranges::find_if(
        path_schemes, [&](std::string_view each) { return has_scheme(url, each); });
    std::string out{url.substr(0, question)};
    if (scheme != path_schemes.end())
        out = std::string{*scheme} + ":" + absolute(out.substr(scheme->size() + 1), fault);
    for (auto begin = question; begin < url.size();) {
        auto const end = std::min(url.find('&', begin + 1), url.size());
        out += absolute_option(url.substr(begin, end - begin), fault);
        begin = end;
    }
    return fault ? std::string{url} : out;
}

}  // namespace holdfast::cli
