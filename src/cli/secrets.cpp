#include "secrets.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace holdfast::cli {

namespace {

constexpr std::string_view separator = "://";

void fill(std::span<char> text, std::size_t from, std::size_t to) noexcept {
    for (auto i = from; i < to; ++i)
        text[i] = '*';
}

// The login of a URL that has its "://" at `scheme` and ends before `end`.
void blank_login(std::span<char> text, std::size_t scheme, std::size_t end) noexcept {
    auto const view = std::string_view{text.data(), text.size()}.substr(0, end);
    auto const at = view.rfind('@');
    auto const colon = view.find(':', scheme + separator.size());
    if (at != std::string_view::npos && colon < at) fill(text, colon + 1, at);
}

void blank_options(std::span<char> text) noexcept {
    std::string_view const view{text.data(), text.size()};
    for (auto key = view.find("password="); key != std::string_view::npos;
         key = view.find("password=", key + 1)) {
        auto const begin = key + std::strlen("password=");
        auto const end = view.find('&', begin);
        fill(text, begin, end == std::string_view::npos ? view.size() : end);
    }
}

// In place and without memory of its own. Rather too much than too little: a password may itself
// hold '@', '/' or a blank that its owner forgot to encode.
void blank(std::span<char> text) noexcept {
    auto const scheme = std::string_view{text.data(), text.size()}.find(separator);
    if (scheme != std::string_view::npos) blank_login(text, scheme, text.size());
    blank_options(text);
}

// Where a URL in a sentence ends: with its quotes, or with the word.
std::size_t end_of_url(std::string_view text, std::size_t scheme) noexcept {
    auto begin = scheme;
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>(text[begin - 1])) != 0 ||
                         text[begin - 1] == '+'))
        --begin;
    if (begin > 0 && (text[begin - 1] == '\'' || text[begin - 1] == '"'))
        return std::max(text.rfind(text[begin - 1]), scheme);
    return std::min(text.find_first_of(" \t\r\n", scheme), text.size());
}

}  // namespace

std::string without_secrets(std::string_view text) {
    std::string out{text};
    for (auto scheme = out.find(separator); scheme != std::string::npos;
         scheme = out.find(separator, scheme + separator.size()))
        blank_login(out, scheme, end_of_url(out, scheme));
    blank_options(out);
    return out;
}

void blank_secrets(std::span<char*> arguments) noexcept {
    for (char* argument : arguments) {
        // What follows is the user's own command: not ours to change.
        if (std::strcmp(argument, "--") == 0) return;
        blank({argument, std::strlen(argument)});
    }
}

}  // namespace holdfast::cli
