#include "store_url.hpp"

#include <cctype>
#include <filesystem>
#include <system_error>

#include "duration.hpp"
#include "exit_status.hpp"

namespace holdfast::cli {

namespace {

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

// Schemes are compared without regard to case.
bool has_scheme(std::string_view url, std::string_view scheme) {
    if (url.size() <= scheme.size() || url[scheme.size()] != ':') return false;
    for (std::size_t i = 0; i < scheme.size(); ++i)
        if (std::tolower(static_cast<unsigned char>(url[i])) != scheme[i]) return false;
    return true;
}

constexpr std::string_view file_scheme = "file";

}  // namespace

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

bool is_memory(std::string_view url) { return has_scheme(url, "memory"); }

bool is_relative_file(std::string_view url) {
    if (!has_scheme(url, file_scheme)) return false;
    auto const path = url.substr(file_scheme.size() + 1);
    return !path.empty() && path.front() != '/' && path.front() != '?';
}

std::string absolute_file(std::string_view url) {
    std::error_code fault;
    auto const here = std::filesystem::current_path(fault);
    if (fault)
        throw usage_error{
            "the store's path is relative to a working directory that cannot be found (" +
            fault.message() + "): give an absolute one"};
    auto const rest = url.substr(file_scheme.size() + 1);
    return "file:" + url_path(here == "/" ? "" : here.string()) + "/" + std::string{rest};
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
