// Names as parts of paths.
#include "stores/zookeeper/paths.hpp"

#include <gtest/gtest.h>

#include "stores/zookeeper/known_nodes.hpp"

namespace holdfast::stores::zookeeper {

namespace {

TEST(zookeeper_paths, nodes_below_one_are_counted_as_far_as_the_server_counts) {
    EXPECT_EQ(created_below(0, 0), 0U);
    EXPECT_EQ(created_below(5, 1), 3U);  // two of three are gone
    EXPECT_EQ(created_below(INT32_MAX, 1), 1U << 30U);
    EXPECT_EQ(created_below(INT32_MIN, 2), (1U << 30U) + 1) << "versions go on below zero";
}

TEST(zookeeper_paths, any_bytes_go_there_and_back) {
    std::string every;
    for (int byte = 0; byte < 256; ++byte)
        every.push_back(static_cast<char>(byte));
    for (std::string const& name : {every, std::string{"."}, std::string{".."}, std::string{"a/b"},
                                    std::string{"%41"}, std::string{"%"}, std::string{"\xff"}}) {
        auto const node = paths::escaped(name);
        EXPECT_EQ(paths::unescaped(node), name);
        EXPECT_EQ(node.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                         "0123456789-_:%"),
                  std::string::npos)
            << node;
    }
    EXPECT_EQ(paths::escaped("orders:7"), "orders:7");
    EXPECT_EQ(paths::escaped("a/b.c"), "a%2Fb%2Ec");
}

TEST(zookeeper_paths, a_claim_in_line_is_known_by_its_node) {
    compare::line_item const item{
        .id = {seam::client_id{0xabc}, 7}, .session = compare::session_id{0x123}, .place = 42};
    auto const found = paths::parse_claim(paths::claim_at_its_place(item));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->id, item.id);
    EXPECT_EQ(found->session, item.session);
    EXPECT_EQ(found->place, 42U);
    for (auto const* const other : {"", "claim-", "life-0123", "claim-x-y-0000000001", "claim"})
        EXPECT_FALSE(paths::parse_claim(other)) << other;
}

TEST(zookeeper_paths, folders_come_after_their_parents) {
    auto const found = paths{"/a/b"}.folders();
    EXPECT_EQ(found, (std::vector<std::string>{"/a", "/a/b", "/a/b/name", "/a/b/condition",
                                               "/a/b/mail", "/a/b/session"}));
}

}  // namespace

}  // namespace holdfast::stores::zookeeper
