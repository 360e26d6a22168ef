// One explicit owner in two processes is one hold.
#include "process/lock_processes.hpp"

namespace holdfast::processes {

namespace {

class lock_owner : public lock_processes {};

TEST_F(lock_owner, two_processes_have_one_token_and_both_must_go) {
    auto const one = start();
    auto const two = start();
    auto const stranger = start();
    auto const shared = token(one->ask("acquire q owner=job-7"));
    EXPECT_EQ(token(two->ask("acquire q owner=job-7")), shared);
    stranger->send("acquire q owner=job-8");
    ASSERT_TRUE(shows("q", 2, 1));
    EXPECT_EQ(one->ask("release"), "released");
    ASSERT_TRUE(shows("q", 1, 1));
    EXPECT_EQ(two->ask("state"), "held");
    EXPECT_EQ(two->ask("release"), "released");
    EXPECT_GT(token(stranger->read()), shared);
}

TEST_F(lock_owner, the_death_of_one_process_ends_its_own_claim_only) {
    auto const one = start();
    auto const two = start();
    auto const stranger = start();
    auto const shared = token(one->ask("acquire q owner=job-7 lease=120000"));
    EXPECT_EQ(token(two->ask("acquire q owner=job-7 lease=120000")), shared);
    stranger->send("acquire q");
    ASSERT_TRUE(shows("q", 2, 1));
    one->kill();
    ASSERT_TRUE(shows("q", 1, 1));
    EXPECT_EQ(two->ask("state"), "held");
    two->kill();
    EXPECT_GT(token(stranger->read()), shared);
}

}  // namespace

}  // namespace holdfast::processes
