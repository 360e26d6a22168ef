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

int digit_of(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// As the library does it; where it will refuse the text, the text is left as it is.
std::string decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        int const high = text[i] == '%' && i + 2 < text.size() ? digit_of(text[i + 1]) : -1;
        int const low = high >= 0 ? digit_of(text[i + 2]) : -1;
        out += low >= 0 ? static_cast<char>(high * 16 + low) : text[i];
        if (low >= 0) i += 2;
    }
    return out;
}

// The option "lease=…" of the URL, as it stands there; empty when there is none.
std::string_view find_lease(std::string_view url) {
    auto begin = url.find('?');
    while (begin != std::string_view::npos) {
        auto const end = url.find('&', ++begin);
        auto const option = url.substr(begin, end - begin);
        if (decoded(option.substr(0, option.find('='))) == "lease") return option;
        begin = end;
    }
    return {};
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
    auto const option = find_lease(url);
    auto const equals = option.find('=');
    if (equals == std::string_view::npos) return {};
    return parse_duration(decoded(option.substr(equals + 1)));
}

std::string take_lease(std::string& url) {
    std::string out;
    for (auto option = find_lease(url); !option.empty(); option = find_lease(url)) {
        if (!out.empty()) out += '&';
        out += option;
        auto const begin = static_cast<std::size_t>(option.data() - url.data());
        bool const first = url[begin - 1] == '?';
        url.erase(begin - 1, option.size() + 1);
        if (first && begin - 1 < url.size()) url[begin - 1] = '?';
    }
    return out;
}

std::string with_option(std::string url, std::string_view option) {
    if (option.empty()) return url;
    url += url.find('?') == std::string::npos ? '?' : '&';
    return url += option;
}

}  // namespace holdfast::cli
