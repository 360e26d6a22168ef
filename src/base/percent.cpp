#include "base/percent.hpp"

#include "base/text.hpp"

namespace holdfast::base {

std::string percent_encode(std::string_view text, std::string_view also_bare) {
    std::string out;
    for (char const c : text) {
        auto const byte = static_cast<unsigned char>(c);
        bool const bare = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') ||
                          std::string_view{"-._~"}.find(c) != std::string_view::npos ||
                          also_bare.find(c) != std::string_view::npos || byte >= 0x80;
        if (bare) {
            out += c;
        } else {
            out += '%';
            out += hex(byte).substr(hex_digits - 2);
        }
    }
    return out;
}

std::optional<std::string> percent_decode(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        auto const byte = i + 2 < text.size() ? parse_hex(text.substr(i + 1, 2)) : std::nullopt;
        if (!byte || *byte == 0) return std::nullopt;
        out += static_cast<char>(*byte);
        i += 2;
    }
    return out;
}

}  // namespace holdfast::base
