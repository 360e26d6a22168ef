// A node of a Galera cluster: what holds there is said.
#include <filesystem>
#include <string>

#include <unistd.h>

#include "mysql/fixture.hpp"

namespace holdfast::mysql_faults {
namespace {

constexpr auto library = "/usr/lib/galera/libgalera_smm.so";

TEST(galera_test, a_node_of_a_cluster_is_recognised) {
    ASSERT_TRUE(std::filesystem::exists(library)) << "it comes with the package galera-4";
    auto const port = std::to_string(18'000 + ::getpid() % 2'000);
    mysql_server const node{
        {.arguments = {"--wsrep-on=ON", std::string{"--wsrep-provider="} + library,
                       "--wsrep-cluster-address=gcomm://", "--binlog-format=ROW",
                       "--wsrep-sst-method=rsync",
                       "--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:" + port +
                           ";gcache.size=4M"}}};
    noting_client one{node.url(), 10s};
    std::uint64_t before = 0;
    for (int turn = 0; turn < 3; ++turn) {
        auto const held = mutex(*one, "q").acquire();
        EXPECT_GT(held.token(), before);
        before = held.token();
    }
    EXPECT_NE(one.log().find("Galera"), std::string::npos) << one.log();
}

}  // namespace
}  // namespace holdfast::mysql_faults
