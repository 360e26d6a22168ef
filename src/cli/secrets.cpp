#include "secrets.hpp"

#include <cstring>

namespace holdfast::cli {

namespace {

void fill(std::span<char> text, std::size_t from, std::size_t to) noexcept {
    for (auto i = from; i < to; ++i)
        text[i] = '*';
}

// In place and without memory of its own. Rather too much than too little: a password may itself
// hold '@' or '/' that its owner forgot to encode.
void blank(std::span<char> text) noexcept {
    std::string_view const view{text.data(), text.size()};
    auto const scheme = view.find("://");
    if (scheme != std::string_view::npos) {
        auto const login = scheme + 3;
        auto const at = view.rfind('@');
        auto const colon = view.find(':', login);
        if (at != std::string_view::npos && colon < at) fill(text, colon + 1, at);
    }
    for (auto key = view.find("password="); key != std::string_view::npos;
         key = view.find("password=", key + 1)) {
        auto const begin = key + std::strlen("password=");
        auto const end = view.find('&', begin);
        fill(text, begin, end == std::string_view::npos ? view.size() : end);
    }
}

}  // namespace

std::string without_secrets(std::string_view text) {
    std::string out{text};
    blank(out);
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
