// Scenes about stores that compare: what one client does between the look and the step of another.
#include "simulation/stage.hpp"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;

class compare_scenes : public ::testing::TestWithParam<store_family> {
protected:
    static profile plan() {
        auto out = stage::quiet();
        out.family = GetParam();
        out.session = true;
        out.drift = 0;
        return out;
    }
};

INSTANTIATE_TEST_SUITE_P(all, compare_scenes,
                         ::testing::Values(store_family::compare_with_clock,
                                           store_family::compare_without_clock),
                         [](auto const& which) {
                             return which.param == store_family::compare_with_clock
                                        ? "with_clock"
                                        : "without_clock";
                         });

TEST_P(compare_scenes, without_renew_a_hold_lasts_its_whole_lease_however_old_its_session_is) {
    stage scene{1, plan()};
    auto& home = scene.add_client();
    auto& before = scene.actor(home, {.lease = 2s}, {.name = "other"});
    scene.acquire(before);
    scene.run_for(50ms);
    scene.release(before);
    scene.run_for(600ms);  // the session has shown no sign of life since
    auto& holder = scene.actor(home, {.lease = 2s, .renew = false});
    auto& other = scene.actor({.lease = 2s});
    auto const begun = scene.time.now();
    scene.acquire(holder);
    scene.run_for(20ms);
    scene.acquire(other);
    scene.run_until(begun + 1'950ms);
    EXPECT_EQ(scene.state_of(holder), lease_state::held);
    scene.run_until(begun + 1'999ms);
    EXPECT_EQ(scene.state_of(holder), lease_state::lost) << "told before others can hold";
    EXPECT_EQ(other.hold(), nullptr) << "the lease is not over yet";
    scene.run_until(begun + 2'200ms);
    EXPECT_NE(other.hold(), nullptr);
}

// Whoever joined the line after the last look of the releasing client does not sleep until its next renewal.
TEST_P(compare_scenes, who_joined_unseen_is_served_when_a_minimum_hold_ends) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        stage scene{seed, plan()};
        auto& holder = scene.actor({.lease = 30s, .min_hold = 500ms});
        auto& other = scene.actor({.lease = 30s});
        auto const begun = scene.time.now();
        scene.acquire(holder);
        scene.run_for(20ms);
        scene.acquire(other);
        scene.run_for(moment{scene.random.below(1'500'000)});
        scene.release(holder);
        scene.run_until(begun + 2s);
        EXPECT_NE(other.hold(), nullptr) << "seed " << seed;
    }
}

// A claim joins the line on the strength of what it knows, while the holder leaves.
bool is_served(std::uint64_t seed, profile const& plan, variant const& which = {}) {
    stage scene{seed, plan, which};
    auto& holder = scene.actor({.lease = 30s});
    auto& other = scene.actor({.lease = 30s});
    scene.acquire(holder);
    scene.run_for(20ms);
    scene.acquire(other, false);
    scene.run_for(20ms);
    EXPECT_EQ(other.hold(), nullptr);
    scene.release(holder);
    scene.run_for(moment{scene.random.below(600'000)});
    scene.acquire(other);
    scene.run_for(3s);  // much less than until its next sign of life
    return other.hold() != nullptr;
}

TEST_P(compare_scenes, who_joins_while_the_holder_leaves_is_served) {
    for (bool const late : {false, true})
        for (std::uint64_t seed = 1; seed <= 300; ++seed)
            EXPECT_TRUE(is_served(seed, plan(), {.documents = {.shows_joiners_late = late}}))
                << "seed " << seed;
}

// In a crowd the next one who comes wakes it, so that no checker sees it there. A server with a clock has the one who
// leaves look again as well: there it takes somebody who has joined, and whom nobody sees yet.
TEST_P(compare_scenes, who_does_not_look_after_it_has_joined_is_caught) {
    variant const which{.name = "no-look-after-an-append",
                        .documents = {.looks_first = true, .shows_joiners_late = true}};
    int caught = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed)
        if (!is_served(seed, plan(), which)) ++caught;
    EXPECT_GT(caught, 0);
}

}  // namespace
}  // namespace holdfast::simulation
