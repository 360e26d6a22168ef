// Fields of text, as the records of a store that compares consist of: readable for people, any bytes inside.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::stores::compare {

/// Writes fields with blanks between them, and lines. The result is printable ASCII.
class field_writer {
public:
    field_writer& number(std::uint64_t value);
    field_writer& hex(std::uint64_t value);
    field_writer& text(std::string_view value);  ///< any bytes
    field_writer& word(std::string_view value);  ///< written as it is: no blanks, not empty
    field_writer& end_line();

    [[nodiscard]] std::string take() && { return std::move(out_); }

private:
    void separate();

    std::string out_;
    bool first_{true};
};

/// Reads them. What cannot be read is an exception (`errc::store_unavailable`): somebody else wrote it.
class field_reader {
public:
    explicit field_reader(std::string_view text) noexcept : rest_{text} {}

    /// Goes to the next line; false at the end. To be called before the first field.
    [[nodiscard]] bool next_line();

    [[nodiscard]] std::string_view word();
    [[nodiscard]] std::uint64_t number(std::uint64_t limit = UINT64_MAX);
    [[nodiscard]] std::uint64_t hex();
    [[nodiscard]] std::string text();

private:
    std::string_view rest_;
    std::string_view line_;
};

[[noreturn]] void raise_malformed();

}  // namespace holdfast::stores::compare
