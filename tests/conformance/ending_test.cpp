// The end of a program that holds something.
#include "conformance/store_test.hpp"
#include "support/process.hpp"

namespace holdfast::conformance {

namespace {

class ending_test : public store_test {};
HOLDFAST_OVER_ALL_ROWS(ending_test);

TEST_P(ending_test, static_objects_end_in_peace_and_release) {
    support::process program{{HOLDFAST_TEST_STATIC_END, store().url()}};
    EXPECT_EQ(program.read().substr(0, 5), "held ");
    auto client = connect();
    EXPECT_EQ(client.locks().size(), GetParam().can(ability::processes) ? 2U : 0U);
    program.send("end");
    EXPECT_EQ(program.finish(), 0);
    EXPECT_TRUE(client.locks().empty());
}

TEST_P(ending_test, clients_that_are_not_closed_release_when_their_last_owner_goes) {
    auto watcher = connect();
    {
        auto const client = connect();
        mutex shared{client, "q"};
        shared.lock();  // never unlocked
        EXPECT_EQ(watcher.locks().size(), 1U);
    }
    EXPECT_TRUE(empties(watcher));
}

}  // namespace

}  // namespace holdfast::conformance
