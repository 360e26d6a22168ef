#include "store_choice.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <holdfast/error.hpp>

#include "duration.hpp"
#include "exit_status.hpp"

namespace holdfast::cli {

namespace {

std::string environment(char const* name) {
    char const* value = std::getenv(name);
    return value ? value : "";
}

std::string state_directory() {
    // The XDG specification: a relative path is to be ignored.
    if (auto state = environment("XDG_STATE_HOME"); state.starts_with('/'))
        return state + "/holdfast";
    auto home = environment("HOME");
    if (!home.starts_with('/')) {
        passwd const* entry = ::getpwuid(::geteuid());
        home = entry && entry->pw_dir ? entry->pw_dir : "";
    }
    if (!home.starts_with('/'))
        throw usage_error{
            "no store is given and there is no home directory: use --store URL or set "
            "HOLDFAST_STORE"};
    return home + "/.local/state/holdfast";
}

void make_directories(std::string const& path) {
    struct stat found {};
    if (::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) return;
    for (auto slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
        auto const part = path.substr(0, slash);
        if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST)
            throw std::system_error{make_error_code(errc::store_unavailable),
                                    "cannot make " + part + ": " + std::strerror(errno)};
        if (slash == std::string::npos) return;
    }
}

// The path of a store URL is percent-decoded.
std::string url_path(std::string const& path) {
    std::string out;
    for (char const c : path) {
        if (c == '%')
            out += "%25";
        else if (c == '?')
            out += "%3F";
        else
            out += c;
    }
    return out;
}

}  // namespace

std::string choose_store(std::string const& given) {
    if (!given.empty()) return given;
    if (auto from_environment = environment("HOLDFAST_STORE"); !from_environment.empty())
        return from_environment;
    auto const directory = state_directory();
    make_directories(directory);
    return "file:" + url_path(directory) + "/locks.db";
}

std::optional<std::chrono::milliseconds> lease_of_store(std::string_view url) {
    auto const question = url.find('?');
    if (question == std::string_view::npos) return {};
    url.remove_prefix(question + 1);
    while (!url.empty()) {
        auto const end = url.find('&');
        if (auto const pair = url.substr(0, end); pair.starts_with("lease="))
            return parse_duration(pair.substr(6));
        if (end == std::string_view::npos) break;
        url.remove_prefix(end + 1);
    }
    return {};
}

}  // namespace holdfast::cli
