#include "stores/redis/command.hpp"

#include <charconv>
#include <cstring>

namespace holdfast::stores::redis {

namespace {

constexpr std::string_view line_end = "\r\n";

// Room for "*", ten digits and the end of the line.
constexpr std::size_t head_room = 13;

// Writes `mark`, `number` and the end of a line.
std::size_t write_line(char* to, char mark, std::uint64_t number) {
    constexpr std::size_t digits = 20;
    *to = mark;
    auto* const end = std::to_chars(to + 1, to + 1 + digits, number).ptr;
    std::memcpy(end, line_end.data(), line_end.size());
    return static_cast<std::size_t>(end - to) + line_end.size();
}

}  // namespace

void command::begin() {
    constexpr std::size_t usual_length = 640;
    bytes_.reserve(usual_length);
    bytes_.assign(head_room, ' ');
}

command& command::operator<<(std::string_view argument) {
    char head[24];
    bytes_.append(head, write_line(head, '$', argument.size()));
    bytes_.append(argument);
    bytes_.append(line_end);
    ++arguments_;
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

std::string_view command::bytes() {
    if (start_ == 0) {
        char head[24];
        auto const length = write_line(head, '*', arguments_);
        start_ = static_cast<unsigned>(head_room - length);
        std::memcpy(bytes_.data() + start_, head, length);
    }
    return std::string_view{bytes_}.substr(start_);
}

}  // namespace holdfast::stores::redis
