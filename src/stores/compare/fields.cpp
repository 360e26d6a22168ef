#include "stores/compare/fields.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.hpp"
#include "base/text.hpp"

namespace holdfast::stores::compare {

namespace {

constexpr std::string_view empty_text = "-";

bool stays_bare(char byte) { return byte > ' ' && byte < '\x7f' && byte != '%'; }

int digit_of(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    raise_malformed();
}

}  // namespace

void raise_malformed() {
    base::raise(
        errc::store_unavailable,
        "a record in the store cannot be read: it was written by another program or a newer "
        "version of this one");
}

void field_writer::separate() {
    if (!first_) out_ += ' ';
    first_ = false;
}

field_writer& field_writer::number(std::uint64_t value) {
    separate();
    std::array<char, 20> digits{};
    auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out_.append(digits.data(), end);
    return *this;
}

field_writer& field_writer::hex(std::uint64_t value) { return word(base::hex(value)); }

field_writer& field_writer::word(std::string_view value) {
    separate();
    out_ += value;
    return *this;
}

field_writer& field_writer::text(std::string_view value) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    separate();
    if (value.empty()) {
        out_ += empty_text;
    } else if (value == empty_text) {
        out_ += "%2D";
    } else {
        for (char const byte : value) {
            if (stays_bare(byte)) {
                out_ += byte;
                continue;
            }
            auto const bits = static_cast<unsigned char>(byte);
            out_ += '%';
            out_ += digits[bits >> 4U];
            out_ += digits[bits & 15U];
        }
    }
    return *this;
}

field_writer& field_writer::end_line() {
    out_ += '\n';
    first_ = true;
    return *this;
}

bool field_reader::next_line() {
    if (rest_.empty()) return false;
    auto const end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    return true;
}

std::string_view field_reader::word() {
    if (line_.empty()) raise_malformed();
    auto const end = line_.find(' ');
    auto const out = line_.substr(0, end);
    line_.remove_prefix(end == std::string_view::npos ? line_.size() : end + 1);
    if (out.empty()) raise_malformed();
    return out;
}

std::uint64_t field_reader::number(std::uint64_t limit) {
    auto const found = base::parse_number(word(), limit);
    if (!found) raise_malformed();
    return *found;
}

std::uint64_t field_reader::hex() {
    auto const found = base::parse_hex(word());
    if (!found) raise_malformed();
    return *found;
}

std::string field_reader::text() {
    auto const raw = word();
    if (raw == empty_text) return {};
    std::string out;
    out.reserve(raw.size());
    for (std::size_t i = 0; i < raw.size(); ++i) {
        if (raw[i] != '%') {
            out += raw[i];
            continue;
        }
        if (i + 2 >= raw.size()) raise_malformed();
        out += static_cast<char>(digit_of(raw[i + 1]) * 16 + digit_of(raw[i + 2]));
        i += 2;
    }
    return out;
}

}  // namespace holdfast::stores::compare
