#include "stores/redis/command.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/text.hpp"

namespace holdfast::stores::redis {

namespace {

constexpr std::string_view line_end = "\r\n";

// Room for "*", ten digits and the end of the line.
constexpr std::size_t head_room = 13;

// Writes `mark`, `number` and the end of a line; returns where it ends.
char* write_line(char* to, char mark, std::uint64_t number) {
    constexpr std::size_t digits = 20;
    *to++ = mark;
    if (number < 10) {  // most are
        *to++ = static_cast<char>('0' + number);
    } else {
        to = std::to_chars(to, to + digits, number).ptr;
    }
    std::memcpy(to, line_end.data(), line_end.size());
    return to + line_end.size();
}

char* write(char* to, std::string_view text) {
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
    return to + text.size();
}

}  // namespace

void command::begin() {
    constexpr std::size_t usual_length = 640;
    bytes_.resize(usual_length);
    used_ = head_room;
}

command& command::append(std::string_view front, std::string_view back) {
    constexpr std::size_t frame = 26;  // the longest line before it, and the end behind it
    auto const length = front.size() + back.size();
    if (bytes_.size() - used_ < length + frame)
        bytes_.resize(std::max(2 * bytes_.size(), used_ + length + frame));
    auto* at = write_line(bytes_.data() + used_, '$', length);
    at = write(write(write(at, front), back), line_end);
    used_ = static_cast<std::size_t>(at - bytes_.data());
    ++arguments_;
    return *this;
}

command& command::append_encoded(std::string_view arguments, unsigned count) {
    if (bytes_.size() - used_ < arguments.size())
        bytes_.resize(std::max(2 * bytes_.size(), used_ + arguments.size()));
    write(bytes_.data() + used_, arguments);
    used_ += arguments.size();
    arguments_ += count;
    return *this;
}

command& command::append_number(std::int64_t bits, bool is_signed) {
    char digits[24];
    auto const end =
        is_signed
            ? std::to_chars(digits, digits + sizeof digits, bits).ptr
            : std::to_chars(digits, digits + sizeof digits, static_cast<std::uint64_t>(bits)).ptr;
    return *this << std::string_view{digits, static_cast<std::size_t>(end - digits)};
}

command& command::append_with_clock(std::string_view rest) {
    constexpr std::string_view room = "0000000000000000";
    append(room, rest);
    clock_at_ = static_cast<unsigned>(used_ - line_end.size() - rest.size() - room.size());
    return *this;
}

command command::with_text() const {
    constexpr unsigned replaced = 2;
    command out{"EVAL"};
    out << script_->text;
    auto const at = out.end();
    out.append_encoded(part(behind_script_, end()), arguments_ - replaced);
    if (clock_at_ != 0) out.clock_at_ = clock_at_ - behind_script_ + at;
    if (piece.named) out.concerns(piece.name);
    out.only_for = only_for;
    out.to = to;
    return out;
}

std::string_view command::bytes(seam::clock_id clock) {
    if (clock_at_ != 0)
        base::write_hex(static_cast<std::uint64_t>(clock), bytes_.data() + clock_at_);
    if (start_ == 0) {
        char head[24];
        auto const length = static_cast<std::size_t>(write_line(head, '*', arguments_) - head);
        start_ = static_cast<unsigned>(head_room - length);
        std::memcpy(bytes_.data() + start_, head, length);
    }
    return std::string_view{bytes_}.substr(start_, used_ - start_);
}

}  // namespace holdfast::stores::redis
