#include "base/text.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast::base {

namespace {

// The length of the UTF-8 sequence that begins `text`; 0 when it is not one. Overlong forms,
// surrogates and values above U+10FFFF are refused, as RFC 3629 asks.
std::size_t utf8_sequence(std::string_view text, char32_t& code) noexcept {
    auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    auto const lead = byte(0);
    std::size_t const length = lead < 0x80           ? 1
                               : (lead >> 5) == 0x6  ? 2
                               : (lead >> 4) == 0xe  ? 3
                               : (lead >> 3) == 0x1e ? 4
                                                     : 0;
    if (length == 0 || length > text.size()) return 0;
    code = length == 1 ? lead : lead & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) >> 6) != 0x2) return 0;
        code = (code << 6) | (byte(i) & 0x3fU);
    }
    constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return 0;
    return length;
}

bool is_control(char32_t code) noexcept { return code < 0x20 || (code >= 0x7f && code <= 0x9f); }

}  // namespace

std::optional<std::string> name_fault(std::string_view name) {
    if (name.empty()) return "a name must not be empty";
    if (name.size() > longest_name)
        return "a name has at most " + std::to_string(longest_name) + " bytes, this one has " +
               std::to_string(name.size());
    for (std::size_t at = 0; at < name.size();) {
        char32_t code = 0;
        auto const length = utf8_sequence(name.substr(at), code);
        if (length == 0)
            return "a name must be valid UTF-8; byte " + std::to_string(at) + " is not";
        if (is_control(code))
            return "a name must not contain control characters; byte " + std::to_string(at) +
                   " is one";
        at += length;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t limit) {
    std::uint64_t value = 0;
    auto const [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc{} || end != text.data() + text.size() || value > limit)
        return std::nullopt;
    return value;
}

std::string without_secret(std::string_view words, std::string_view secret) {
    std::string out{words};
    if (secret.empty()) return out;
    constexpr std::string_view stars = "***";
    for (auto at = out.find(secret); at != std::string::npos;
         at = out.find(secret, at + stars.size()))
        out.replace(at, secret.size(), stars);
    return out;
}

// Cut last: half a secret is one, too.
std::string quotable(std::string_view words, std::string_view secret, std::size_t most) {
    auto out = without_secret(words, secret);
    out.resize(std::min(out.size(), most));
    while (out.ends_with('\n'))
        out.pop_back();
    std::ranges::replace_if(
        out, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; }, ' ');
    return out;
}

void write_hex(std::uint64_t value, char* to) noexcept {
    for (std::size_t i = hex_digits; i-- > 0; value >>= 4)
        to[i] = "0123456789abcdef"[value & 0xf];
}

std::string hex(std::uint64_t value) {
    std::string text(hex_digits, '0');
    write_hex(value, text.data());
    return text;
}

std::optional<std::uint64_t> parse_hex(std::string_view text) {
    std::uint64_t value = 0;
    auto const [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (text.empty() || fault != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

}  // namespace holdfast::base
