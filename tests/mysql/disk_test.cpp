// A server whose disk is full.
#include <string>
#include <vector>

#include "mysql/fixture.hpp"

namespace holdfast::mysql_faults {
namespace {

TEST(disk_test, a_full_disk_is_said_and_what_is_held_stays_held) {
    mysql_server server{{.disk_fills = true}};
    noting_client one{server.url(), 1s};
    auto held = mutex(*one, "held", {.lease = 3s}).acquire();
    support::stopwatch const since;
    server.fill_disk();
    // The tables have some room in their pages, but not for ever.
    std::system_error refused{std::error_code{}};
    std::vector<lease> others;
    for (int i = 0; i < 2000 && refused.code() == std::error_code{}; ++i)
        refused = failure_of([&] {
            others.push_back(mutex(*one, std::to_string(i) + std::string(400, 'n')).acquire());
        });
    std::string const text = refused.what();
    EXPECT_EQ(refused.code(), errc::store_unavailable) << text;
    EXPECT_NE(text.find("has no room left for a table"), std::string::npos) << text;
    // Past its lease, by renewals that need no room.
    EXPECT_FALSE(eventually([&] { return !held.held(); }, 8s)) << held.loss_reason();
    EXPECT_GT(since.elapsed(), 3s);
    server.clear_disk();
    EXPECT_TRUE(eventually([&] {
        return failure_of([&] { (void)mutex(*one, "another").acquire(); }).code() ==
               std::error_code{};
    }));
    EXPECT_EQ(held.release(), release_outcome::released);
}

}  // namespace
}  // namespace holdfast::mysql_faults
