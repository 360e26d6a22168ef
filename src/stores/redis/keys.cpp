#include "stores/redis/keys.hpp"

#include <algorithm>
#include <array>

#include <openssl/sha.h>

namespace holdfast::stores::redis {

namespace {

constexpr std::size_t longest_plain = 128;
constexpr std::size_t readable = 64;
constexpr std::size_t digest_digits = 32;
constexpr char digest_mark = '~';

constexpr bool is_brace(char c) noexcept { return c == '{' || c == '}'; }

bool is_hex(char c) noexcept {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool ends_in_digest(std::string_view text) noexcept {
    if (text.size() < digest_digits + 1) return false;
    auto const end = text.substr(text.size() - digest_digits - 1);
    return end.front() == digest_mark && std::ranges::all_of(end.substr(1), is_hex);
}

}  // namespace

std::string short_digest(std::string_view text) {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> bytes{};
    ::SHA256(reinterpret_cast<unsigned char const*>(text.data()), text.size(), bytes.data());
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    for (std::size_t i = 0; i < digest_digits / 2; ++i) {
        out += digits[bytes[i] >> 4];
        out += digits[bytes[i] & 15];
    }
    return out;
}

std::string_view cut_between_characters(std::string_view text, std::size_t most) {
    if (text.size() <= most) return text;
    constexpr unsigned continuation = 0x80;
    constexpr unsigned mask = 0xc0;
    while (most > 0 && (static_cast<unsigned char>(text[most]) & mask) == continuation)
        --most;
    return text.substr(0, most);
}

namespace {

bool is_tag_as_it_is(std::string_view name) noexcept {
    return name.size() <= longest_plain && std::ranges::none_of(name, is_brace) &&
           !ends_in_digest(name);
}

}  // namespace

slot_number key_space::slot_of_name(std::string_view name) {
    if (is_tag_as_it_is(name)) return slot_of(name);
    std::string tag;
    append_tag(tag, name);
    return slot_of(tag);
}

void key_space::append_common(command& to, std::string const& key,
                              std::optional<slot_number> slot) {
    if (slot) {
        to << key + ":{" + std::string{slot_tag{*slot}} + "}";
    } else {
        to << key;
    }
}

void append_tag(std::string& to, std::string_view name) {
    if (is_tag_as_it_is(name)) {
        to += name;
        return;
    }
    auto const begin = static_cast<std::ptrdiff_t>(to.size());
    to += cut_between_characters(name, readable);
    std::replace_if(to.begin() + begin, to.end(), is_brace, '_');
    to += digest_mark;
    to += short_digest(name);
}

bool is_plain_tag(std::string_view tag) { return !ends_in_digest(tag); }

std::string escaped(std::string_view text) {
    std::string out;
    for (char const c : text) {
        if (std::string_view{"\\*?[]"}.find(c) != std::string_view::npos) out += '\\';
        out += c;
    }
    return out;
}

std::string_view key_space::tag_in(std::string_view record) const noexcept {
    for (auto const* const start : {&names_, &conditions_})
        if (record.starts_with(*start) && record.ends_with('}'))
            return record.substr(start->size(), record.size() - start->size() - 1);
    return {};
}

std::string key_space::pattern(std::string_view prefix, bool condition) const {
    auto wanted = escaped(cut_between_characters(prefix, readable));
    std::ranges::replace_if(wanted, is_brace, '?');
    return escaped(condition ? conditions_ : names_) + wanted + "*}";
}

void append_companions(command& to, std::string_view record) {
    for (std::string_view const suffix : {":claims", ":holders", ":bars", ":extra"})
        to.append(record, suffix);
}

}  // namespace holdfast::stores::redis
