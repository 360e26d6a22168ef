// What it costs to take an answer.
#include <algorithm>
#include <vector>

#include <sys/resource.h>

#include <gtest/gtest.h>

#include "etcd/fixture.hpp"
#include "support/eventually.hpp"

namespace holdfast::etcd_tests {

namespace {

using namespace std::chrono_literals;

/// How often this thread has gone to sleep so far.
long sleeps() {
    rusage used{};
    ::getrusage(RUSAGE_THREAD, &used);
    return used.ru_nvcsw;
}

// Whoever gives gRPC a deadline of *now* sleeps until the next millisecond.
TEST(etcd_waits, an_answer_that_is_there_is_taken_without_a_sleep) {
    support::etcd_server const server;
    party one{server.url()};
    std::vector<long> counts;
    for (int turn = 0; turn < 300 && counts.size() < 20; ++turn) {
        auto const which = one.self.next_ticket();
        one.self.driver().commit(which, one.writing("q" + std::to_string(turn)));
        (void)support::throughout(20ms, [] { return true; });  // it arrives, unseen
        auto const before = sleeps();
        one.self.driver().drive(base::instant{});
        auto const after = sleeps();
        if (one.self.answered(which)) counts.push_back(after - before);
        ASSERT_TRUE(is<compare::committed>(one.self.outcome_of(which)));
    }
    ASSERT_EQ(counts.size(), 20U);
    std::ranges::sort(counts);
    EXPECT_EQ(counts[10], 0);  // a lock of gRPC's may be taken now and then
}

}  // namespace

}  // namespace holdfast::etcd_tests
