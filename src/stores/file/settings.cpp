#include "stores/file/settings.hpp"

#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/error.hpp"

namespace holdfast::stores::file {

namespace {

// `lease` is the core's affair; it is listed so that it is not taken for a misprint.
constexpr std::array<std::string_view, 3> known_options{"lease", "network", "timeout"};

// file:relative, file:/absolute, file:///absolute and file://localhost/absolute.
std::string local_path(std::string_view path) {
    constexpr std::string_view authority = "//";
    if (!path.starts_with(authority)) return std::string{path};
    path.remove_prefix(authority.size());
    constexpr std::string_view here = "localhost/";
    if (path.starts_with(here)) path.remove_prefix(here.size() - 1);
    if (!path.starts_with('/'))
        base::raise(errc::bad_url,
                    "a file store is on this machine: write file:/absolute/path or "
                    "file:relative/path, not file://HOST/path");
    return std::string{path};
}

}  // namespace

settings settings::parse(base::url const& url) {
    url.require_known_options(known_options);
    auto const path = local_path(url.path);
    if (path.empty())
        base::raise(errc::bad_url, "a file store needs a path, such as file:/var/lib/app/locks.db");
    if (path.ends_with('/'))
        base::raise(errc::bad_url, "'" + path +
                                       "' names a directory; a file store needs a file in it, such "
                                       "as file:" +
                                       path + "locks.db");
    settings out;
    std::error_code trouble;
    out.path = std::filesystem::absolute(path, trouble).string();
    if (trouble)
        base::raise(errc::bad_url,
                    "'" + path + "' is relative to a working directory that cannot " +
                        "be found (" + trouble.message() + "); give an absolute path");
    out.timeout = url.duration_option("timeout", out.timeout);
    out.network = url.flag_option("network", out.network);
    return out;
}

}  // namespace holdfast::stores::file
