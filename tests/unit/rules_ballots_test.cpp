// Ballots: sequences that a client proposes to one store of several that vote.
#include <cstdint>
#include <string>

#include "stores/lease/ballot_windows.hpp"
#include "unit/rules_fixture.hpp"

namespace holdfast::stores {
namespace {

class rules_ballots : public rules_test {
protected:
    seam::reply_body vote(seam::claim const& what, std::uint64_t ballot, bool repairs = false,
                          bool queue = false) {
        return ask(seam::submit{.subject = what,
                                .queue = queue,
                                .not_after = late_enough,
                                .ballot = seam::sequence{ballot},
                                .repairs = repairs},
                   static_cast<std::uint64_t>(what.id.client));
    }
    std::uint64_t granted(seam::reply_body const& answer) {
        auto const* const held = std::get_if<seam::granted>(&answer);
        return held == nullptr ? 0 : static_cast<std::uint64_t>(held->held.number);
    }
    std::uint64_t outvoted_by(seam::reply_body const& answer) {
        auto const* const no = std::get_if<seam::refused>(&answer);
        if (no == nullptr || no->why != seam::refusal::outvoted) return 0;
        return static_cast<std::uint64_t>(no->ballot);
    }
};

TEST_F(rules_ballots, a_ballot_is_the_sequence_and_has_to_exceed_the_last_one_of_its_name) {
    auto const first = claim(lock());
    EXPECT_EQ(granted(vote(first, 70)), 70U);
    EXPECT_EQ(granted(vote(first, 70)), 70U) << "it came twice";
    EXPECT_EQ(why(vote(claim(lock(), 2), 90)), seam::refusal::busy) << "whatever the ballot";
    settle(first);
    EXPECT_EQ(outvoted_by(vote(claim(lock(), 2), 69)), 70U);
    EXPECT_EQ(outvoted_by(vote(claim(lock(), 2), 70)), 70U);
    EXPECT_EQ(granted(vote(claim(lock(), 2), 71)), 71U);
}

TEST_F(rules_ballots, names_do_not_vote_each_other_out) {
    EXPECT_EQ(granted(vote(claim(lock("a")), 90)), 90U);
    now += 4s;
    EXPECT_EQ(granted(vote(claim(lock("b")), 50)), 50U);
}

TEST_F(rules_ballots, what_is_long_gone_counts_for_every_name) {
    auto const one = claim(lock("a"));
    vote(one, 90);
    settle(one);
    now += 11s;
    EXPECT_EQ(outvoted_by(vote(claim(lock("b")), 90)), 90U);
    EXPECT_EQ(outvoted_by(vote(claim(lock("a")), 90)), 90U);
    EXPECT_EQ(granted(vote(claim(lock("a")), 91)), 91U);
}

// Whatever the ages of the ballots are, no name ever takes one that is not above its last.
TEST_F(rules_ballots, nothing_is_forgotten_between_a_name_and_all_names) {
    for (auto span = 100ms; span < 16s; span += 100ms) {
        auto const name = "n" + std::to_string(span.count());
        auto const one = claim(lock(name));
        auto const ballot = 1'000'000 + static_cast<std::uint64_t>(span.count());
        ASSERT_EQ(granted(vote(one, ballot)), ballot);
        settle(one);
        now += span;
        EXPECT_EQ(outvoted_by(vote(claim(lock(name)), ballot)), ballot) << name;
    }
}

TEST_F(rules_ballots, a_clock_that_goes_back_forgets_nothing) {
    lease::ballot_windows windows;
    windows.turn(now);
    windows.note(seam::sequence{90});
    windows.turn(now - 1min);
    EXPECT_EQ(windows.floor, 90U);
}

TEST_F(rules_ballots, a_repair_is_not_compared_and_lowers_nothing) {
    auto const newer = claim(lock());
    vote(newer, 90);
    EXPECT_EQ(why(vote(claim(lock(), 2), 70, true)), seam::refusal::busy) << "it must be free";
    settle(newer);
    auto const lost = claim(lock(), 2);
    EXPECT_EQ(granted(vote(lost, 70, true)), 70U);
    settle(lost);
    EXPECT_EQ(outvoted_by(vote(claim(lock(), 3), 90)), 90U);
}

TEST_F(rules_ballots, a_claim_with_a_ballot_never_waits_at_the_store) {
    auto const holder = claim(lock());
    vote(holder, 70);
    EXPECT_EQ(why(vote(claim(lock(), 2), 80, false, true)), seam::refusal::busy);
    settle(holder);
    EXPECT_TRUE(handed_over().empty());
}

TEST_F(rules_ballots, who_joins_a_hold_has_its_number) {
    auto const owned = spec({.name = "n", .lease = 1s, .owner = {"o"}, .joins = true});
    EXPECT_EQ(granted(vote(claim(owned), 70)), 70U);
    EXPECT_EQ(granted(vote(claim(owned, 2), 60)), 70U);
}

TEST_F(rules_ballots, others_draw_as_ever) {
    auto const voted = claim(lock("a"));
    vote(voted, 5'000);
    settle(voted);
    auto const drawn = take(claim(lock("a"))).number;
    EXPECT_LT(static_cast<std::uint64_t>(drawn), 5'000U) << "their numbers are not touched";
    EXPECT_GT(take(claim(lock("b"))).number, drawn);
}

TEST_F(rules_ballots, a_name_leaves_nothing_behind) {
    auto const one = claim(lock());
    vote(one, 70);
    settle(one);
    now += 11s;
    settle(claim(lock("other")));
    EXPECT_EQ(size(), 0U);
}

}  // namespace
}  // namespace holdfast::stores
