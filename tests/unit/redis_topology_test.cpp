// Slots, and what sentinels and nodes say of the servers.
#include <string>

#include <gtest/gtest.h>

#include "stores/redis/keys.hpp"
#include "stores/redis/slots.hpp"
#include "stores/redis/topology.hpp"

namespace holdfast::stores::redis {
namespace {

answer parsed(std::string const& bytes) {
    answer_parser parser;
    parser.feed(bytes);
    answer out;
    EXPECT_TRUE(parser.next(out)) << bytes;
    return out;
}

TEST(redis_slots, are_those_of_the_server) {
    EXPECT_EQ(slot_of("foo"), 12182);
    EXPECT_EQ(slot_of("a"), 15495);
    EXPECT_EQ(slot_of("123456789"), 0x31c3);
    EXPECT_EQ(slot_of(""), 0);
}

TEST(redis_slots, each_has_a_short_tag) {
    for (unsigned slot = 0; slot < slot_count; ++slot)
        ASSERT_EQ(slot_of(slot_tag{static_cast<slot_number>(slot)}), slot);
}

TEST(redis_slots, of_a_name_is_that_of_its_record) {
    key_space const keys{"p:"};
    for (auto const& name : {std::string{"orders/42"}, std::string{"{a}"}, std::string(300, 'x')})
        EXPECT_EQ(key_space::slot_of_name(name), slot_of(keys.tag_in(keys.record(name, false))));
}

TEST(redis_slots, are_found_by_their_lanes) {
    slot_map all;
    EXPECT_FALSE(all.lane_of(7));
    all.assign(7, seam::lane_id{2});
    all.assign(9000, seam::lane_id{0});
    EXPECT_EQ(all.lane_of(7), seam::lane_id{2});
    EXPECT_EQ(all.lanes(), (std::vector{seam::lane_id{0}, seam::lane_id{2}}));
    EXPECT_EQ(all.slot_served_by(seam::lane_id{2}, 8), slot_number{7});
    EXPECT_FALSE(all.slot_served_by(seam::lane_id{1}, 0));
}

TEST(redis_topology, of_a_cluster) {
    auto const found = read_slots(
        parsed("*2\r\n*4\r\n:0\r\n:8191\r\n*3\r\n$9\r\n127.0.0.1\r\n:7000\r\n$2\r\nid\r\n"
               "*3\r\n$0\r\n\r\n:7003\r\n$2\r\nix\r\n"
               "*3\r\n:8192\r\n:16383\r\n*4\r\n$-1\r\n:7001\r\n$2\r\niy\r\n*0\r\n"),
        {"asked", 7009});
    ASSERT_EQ(found.masters.size(), 2U);
    EXPECT_EQ(found.masters[0].address, (server_address{"127.0.0.1", 7000}));
    EXPECT_EQ(found.masters[0].slots.front().last, 8191);
    EXPECT_EQ(found.masters[1].address, (server_address{"asked", 7001}));
    EXPECT_EQ(found.guides.size(), 3U);
}

TEST(redis_topology, that_makes_no_sense_is_garbled) {
    for (auto const* const bytes :
         {"*1\r\n*2\r\n:0\r\n:1\r\n", "*1\r\n*3\r\n:9\r\n:1\r\n*2\r\n$1\r\nh\r\n:1\r\n",
          "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\nh\r\n:1\r\n", ":1\r\n"})
        EXPECT_THROW((void)read_slots(parsed(bytes), {"h", 1}), garbled) << bytes;
}

TEST(redis_topology, of_sentinels) {
    auto const master = read_master_address(parsed("*2\r\n$2\r\nh1\r\n$4\r\n7000\r\n"));
    ASSERT_EQ(master.size(), 1U);
    EXPECT_EQ(master.front().address, (server_address{"h1", 7000}));
    EXPECT_TRUE(read_master_address(parsed("*-1\r\n")).empty());
    EXPECT_EQ(read_epoch(parsed("*4\r\n$1\r\na\r\n$1\r\nb\r\n$12\r\nconfig-epoch\r\n$1\r\n7\r\n")),
              7U);
    auto const others =
        read_sentinels(parsed("*1\r\n*4\r\n$2\r\nip\r\n$2\r\nh2\r\n$4\r\nport\r\n$5\r\n26379\r\n"));
    ASSERT_EQ(others.size(), 1U);
    EXPECT_EQ(others.front(), (server_address{"h2", 26379}));
}

TEST(redis_topology, redirections) {
    auto const moved = read_redirection("MOVED 3999 127.0.0.1:6381", {"h", 1});
    ASSERT_TRUE(moved);
    EXPECT_EQ(moved->slot, 3999);
    EXPECT_EQ(moved->to, (server_address{"127.0.0.1", 6381}));
    EXPECT_FALSE(moved->once);
    auto const asked = read_redirection("ASK 1 :7000", {"h", 1});
    ASSERT_TRUE(asked);
    EXPECT_TRUE(asked->once);
    EXPECT_EQ(asked->to, (server_address{"h", 7000}));
    EXPECT_EQ(read_redirection("MOVED 1 ::1:7000", {"h", 1})->to.host, "::1");
    for (auto const* const words :
         {"MOVED", "MOVED 1", "MOVED 16384 h:1", "MOVED 1 h:0", "MOVED x h:1", "ERR 1 h:1"})
        EXPECT_FALSE(read_redirection(words, {"h", 1})) << words;
}

}  // namespace
}  // namespace holdfast::stores::redis
