// A row tells the truth about itself: what it says it can do works, and what it says it cannot is refused.
// The suite runs over every row, and has one test for each ability, named as the ability is.
#include "conformance/probe.hpp"
#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

class abilities_test : public store_test {
protected:
    void expect_truth(ability which) {
        if (!GetParam().can(which)) return expect_refused(which, store());
        auto const made = probe(which, store());
        EXPECT_FALSE(made.empty());
        for (auto const& one : made)
            EXPECT_EQ(one.error, std::error_code{}) << one.what;
    }
};
HOLDFAST_OVER_ALL_ROWS(abilities_test);

TEST_P(abilities_test, processes) { expect_truth(ability::processes); }
TEST_P(abilities_test, silence) { expect_truth(ability::silence); }
TEST_P(abilities_test, clients_in_forks) { expect_truth(ability::clients_in_forks); }
TEST_P(abilities_test, lasting_tokens) { expect_truth(ability::lasting_tokens); }
TEST_P(abilities_test, line) { expect_truth(ability::line); }
TEST_P(abilities_test, holder_details) { expect_truth(ability::holder_details); }
TEST_P(abilities_test, any_name) { expect_truth(ability::any_name); }
TEST_P(abilities_test, fair_order) { expect_truth(ability::fair_order); }
TEST_P(abilities_test, shared_holds) { expect_truth(ability::shared_holds); }
TEST_P(abilities_test, joint_owners) { expect_truth(ability::joint_owners); }
TEST_P(abilities_test, semaphores) { expect_truth(ability::semaphores); }
TEST_P(abilities_test, latches) { expect_truth(ability::latches); }
TEST_P(abilities_test, barriers) { expect_truth(ability::barriers); }
TEST_P(abilities_test, conditions) { expect_truth(ability::conditions); }
TEST_P(abilities_test, elections) { expect_truth(ability::elections); }

TEST_P(abilities_test, bounds_of_leases) {
    auto const client = connect();
    auto const [shortest, longest] = GetParam().leases;
    for (auto const length : {shortest, longest})
        EXPECT_TRUE(
            (mutex{client, "q", {.lease = length, .renew = false}}.try_acquire_for(patience)))
            << length.count();
    for (auto const length : {shortest - 1ms, longest + 1ms})
        EXPECT_EQ(failure_of([&] {
                      return mutex{client, "q", {.lease = length}}.acquire();
                  }),
                  errc::bad_option)
            << length.count();
}

}  // namespace

}  // namespace holdfast::conformance
