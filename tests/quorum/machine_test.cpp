// The quorum's machine, request by request: what goes to which member, and what the asker is told.
#include "quorum/machine_fixture.hpp"

namespace holdfast::stores::quorum {
namespace {

TEST_F(quorum_machine, a_lease_begins_with_the_first_request) {
    found();
    auto const id = ask(wanted());
    auto const began = now_;
    auto const votes = take<seam::submit>();
    pass(5ms);
    answer(votes[2], yes(votes[2]));
    pass(5ms);
    answer(votes[0], yes(votes[0]));
    auto const held = told<seam::granted>(id);
    ASSERT_TRUE(held);
    EXPECT_EQ(held->held.began, store_time_of(began));
}

// As where claims end with a session of their client, whose last sign of life was before.
TEST_F(quorum_machine, a_lease_is_over_when_it_is_over_at_too_many_members) {
    found();
    auto const id = ask(wanted(10s));
    auto const began = now_;
    auto const votes = take<seam::submit>();
    auto const granted = [&](std::size_t by, std::chrono::milliseconds age,
                             std::chrono::milliseconds lease) {
        auto out = yes(votes[by]);
        out.held.began -= age;
        out.held.lease = lease;
        answer(votes[by], out);
    };
    granted(0, 6s, 10s);
    granted(2, 1s, 8s);
    auto const held = told<seam::granted>(id);
    ASSERT_TRUE(held);
    EXPECT_EQ(held->held.began, store_time_of(began - 6s));

    auto const renewal = ask(seam::renew{.items = {{subject_, 10s}}});
    auto const asked = take<seam::renew>();
    auto const renewed = [&](std::size_t by, std::chrono::milliseconds age) {
        auto out = alive();
        out.items[0].held.began -= age;
        answer(asked[by], out);
    };
    renewed(1, 2s);
    renewed(0, 0s);
    EXPECT_EQ(told<seam::renewed>(renewal)->items[0].held.began, store_time_of(began - 2s));
}

TEST_F(quorum_machine, a_grant_of_which_nothing_is_left_is_given_back) {
    found();
    auto const id = ask(wanted(100ms));
    auto const votes = take<seam::submit>();
    now_ += 97ms;  // the answers are there before the time-outs are looked at
    answer(votes[0], yes(votes[0]));
    answer(votes[1], yes(votes[1]));
    EXPECT_EQ(told<seam::refused>(id)->why, seam::refusal::too_late);
    EXPECT_EQ(take<seam::settle>().size(), 3U);
}

TEST_F(quorum_machine, a_claim_without_a_majority_is_ended_everywhere) {
    found();
    auto const id = ask(wanted());
    auto const votes = take<seam::submit>();
    answer(votes[0], yes(votes[0]));
    answer(votes[1], seam::refused{});
    pass(2s);  // the third is silent
    EXPECT_EQ(told<seam::refused>(id)->why, seam::refusal::busy);
    auto const ends = take<seam::settle>();
    ASSERT_EQ(ends.size(), 3U);
    for (auto const& each : ends) {
        auto const& end = std::get<seam::settle>(each.what);
        EXPECT_EQ(end.subject.id, std::get<seam::submit>(votes[0].what).subject.id);
        auto const& vote = std::get<seam::submit>(votes[each.member].what);
        EXPECT_EQ(end.tombstone_until,
                  each.member == 0 ? seam::store_time{} : vote.not_after);  // its ballot is there
    }
}

TEST_F(quorum_machine, busy_is_what_a_majority_says) {
    found();
    auto const id = ask(wanted());
    auto const votes = take<seam::submit>();
    seam::failure const down{base::error{errc::store_unavailable, "it is down"}};
    answer(votes[0], down);
    answer(votes[1], seam::refused{});
    EXPECT_FALSE(told<seam::refused>(id));
    answer(votes[2], down);
    ASSERT_TRUE(told<seam::failure>(id));
    EXPECT_TRUE(told<seam::failure>(id)->error.is(errc::store_unavailable));
}

TEST_F(quorum_machine, whoever_is_outvoted_votes_again_above_it) {
    found();
    auto const id = ask(wanted());
    auto const votes = take<seam::submit>();
    auto const mark = static_cast<std::uint64_t>(std::get<seam::submit>(votes[0].what).ballot) + 9;
    for (auto const& each : votes)
        answer(each, seam::refused{.why = seam::refusal::outvoted, .ballot = seam::sequence{mark}});
    auto const again = take<seam::submit>();
    ASSERT_EQ(again.size(), 3U);
    EXPECT_EQ(std::get<seam::submit>(again[0].what).ballot, seam::sequence{mark + 1});
    answer(again[0], yes(again[0]));
    answer(again[2], yes(again[2]));
    EXPECT_EQ(told<seam::granted>(id)->held.number, seam::sequence{mark + 1});
}

TEST_F(quorum_machine, what_a_minority_still_holds_is_not_given_away_before_the_holder_knows) {
    found();
    hold();
    auto const id = ask(seam::renew{.items = {{subject_, 10s}}});
    auto const asked = take<seam::renew>();
    ASSERT_EQ(asked.size(), 3U);
    seam::renewed const gone{{{}}};
    answer(asked[0], alive());
    answer(asked[1], gone);
    answer(asked[2], gone);
    EXPECT_EQ(told<seam::renewed>(id)->items.front().found, seam::renewal::status::gone);
    EXPECT_TRUE(take<seam::settle>().empty());
    ask(seam::settle{.subject = subject_});
    EXPECT_EQ(take<seam::settle>().size(), 3U);
}

TEST_F(quorum_machine, a_member_is_repaired_only_while_a_majority_holds) {
    found();
    hold();
    seam::renewed const gone{{{}}};
    ask(seam::renew{.items = {{subject_, 10s}}});
    answer(take<seam::renew>()[2], gone);
    pass(3s);
    ask(seam::renew{.items = {{subject_, 10s}}});
    auto const asked = take<seam::renew>();
    answer(asked[2], gone);
    answer(asked[0], alive());
    EXPECT_TRUE(take<seam::submit>().empty());
    answer(asked[1], alive());
    auto const repairs = take<seam::submit>();
    ASSERT_EQ(repairs.size(), 1U);
    EXPECT_EQ(repairs[0].member, 2U);
    EXPECT_TRUE(std::get<seam::submit>(repairs[0].what).repairs);
}

TEST_F(quorum_machine, a_member_that_begins_anew_has_no_vote) {
    found();
    auto const id = ask(wanted());
    auto const votes = take<seam::submit>();
    answer(votes[0], yes(votes[0]));
    answer(votes[1], seam::failure{base::error{errc::store_unavailable}}, 8);
    answer(votes[2], seam::refused{});
    EXPECT_TRUE(told<seam::refused>(id));
    auto const next = ask(wanted());
    for (auto const& each : take<seam::submit>())
        EXPECT_NE(each.member, 1U);
    EXPECT_FALSE(told<seam::granted>(next));
}

// A server that has lost its data may have the clock that it had.
TEST_F(quorum_machine, after_a_lost_connection_the_record_is_read_before_a_vote_counts) {
    found();
    for (bool const kept : {true, false}) {
        SCOPED_TRACE(kept);
        auto const id = ask(wanted());
        auto const votes = take<seam::submit>();
        answer(votes[0], yes(votes[0]));
        answer(votes[2], seam::refused{});
        machine_.on_notice(
            1, seam::session_changed{.became = seam::session_changed::state::restored}, now_);
        auto const reads = take<seam::read>();
        ASSERT_EQ(reads.size(), 1U);
        answer(votes[1], yes(votes[1]));
        EXPECT_FALSE(told<seam::granted>(id));
        answer(reads[0], kept ? seam::cell{1, records_[1]} : seam::cell{});
        EXPECT_EQ(told<seam::granted>(id).has_value(), kept);
        EXPECT_EQ(told<seam::refused>(id).has_value(), !kept);
        if (kept) {
            ask(seam::settle{.subject = subject_});
            for (auto const& each : take<seam::settle>())
                answer(each, seam::settled{seam::ending::released});
        }
    }
}

TEST_F(quorum_machine, who_asks_while_records_are_read_again_waits_for_them) {
    found();
    for (std::size_t i = 0; i < 3; ++i)
        machine_.on_notice(
            i, seam::session_changed{.became = seam::session_changed::state::restored}, now_);
    auto const reads = take<seam::read>();
    ASSERT_EQ(reads.size(), 3U);
    auto const id = ask(wanted());
    auto const votes = take<seam::submit>();
    ASSERT_EQ(votes.size(), 3U) << "nothing is wrong with any of them";
    for (auto const& each : votes)
        answer(each, yes(each));
    EXPECT_FALSE(told<seam::granted>(id));
    for (auto const& each : reads)
        answer(each, seam::cell{1, records_[each.member]});
    EXPECT_TRUE(told<seam::granted>(id));
}

TEST_F(quorum_machine, all_members_without_a_record_sit_out_when_they_had_one) {
    found();
    ask(wanted());
    for (auto const& each : take<seam::submit>())
        answer(each, seam::failure{base::error{errc::store_unavailable}}, 8);
    for (auto const& each : take<seam::read>())
        answer(each, seam::cell{}, 8);
    auto const writes = take<seam::swap>();
    ASSERT_EQ(writes.size(), 3U);
    for (auto const& each : writes)
        EXPECT_GT(read_record(std::get<seam::swap>(each.what).value)->votes_from,
                  store_time_of(now_ + 1h + 50s));
}

TEST_F(quorum_machine, a_client_that_names_other_servers_gives_no_record) {
    auto const id = ask(seam::hello{});
    member_record const other{.agreed = agreement::on({"a", "b", "d"}, 60s)};
    for (int turn = 0; turn < 5; ++turn, pass(400ms))
        for (auto const& each : take<seam::read>())
            answer(each, each.member == 2 ? seam::cell{} : seam::cell{1, write(other)});
    EXPECT_EQ(told<seam::failure>(id)->error.code, make_error_code(errc::limit_mismatch));
    EXPECT_TRUE(take<seam::swap>().empty());
}

}  // namespace
}  // namespace holdfast::stores::quorum
