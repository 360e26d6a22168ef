// Replies that are lost or cut: a step was carried out, and its client does not know.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "mysql/fixture.hpp"
#include "support/counts.hpp"
#include "support/proxy.hpp"

namespace holdfast::mysql_faults {
namespace {

using redis_faults::proxy;

// Each of four clients has a bad network of its own. With full counts a thousand replies are cut.
TEST(cut_test, replies_that_are_cut_leave_nothing_behind) {
    mysql_server server;
    noting_client watcher{server.url()};
    (void)mutex(*watcher, "q").acquire();  // makes the tables
    auto const wanted = support::large_count(1'000) + 50;
    std::vector<std::unique_ptr<proxy>> networks;
    for (unsigned i = 0; i < 4; ++i)
        networks.push_back(std::make_unique<proxy>(
            server.port(), i, redis_faults::odds{.lose_reply = 30, .cut_reply = 30}));
    auto const faults = [&] {
        int out = 0;
        for (auto const& each : networks)
            out += each->faults();
        return out;
    };
    std::atomic<int> inside{0};
    std::atomic<int> visits{0};
    std::atomic<std::uint64_t> highest{0};
    {
        std::vector<std::jthread> crowd;
        for (auto const& network : networks)
            crowd.emplace_back([&] {
                noting_client cut{"mysql://root@127.0.0.1:" + std::to_string(network->port()) +
                                      "/holdfast?timeout=1s",
                                  20s};
                mutex lock{*cut, "q", {.lease = 5s}};
                while (faults() < wanted) {
                    auto const found = failure_of([&] {
                        auto const held = lock.acquire();
                        EXPECT_GT(held.token(), highest.exchange(held.token()));
                        EXPECT_EQ(++inside, 1) << "two are inside";
                        ++visits;
                        --inside;
                    });
                    EXPECT_EQ(found.code(), std::error_code{}) << found.what();
                }
                network->be_good();
            });
    }
    EXPECT_GT(visits, 0);
    EXPECT_TRUE(eventually([&] { return (*watcher).locks().empty(); }));
    EXPECT_EQ(server.ask("SELECT count(*) FROM holdfast_line"), "0\n");
    EXPECT_EQ(server.ask("SELECT count(*) FROM holdfast_head WHERE body IS NOT NULL"), "0\n");
}

}  // namespace
}  // namespace holdfast::mysql_faults
