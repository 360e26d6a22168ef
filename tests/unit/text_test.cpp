#include "base/text.hpp"

#include <string>

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

using namespace std::string_literals;

TEST(name_fault, legal_names) {
    for (auto const& name : {"a"s, "orders/42"s, "{x}:y z"s, "sch\xc3\xb6n"s, "\xf0\x9f\x94\x92"s,
                             std::string(512, 'x'), " "s, "~"s})
        EXPECT_FALSE(name_fault(name)) << name;
}

TEST(name_fault, length_is_counted_in_bytes) {
    EXPECT_TRUE(name_fault(""));
    EXPECT_TRUE(name_fault(std::string(513, 'x')));
    std::string umlauts;
    for (int i = 0; i < 256; ++i)
        umlauts += "\xc3\xb6";
    EXPECT_FALSE(name_fault(umlauts));
    EXPECT_TRUE(name_fault(umlauts + "x"));
}

TEST(name_fault, control_characters) {
    for (auto const& name : {"a\nb"s, "\t"s, "\x7f"s, "a\0b"s, "\xc2\x85"s, "\x1b[0m"s})
        EXPECT_TRUE(name_fault(name));
    EXPECT_FALSE(name_fault("\xc2\xa0")) << "U+00A0 is no control character";
}

TEST(name_fault, what_is_not_utf8) {
    for (auto const& name : {"\x80"s, "\xc3"s, "\xc3("s, "\xe2\x82"s, "\xff"s,
                             "\xc0\xaf"s,          // overlong
                             "\xe0\x80\xaf"s,      // overlong
                             "\xed\xa0\x80"s,      // surrogate
                             "\xf4\x90\x80\x80"s,  // above U+10FFFF
                             "ok\xfe"s})
        EXPECT_TRUE(name_fault(name));
}

TEST(parse_number, limits) {
    EXPECT_EQ(parse_number("0"), 0U);
    EXPECT_EQ(parse_number("18446744073709551615"), UINT64_MAX);
    EXPECT_EQ(parse_number("65535", 65'535), 65'535U);
    EXPECT_FALSE(parse_number("65536", 65'535));
    for (auto const* const text : {"", "-1", "+1", "1a", " 1", "18446744073709551616"})
        EXPECT_FALSE(parse_number(text)) << text;
}

TEST(quotable, a_secret_is_not_repeated_not_even_in_part) {
    EXPECT_EQ(without_secret("it was s3cret, s3cret", "s3cret"), "it was ***, ***");
    EXPECT_EQ(without_secret("nothing to hide", ""), "nothing to hide");
    EXPECT_EQ(quotable("two\nlines\n", "", 100), "two lines");
    EXPECT_EQ(quotable("the s3cret", "s3cret", 8), "the ***");
    EXPECT_EQ(quotable("abcdef", "", 3), "abc");
}

TEST(hex, there_and_back) {
    EXPECT_EQ(hex(0), "0000000000000000");
    EXPECT_EQ(hex(0xdeadbeef), "00000000deadbeef");
    EXPECT_EQ(parse_hex(hex(UINT64_MAX)), UINT64_MAX);
    for (auto const* const text : {"", "g", "0x1", "-1", "1 ", "11111111111111111"})
        EXPECT_FALSE(parse_hex(text)) << text;
}

}  // namespace
}  // namespace holdfast::base
