// How often a client waits for the server, as what stands between them sees it.
#include <iostream>
#include <utility>

#include "mysql/fixture.hpp"
#include "support/proxy.hpp"

namespace holdfast::mysql_faults {
namespace {

class counts_test : public testing::Test {
protected:
    lock_options const lasting_{.lease = 120s};  // longer than the test: none is renewed

    [[nodiscard]] std::string url() const {
        return "mysql://root@127.0.0.1:" + std::to_string(network_.port()) + "/holdfast";
    }
    /// Since this was last asked.
    [[nodiscard]] double round_trips() {
        auto const now = network_.round_trips();
        return static_cast<double>(now - std::exchange(seen_, now));
    }

    mysql_server server_;
    redis_faults::proxy network_{server_.port(), 1};

private:
    std::uint64_t seen_{0};
};

TEST_F(counts_test, a_lock_and_its_unlock_are_two_round_trips) {
    constexpr int pairs = 300;
    client mine{url()};
    mutex lock{mine, "q", lasting_};
    auto const take = [&](int times) {
        for (int i = 0; i < times; ++i)
            EXPECT_EQ(lock.acquire().release(), release_outcome::released);
    };
    take(10);  // connects, and opens the session
    (void)round_trips();
    support::stopwatch const since;
    take(pairs);
    auto const all = round_trips();
    std::cout << all / pairs << " round trips for each pair" << std::endl;
    // Once in 256 requests a client looks whether the dead have left anything, and every 250 ms for letters.
    auto const others = 0.05 * pairs + 8 * static_cast<double>(since.elapsed().count()) / 1000;
    EXPECT_LE(all, 2 * pairs + others);
    EXPECT_GE(all, 2 * pairs);
}

}  // namespace
}  // namespace holdfast::mysql_faults
