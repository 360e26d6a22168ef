// How often a client waits for the server, as what stands between them sees it.
#include <iostream>
#include <utility>

#include "postgres/fixture.hpp"
#include "support/hand_overs.hpp"
#include "support/proxy.hpp"

namespace holdfast::postgres_faults {
namespace {

class counts_test : public testing::Test {
protected:
    lock_options const lasting_{.lease = 120s};  // longer than the test: none is renewed

    [[nodiscard]] std::string url() const {
        return "postgres://postgres@127.0.0.1:" + std::to_string(network_.port()) + "/postgres";
    }
    /// Since this was last asked.
    [[nodiscard]] double round_trips() {
        auto const now = network_.round_trips();
        return static_cast<double>(now - std::exchange(seen_, now));
    }

    postgres_server server_{{.arguments = {"-c", "fsync=off"}}};
    redis_faults::proxy network_{server_.port(), 1};

private:
    std::uint64_t seen_{0};
};

TEST_F(counts_test, a_lock_and_its_unlock_are_two_round_trips) {
    constexpr int pairs = 300;
    client mine{url()};
    mutex lock{mine, "q", lasting_};
    semaphore pool{mine, "pool", 3, lasting_};
    auto const take_both = [&](int times) {
        for (int i = 0; i < times; ++i) {
            EXPECT_EQ(lock.acquire().release(), release_outcome::released);
            EXPECT_EQ(pool.acquire_lease().release(), release_outcome::released);
        }
    };
    take_both(10);  // connects, and opens the session
    (void)round_trips();
    take_both(pairs);
    auto const each = round_trips() / (2 * pairs);
    std::cout << each << " round trips for each pair" << std::endl;
    // Once in 256 requests a client looks whether the dead have left anything at some names.
    EXPECT_LE(each, 2.05);
    EXPECT_GE(each, 2);
}

TEST_F(counts_test, a_hand_over_to_another_client_is_little_more) {
    constexpr unsigned clients = 8;
    constexpr int turns = 100;
    support::ring_of_clients ring{url(), clients};
    (void)ring.pass_around(turns / 10);
    (void)round_trips();
    auto const changes = ring.pass_around(turns);
    auto const each = round_trips() / changes;
    std::cout << changes << " hand-overs, " << each << " round trips for each" << std::endl;
    EXPECT_GT(changes, static_cast<int>(clients) * turns * 9 / 10);
    EXPECT_LE(each, 2.5);
    EXPECT_GE(each, 2) << "a place in the line, and a release";
}

}  // namespace
}  // namespace holdfast::postgres_faults
