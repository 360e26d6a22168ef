// The quorum's machine and claims that are missing at a member: because they are evicted there, or were lost.
#include <algorithm>

#include "quorum/machine_fixture.hpp"

namespace holdfast::stores::quorum {
namespace {

using places = std::vector<std::size_t>;
using status = seam::renewal::status;

class quorum_machine_eviction : public quorum_machine {
protected:
    /// Granted by all members.
    void hold_at_all() {
        found();
        auto const id = ask(wanted());
        auto const votes = take<seam::submit>();
        ASSERT_EQ(votes.size(), 3U);
        for (auto const& each : votes)
            answer(each, yes(each));
        ASSERT_TRUE(told<seam::granted>(id));
        attempt_ = std::get<seam::submit>(votes[0].what).subject.id;
    }
    /// The members are asked, and have not answered yet.
    std::vector<outgoing> begin_renewal() {
        renewal_ = ask(seam::renew{.items = {{subject_, 10s}}});
        auto out = take<seam::renew>();
        EXPECT_EQ(out.size(), 3U);
        return out;
    }
    /// All answer; these have the claim no more.
    void renew(places const& missing_at) {
        for (auto const& each : begin_renewal()) {
            bool const missing = std::ranges::find(missing_at, each.member) != missing_at.end();
            answer(each, missing ? gone() : alive());
        }
    }
    /// What the holder is told of the last renewal.
    status outcome() {
        auto const answered = told<seam::renewed>(renewal_);
        return answered ? answered->items.front().found : status::unknown;
    }
    /// The members that were given the claim again.
    places repaired() {
        places out;
        for (auto const& each : take<seam::submit>()) {
            EXPECT_TRUE(std::get<seam::submit>(each.what).repairs);
            out.push_back(each.member);
        }
        return out;
    }
    [[nodiscard]] static seam::renewed gone() { return {{{}}}; }

    seam::claim_id attempt_{};  ///< as the members know the claim
    seam::request_id renewal_{};
};

// The holder hears from each member, and asks at once. Were the first one repaired before the second hears of the eviction,
// and the second before the third, nothing would come of it.
TEST_F(quorum_machine_eviction, that_comes_to_one_member_after_the_other_is_not_undone) {
    hold_at_all();
    machine_.on_notice(0, seam::claim_gone{attempt_, "it was evicted"}, now_);
    auto const hints = machine_.take_results().notices;
    ASSERT_EQ(hints.size(), 1U);
    EXPECT_EQ(std::get<seam::claim_gone>(hints[0]).id, subject_.id);
    renew({0});
    EXPECT_EQ(outcome(), status::alive);
    EXPECT_EQ(repaired(), places{});
    pass(1900ms);  // as long as whoever evicts waits for a member, and not longer
    renew({0});
    EXPECT_EQ(repaired(), places{});
    renew({0, 1});
    EXPECT_EQ(outcome(), status::gone);
    EXPECT_EQ(repaired(), places{});
}

TEST_F(quorum_machine_eviction, is_not_what_has_been_missing_for_long) {
    hold_at_all();
    renew({0});
    EXPECT_EQ(repaired(), places{});
    pass(3s);
    renew({0});
    EXPECT_EQ(repaired(), places{0});
    pass(100ms);
    renew({0});  // the repair was refused: somebody else has one member for a moment
    EXPECT_EQ(repaired(), places{0});
    EXPECT_EQ(outcome(), status::alive);
}

TEST_F(quorum_machine_eviction, of_a_claim_that_was_back_counts_from_then_on) {
    hold_at_all();
    renew({2});
    pass(3s);
    renew({});
    pass(3s);
    renew({2});
    EXPECT_EQ(repaired(), places{});
    pass(3s);
    renew({2});
    EXPECT_EQ(repaired(), places{2});
}

// Members may be asked over several connections, so that answers overtake each other.
TEST_F(quorum_machine_eviction, is_not_known_from_an_answer_that_was_overtaken) {
    hold_at_all();
    auto const first = begin_renewal();
    answer(first[0], alive());
    answer(first[1], alive());
    renew({});
    answer(first[2], gone());
    pass(3s);
    renew({2});
    EXPECT_EQ(repaired(), places{});
}

TEST_F(quorum_machine_eviction, takes_a_slow_member_for_silent_before_others_are_repaired) {
    hold_at_all();
    auto const asked = begin_renewal();
    pass(900ms);
    for (auto const& each : asked)
        answer(each, alive());  // so that they are given long to answer
    auto const id = ask(seam::evict{.name = "q"});
    auto const evictions = take<seam::evict>();
    ASSERT_EQ(evictions.size(), 3U);
    answer(evictions[0], seam::evicted{1});
    answer(evictions[1], seam::evicted{1});
    pass(1900ms);
    EXPECT_FALSE(told<seam::evicted>(id));
    pass(100ms);
    ASSERT_TRUE(told<seam::evicted>(id));
    EXPECT_EQ(told<seam::evicted>(id)->count, 1U);
}

}  // namespace
}  // namespace holdfast::stores::quorum
