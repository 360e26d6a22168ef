// Which claims may stand in a line: bounded, and wrong on one side only.
#include "stores/zookeeper/sent_claims.hpp"

#include <gtest/gtest.h>

namespace holdfast::stores::zookeeper {

namespace {

seam::claim_id numbered(std::uint64_t number) { return {seam::client_id{7}, number}; }

TEST(zookeeper_sent_claims, what_was_sent_is_known_until_it_leaves) {
    sent_claims sent;
    EXPECT_FALSE(sent.may_contain(numbered(1)));
    sent.add(numbered(1));
    EXPECT_TRUE(sent.may_contain(numbered(1)));
    sent.erase(numbered(1));
    EXPECT_FALSE(sent.may_contain(numbered(1)));
}

TEST(zookeeper_sent_claims, a_client_may_send_any_number_of_them) {
    constexpr std::uint64_t many = 5 * sent_claims::most_known;
    sent_claims sent;
    for (std::uint64_t number = 1; number <= many; ++number) {
        ASSERT_FALSE(sent.may_contain(numbered(number))) << "nobody has to look for a new one";
        sent.add(numbered(number));
    }
    EXPECT_LE(sent.size(), sent_claims::most_known);
    for (std::uint64_t number = 1; number <= many; ++number)
        ASSERT_TRUE(sent.may_contain(numbered(number))) << number;
}

}  // namespace

}  // namespace holdfast::stores::zookeeper
