// How many requests the server gets, by its own count.
#include <iostream>
#include <set>
#include <sstream>

#include "etcd/faults.hpp"
#include "support/hand_overs.hpp"

namespace holdfast::etcd_tests {
namespace {

/// All that a client of ours may ask for: requests, and messages of its streams.
std::vector<std::string> const everything{"Txn",         "Range",          "Put",
                                          "DeleteRange", "LeaseGrant",     "LeaseRevoke",
                                          "Watch",       "LeaseKeepAlive", "LeaseTimeToLive"};

class counts_test : public testing::Test {
protected:
    lock_options const lasting_{.lease = 120s};  // longer than the test: none is renewed

    /// Since this was last asked.
    [[nodiscard]] double requests() {
        auto const now = server_.received(everything);
        return static_cast<double>(now - std::exchange(seen_, now));
    }

    support::etcd_server server_;

private:
    std::uint64_t seen_{0};
};

TEST_F(counts_test, a_lock_and_its_unlock_are_two_requests) {
    constexpr int pairs = 300;
    client mine{server_.url()};
    mutex lock{mine, "q", lasting_};
    semaphore pool{mine, "pool", 3, lasting_};
    auto const take_both = [&](int times) {
        for (int i = 0; i < times; ++i) {
            EXPECT_EQ(lock.acquire().release(), release_outcome::released);
            EXPECT_EQ(pool.acquire_lease().release(), release_outcome::released);
        }
    };
    take_both(10);  // connects, and opens the session
    (void)requests();
    take_both(pairs);
    auto const each = requests() / (2 * pairs);
    std::cout << each << " requests for each pair" << std::endl;
    // Once in 256 requests a client looks whether the dead have left anything at some names.
    EXPECT_LE(each, 2.05);
    EXPECT_GE(each, 2);
}

TEST_F(counts_test, a_hand_over_to_another_client_is_little_more) {
    constexpr unsigned clients = 8;
    constexpr int turns = 100;
    support::ring_of_clients ring{server_.url(), clients};
    (void)ring.pass_around(turns / 10);
    (void)requests();
    auto const changes = ring.pass_around(turns);
    auto const each = requests() / changes;
    std::cout << changes << " hand-overs, " << each << " requests for each" << std::endl;
    EXPECT_GT(changes, static_cast<int>(clients) * turns * 9 / 10);
    EXPECT_LE(each, 2.5);
    EXPECT_GE(each, 2) << "a place in the line, and a release";
}

// etcd remembers each key that there ever was until its history is compacted, and a look at a line takes longer for each.
TEST_F(counts_test, those_who_wait_use_the_keys_of_those_before_them) {
    constexpr unsigned clients = 4;
    support::ring_of_clients ring{server_.url(), clients};
    auto const changes = ring.pass_around(100);
    std::set<std::string> keys;
    auto const last = server_.revision();
    for (auto at = last / 50; at <= last; at += last / 50) {
        std::istringstream lines{server_.control(
            {"get", "holdfast/line/", "--prefix", "--keys-only", "--rev=" + std::to_string(at)})};
        for (std::string line; std::getline(lines, line);)
            if (!line.empty()) keys.insert(line);
    }
    std::cout << changes << " hand-overs, " << keys.size() << " keys in the line" << std::endl;
    EXPECT_GE(keys.size(), 1U) << "nobody was ever seen waiting";
    EXPECT_LE(keys.size(), clients);
}

}  // namespace
}  // namespace holdfast::etcd_tests
