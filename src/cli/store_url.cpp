#include "store_url.hpp"

#include <cctype>

#include "base/percent.hpp"
#include "duration.hpp"

namespace holdfast::cli {

namespace {

// Where the library will refuse the text, it is left as it is.
std::string decoded(std::string_view text) {
    return base::percent_decode(text).value_or(std::string{text});
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

bool has_scheme(std::string_view url, std::string_view scheme) {
    if (url.size() <= scheme.size() || url[scheme.size()] != ':') return false;
    for (std::size_t i = 0; i < scheme.size(); ++i)
        if (std::tolower(static_cast<unsigned char>(url[i])) != scheme[i]) return false;
    return true;
}

bool is_memory(std::string_view url) { return has_scheme(url, "memory"); }

std::optional<std::chrono::milliseconds> lease_of_store(std::string_view url) {
    auto const option = find_lease(url);
    auto const equals = option.find('=');
    if (equals == std::string_view::npos) return {};
    return require_duration(decoded(option.substr(equals + 1)));
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
