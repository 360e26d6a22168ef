// Sentinel and Cluster work with exactly the rights that docs/stores/redis.md asks for.
#include <fstream>
#include <functional>

#include "redis/documented_rights.hpp"
#include "redis/fixture.hpp"
#include "support/redis_cluster.hpp"
#include "support/redis_sentinels.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::redis_faults {
namespace {

std::string with_login(std::string url, std::string const& user) {
    return url.insert(url.find("//") + 2, user + ":" + documented_password + "@");
}

void allow(redis_server const& server, std::vector<std::string> const& line) {
    ASSERT_EQ(server.ask(line), "OK");
    ASSERT_EQ(server.ask({"ACL", "LOG", "RESET"}), "OK");
}

/// Somebody holds what another one waits for and gets; all is listed, and a condition is told.
void use_everything(std::string const& url) {
    client mine{url};
    client other{url};
    for (std::string const name : {"a", "b", "c"}) {
        auto held = mutex{mine, name}.acquire();
        auto next = std::async(std::launch::async, [&] { return mutex{other, name}.acquire(); });
        EXPECT_TRUE(eventually([&] {
            auto const seen = mine.locks(name);
            return seen.size() == 1 && seen.front().waiters.size() == 1;
        }));
        EXPECT_EQ(held.renew(), lease_state::held);
        EXPECT_EQ(held.release(), release_outcome::released);
        EXPECT_TRUE(next.get().held());
    }
    EXPECT_TRUE(find_deadlocks(mine.locks()).empty());
}

TEST(cluster_rights, are_those_of_the_page) {
    support::redis_cluster nodes;
    auto const line = documented_rights(right::locks);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        allow(nodes.node(i), line);
        allow(nodes.node(i), documented_rights(right::nodes));
    }
    auto const url = with_login(nodes.url(), line.at(2)) + "?replicas=1";
    use_everything(url);
    constexpr unsigned slot_of_b = 3300;
    client mine{url};
    auto held = mutex{mine, "b", {.lease = 60s}}.acquire();
    nodes.fail_over(slot_of_b);
    EXPECT_TRUE(eventually([&] { return held.renew() == lease_state::held; }));
    for (std::size_t i = 0; i < nodes.size(); ++i)
        EXPECT_EQ(nodes.node(i).ask({"ACL", "LOG"}), "");
}

TEST(cluster_rights, without_the_one_more_are_not_enough) {
    support::redis_cluster nodes;
    auto const line = documented_rights(right::locks);
    for (std::size_t i = 0; i < nodes.size(); ++i)
        allow(nodes.node(i), line);
    client mine{with_login(nodes.url(), line.at(2)), {.patience = 2s}};
    EXPECT_EQ(support::failure_of([&] { return mutex{mine, "b"}.acquire(); }), errc::access_denied);
}

class sentinel_rights : public testing::Test {
protected:
    void SetUp() override {
        for (std::size_t i = 0; i < 3; ++i) {
            allow(servers_.server(i), line_);
            allow(servers_.sentinel(i), finder_);
        }
        std::ofstream{file_} << documented_password << "\n";
    }

    support::redis_sentinels servers_;
    support::temporary_directory place_;
    std::string file_{(place_.path() / "password").string()};
    std::vector<std::string> line_{documented_rights(right::locks)};
    std::vector<std::string> finder_{documented_rights(right::sentinels)};
    std::string url_{with_login(servers_.url(), line_.at(2)) + "?sentineluser=" + finder_.at(2) +
                     "&sentinelpasswordfile=" + file_};
};

TEST_F(sentinel_rights, are_those_of_the_page) {
    use_everything(url_);
    client mine{url_};
    auto held = mutex{mine, "b", {.lease = 60s}}.acquire();
    servers_.fail_over();
    EXPECT_TRUE(eventually([&] { return held.renew() == lease_state::held; }));
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(servers_.server(i).ask({"ACL", "LOG"}), "");
        EXPECT_EQ(servers_.sentinel(i).ask({"ACL", "LOG"}), "");
    }
}

TEST_F(sentinel_rights, are_all_made_use_of) {
    auto const refused = [&] {
        for (std::size_t i = 0; i < 3; ++i)
            if (!servers_.sentinel(i).ask({"ACL", "LOG"}).empty()) return true;
        return false;
    };
    for (auto const& word : finder_) {
        if (word.front() != '+') continue;
        for (std::size_t i = 0; i < 3; ++i)
            allow(servers_.sentinel(i), {"ACL", "SETUSER", finder_.at(2), "-" + word.substr(1)});
        client mine{url_, {.patience = 1s}};
        (void)support::failure_of([&] { return mutex{mine, "b"}.try_acquire_for(500ms); });
        // The PING comes after five seconds without a message.
        EXPECT_TRUE(eventually(refused)) << word << " is not needed";
        for (std::size_t i = 0; i < 3; ++i)
            allow(servers_.sentinel(i), {"ACL", "SETUSER", finder_.at(2), word});
    }
}

}  // namespace
}  // namespace holdfast::redis_faults
