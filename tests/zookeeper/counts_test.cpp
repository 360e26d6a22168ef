// How often a client waits for the server, as what stands between them sees it.
#include <iostream>
#include <utility>

#include "support/hand_overs.hpp"
#include "zookeeper/faults.hpp"

namespace holdfast::zookeeper_tests {
namespace {

class counts_test : public testing::Test {
protected:
    lock_options const lasting_{.lease = 120s};  // few signs of life while the test lasts

    /// Since this was last asked.
    [[nodiscard]] double round_trips() {
        auto const now = network_.round_trips();
        return static_cast<double>(now - std::exchange(seen_, now));
    }

    support::zookeeper_server server_;
    proxy network_{server_.port(), 1};

private:
    std::uint64_t seen_{0};
};

TEST_F(counts_test, a_lock_and_its_unlock_are_two_round_trips) {
    constexpr int pairs = 300;
    client mine{url_by(network_)};
    mutex lock{mine, "q", lasting_};
    auto const take = [&](int times) {
        for (int i = 0; i < times; ++i)
            EXPECT_EQ(lock.acquire().release(), release_outcome::released);
    };
    take(10);  // connects, and opens the session
    (void)round_trips();
    take(pairs);
    auto const each = round_trips() / pairs;
    std::cout << each << " round trips for each pair" << std::endl;
    EXPECT_LE(each, 2.1) << "and now and then a sign of life";
    EXPECT_GE(each, 2);
}

TEST_F(counts_test, a_hand_over_to_another_client_is_some_more) {
    constexpr unsigned clients = 8;
    constexpr int turns = 100;
    support::ring_of_clients ring{url_by(network_), clients};
    (void)ring.pass_around(turns / 10);
    (void)round_trips();
    auto const changes = ring.pass_around(turns);
    auto const each = round_trips() / changes;
    std::cout << changes << " hand-overs, " << each << " round trips for each" << std::endl;
    EXPECT_GT(changes, static_cast<int>(clients) * turns * 9 / 10);
    // A place in the line and a look behind it, a release; and the letter, which is heard of, read and removed.
    EXPECT_LE(each, 9);
    EXPECT_GE(each, 2);
}

}  // namespace
}  // namespace holdfast::zookeeper_tests
