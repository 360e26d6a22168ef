// The server behind an address is replaced by its replica, whose clock differs, while processes wait.
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "redis/fixture.hpp"
#include "redis/proxy.hpp"

namespace holdfast::redis_faults {
namespace {

class failover : public testing::TestWithParam<std::chrono::seconds> {
protected:
    failover()
        : second_{{.arguments = {"--replicaof", "127.0.0.1", std::to_string(first_.port())},
                   .clock_ahead = GetParam()}} {}

    [[nodiscard]] bool in_step() const {
        return eventually([&] {
            auto const state = second_.ask({"INFO", "replication"});
            return state.find("master_link_status:up") != std::string::npos &&
                   second_.ask({"DBSIZE"}) == first_.ask({"DBSIZE"});
        });
    }

    // As an operator does, or a virtual address that moves.
    void fail_over() {
        ASSERT_TRUE(in_step());
        first_.kill();
        ASSERT_EQ(second_.ask({"REPLICAOF", "NO", "ONE"}), "OK");
        address_.lead_to(second_.port());
    }

    redis_server first_{{.arguments = {"--repl-diskless-sync-delay", "0"}}};
    redis_server second_;
    proxy address_{first_.port(), 1};
};

TEST_P(failover, what_is_granted_after_it_is_never_believed_past_its_lease) {
    constexpr auto lease_time = 3s;
    constexpr unsigned waiters = 6;
    client home{address_.url()};
    mutex held{home, "q", {.lease = 60s}};
    auto first = held.acquire();
    room only_one;
    rising_tokens tokens;
    tokens.add(first.token());
    std::atomic<unsigned> asking{0};
    std::vector<std::future<void>> all;
    for (unsigned i = 0; i < waiters; ++i)
        all.push_back(std::async(std::launch::async, [&] {
            client mine{address_.url()};
            mutex wanted{mine, "q", {.lease = lease_time, .renew = false}};
            ++asking;
            auto got = wanted.try_acquire_for(60s);
            ASSERT_TRUE(got);
            EXPECT_LE(got->remaining(), lease_time);
            stopwatch const since;
            tokens.add(got->token());
            only_one.visit();
            // The store cannot give it to another before that, and the holder must not believe longer.
            if (i % 3 == 0) {
                EXPECT_TRUE(eventually([&] { return !got->held(); }, 10s));
                EXPECT_LE(since.elapsed(), lease_time);
            }
            got->release();
        }));
    ASSERT_TRUE(eventually([&] {
        auto const seen = home.locks("q");
        return asking == waiters && !seen.empty() && seen.front().waiters.size() == waiters;
    }));
    fail_over();
    first.release();
    for (auto& one : all)
        EXPECT_NO_THROW(one.get());
    EXPECT_EQ(only_one.visits(), static_cast<long>(waiters));
}

TEST_P(failover, a_hold_goes_on_by_the_clock_of_the_server_that_renews_it) {
    client mine{address_.url()};
    mutex wanted{mine, "q", {.lease = 20s}};
    auto got = wanted.acquire();
    fail_over();
    EXPECT_TRUE(eventually([&] { return got.renew() == lease_state::held; }));
    EXPECT_LE(got.remaining(), 20s);
    EXPECT_GT(got.remaining(), 15s);
    EXPECT_EQ(got.release(), release_outcome::released);
}

INSTANTIATE_TEST_SUITE_P(clocks, failover, testing::Values(5s, -5s), [](auto const& which) {
    return which.param > 0s ? std::string{"ahead"} : std::string{"behind"};
});

}  // namespace
}  // namespace holdfast::redis_faults
