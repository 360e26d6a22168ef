// Who the members of a quorum are: servers that are none of their own, members that are all new, and for how long one
// that has lost its data matters.
#include "quorum/machine_fixture.hpp"

namespace holdfast::stores::quorum {
namespace {

using quorum_machine_members = quorum_machine;

// A member that has lost what it keeps sits out for as long as the longest lease, and nobody gives it again.
TEST_F(quorum_machine_members, keep_nothing_for_longer_than_one_sits_out) {
    found();
    hold();
    ask(seam::settle{.subject = subject_, .keep_for = 70s});
    auto const ends = take<seam::settle>();
    ASSERT_EQ(ends.size(), 3U);
    for (auto const& each : ends)
        EXPECT_EQ(std::get<seam::settle>(each.what).keep_for, 60s);
}

}  // namespace
}  // namespace holdfast::stores::quorum
