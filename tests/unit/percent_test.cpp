#include "base/percent.hpp"

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

TEST(percent, what_means_something_in_a_url_is_encoded) {
    EXPECT_EQ(percent_encode("a-Z.0_9~", ""), "a-Z.0_9~");
    EXPECT_EQ(percent_encode("/a b?c%41&d@e", "/ "), "/a b%3fc%2541%26d%40e");
    EXPECT_EQ(percent_encode("sch\xc3\xb6n", ""), "sch\xc3\xb6n");
    EXPECT_EQ(percent_encode("\n", ""), "%0a");
}

TEST(percent, there_and_back) {
    std::string all;
    for (int c = 1; c < 256; ++c)
        all += static_cast<char>(c);
    EXPECT_EQ(percent_decode(percent_encode(all, "")), all);
    EXPECT_EQ(percent_decode("%3F%3f"), "??");
}

TEST(percent, what_cannot_be_decoded) {
    for (auto const* const text : {"%", "%2", "a%", "%zz", "%2g", "%00", "%-1"})
        EXPECT_FALSE(percent_decode(text)) << text;
}

}  // namespace
}  // namespace holdfast::base
