// The quorum's machine and claims that are missing at a member: because they are evicted there, or were lost.
#include <algorithm>
#include <set>

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
    /// Whoever evicts asks the members who holds: each of them shows these.
    seam::request_id begin_eviction(std::vector<seam::claim_id> const& holders) {
        auto const id = ask(seam::evict{.name = "q"});
        auto const looks = take<seam::inspect>();
        EXPECT_EQ(looks.size(), 3U);
        for (auto const& each : looks)
            answer(each, shown(holders));
        return id;
    }
    [[nodiscard]] static seam::page shown(std::vector<seam::claim_id> const& holders) {
        seam::listed name;
        name.name = "q";
        for (auto const& each : holders)
            name.holders.push_back({.id = seam::to_string(each)});
        return {.names = {std::move(name)}};
    }
    [[nodiscard]] static seam::claim_id ended_by(outgoing const& each) {
        auto const only = std::get<seam::evict>(each.what).only;
        EXPECT_TRUE(only) << "it would end whoever holds when it arrives";
        return only.value_or(seam::claim_id{});
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

// Those that granted the claim are a majority without it, and at them an eviction is not undone.
TEST_F(quorum_machine_eviction, is_not_what_a_member_lacks_that_refused_the_claim) {
    found();
    auto const id = ask(wanted());
    auto const votes = take<seam::submit>();
    answer(votes[0], yes(votes[0]));
    answer(votes[1], seam::refused{});
    answer(votes[2], yes(votes[2]));
    ASSERT_TRUE(told<seam::granted>(id));
    pass(1900ms);
    renew({1});
    EXPECT_EQ(repaired(), places{}) << "an eviction may be under way at the others";
    pass(200ms);
    renew({1});
    EXPECT_EQ(repaired(), places{1});
}

TEST_F(quorum_machine_eviction, is_not_what_a_member_lacks_that_had_no_vote) {
    found();
    machine_.on_notice(2, seam::session_changed{.became = seam::session_changed::state::restored},
                       now_);
    answer(take<seam::read>()[0], seam::failure{base::error{errc::store_unavailable}});
    auto const id = ask(wanted());
    auto const votes = take<seam::submit>();
    ASSERT_EQ(votes.size(), 2U);
    for (auto const& each : votes)
        answer(each, yes(each));
    ASSERT_TRUE(told<seam::granted>(id));
    pass(3s);
    answer(take<seam::read>()[0], seam::cell{1, records_[2]});
    renew({2});
    EXPECT_EQ(repaired(), places{2});
}

// Its answer may be what was lost: then it has the claim, and may be the first that hears of an eviction.
TEST_F(quorum_machine_eviction, may_be_what_a_member_lacks_that_was_silent_when_it_was_granted) {
    found();
    hold();
    pass(2s);
    pass(3s);
    renew({2});
    EXPECT_EQ(repaired(), places{});
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
    auto const id = begin_eviction({attempt_});
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

// It may have waited for a connection to the member, and arrives when somebody else holds.
TEST_F(quorum_machine_eviction, that_a_member_hears_of_late_names_the_claim_that_was_meant) {
    hold_at_all();
    auto const id = begin_eviction({attempt_});
    auto const evictions = take<seam::evict>();
    ASSERT_EQ(evictions.size(), 3U);
    for (auto const& each : evictions)
        EXPECT_EQ(ended_by(each), attempt_);
    pass(3s);
    ASSERT_TRUE(told<seam::failure>(id));
    EXPECT_TRUE(told<seam::failure>(id)->error.is(errc::store_unavailable));
}

TEST_F(quorum_machine_eviction, that_cannot_find_out_who_holds_ends_nobody) {
    hold_at_all();
    auto const id = ask(seam::evict{.name = "q"});
    answer(take<seam::inspect>()[0], shown({attempt_}));
    pass(3s);
    ASSERT_TRUE(told<seam::failure>(id));
    EXPECT_TRUE(take<seam::evict>().empty());
}

TEST_F(quorum_machine_eviction, of_a_name_that_is_free_ends_nobody) {
    found();
    auto const id = begin_eviction({});
    ASSERT_TRUE(told<seam::evicted>(id));
    EXPECT_EQ(told<seam::evicted>(id)->count, 0U);
    EXPECT_TRUE(take<seam::evict>().empty());
}

TEST_F(quorum_machine_eviction, of_one_claim_looks_for_nobody) {
    hold_at_all();
    auto const id = ask(seam::evict{.name = "q", .only = attempt_});
    auto const evictions = take<seam::evict>();
    ASSERT_EQ(evictions.size(), 3U);
    for (auto const& each : evictions)
        answer(each, seam::evicted{1});
    ASSERT_TRUE(told<seam::evicted>(id));
    EXPECT_EQ(told<seam::evicted>(id)->count, 1U);
}

// A silent member is waited for once, and not once for each of them.
TEST_F(quorum_machine_eviction, of_many_readers_ends_each_of_them) {
    constexpr std::uint64_t many = 100;
    found();
    std::vector<seam::claim_id> readers;
    for (std::uint64_t i = 1; i <= many; ++i)
        readers.push_back({seam::client_id{9}, i});
    auto const id = begin_eviction(readers);
    std::set<seam::claim_id> ended;
    std::size_t most = 0;
    for (auto under_way = take<seam::evict>(); !under_way.empty();
         under_way = take<seam::evict>()) {
        most = std::max(most, under_way.size());
        for (auto const& each : under_way) {
            ended.insert(ended_by(each));
            if (each.member != 2) answer(each, seam::evicted{1});
        }
    }
    EXPECT_EQ(ended.size(), many);
    EXPECT_LE(most, many) << "of all three members together";
    EXPECT_FALSE(told<seam::evicted>(id));
    pass(2s);
    ASSERT_TRUE(told<seam::evicted>(id));
    EXPECT_EQ(told<seam::evicted>(id)->count, many);
}

}  // namespace
}  // namespace holdfast::stores::quorum
