// The quorum's machine when members forget, disagree, fall silent or come late.
#include <algorithm>

#include "quorum/machine_fixture.hpp"

namespace holdfast::stores::quorum {
namespace {

class quorum_machine_faults : public quorum_machine {
protected:
    void reconnect(std::size_t member) {
        machine_.on_notice(
            member, seam::session_changed{.became = seam::session_changed::state::restored}, now_);
    }
    void release() {
        ask(seam::settle{.subject = subject_});
        for (auto const& each : take<seam::settle>())
            if (each.member != 2) answer(each, seam::settled{seam::ending::released});
    }
    void answer_hellos() {
        for (auto const& each : take<seam::hello>())
            answer(each, seam::done{});
        pass(1500ms);
    }
    /// The member that was silent answers a vote: so many ends it is asked for then.
    std::size_t paid_by_the_third() {
        ask(wanted());
        auto const votes = take<seam::submit>();
        answer(votes[2], seam::refused{});
        return take<seam::settle>().size();
    }
    static seam::page page_with(std::optional<claim_mode> held) {
        seam::page out;
        seam::listed name;
        name.name = "q";
        if (held) name.holders.push_back({.mode = *held});
        out.names.push_back(std::move(name));
        return out;
    }
    bool told_of_change() {
        return std::ranges::any_of(machine_.take_results().notices, [](auto const& each) {
            return std::holds_alternative<seam::changed>(each);
        });
    }

    static constexpr auto alive_ = seam::renewal::status::alive;
    seam::cell_key const key_{lock_kind::lock, "q", std::string{seam::holders_part}};
};

// The record is read in one trip, and a vote may take several.
TEST_F(quorum_machine_faults,
       a_vote_that_is_heard_after_the_record_was_found_missing_does_not_count) {
    found();
    auto const id = ask(wanted());
    auto const votes = take<seam::submit>();
    answer(votes[2], yes(votes[2]));
    reconnect(1);
    auto const reads = take<seam::read>();
    ASSERT_EQ(reads.size(), 1U);
    answer(reads[0], seam::cell{});
    answer(votes[1], yes(votes[1]));
    EXPECT_FALSE(told<seam::granted>(id));
    answer(votes[0], seam::refused{});
    EXPECT_FALSE(told<seam::granted>(id));
    auto const ends = take<seam::settle>();
    auto const end = std::ranges::find(ends, 1U, &outgoing::member);
    ASSERT_NE(end, ends.end());
    EXPECT_EQ(std::get<seam::settle>(end->what).tombstone_until,
              std::get<seam::submit>(votes[1].what).not_after);
}

TEST_F(quorum_machine_faults, what_is_said_while_the_record_cannot_be_read_counts_for_nothing) {
    found();
    auto const id = ask(wanted());
    auto const votes = take<seam::submit>();
    answer(votes[0], yes(votes[0]));
    reconnect(1);
    auto const reads = take<seam::read>();
    answer(votes[1], yes(votes[1]));
    answer(reads[0], seam::failure{base::error{errc::access_denied, "no right"}});
    answer(votes[2], seam::refused{});
    EXPECT_FALSE(told<seam::granted>(id));
    EXPECT_TRUE(told<seam::refused>(id));
}

TEST_F(quorum_machine_faults, a_second_vote_for_which_nobody_can_be_asked_is_answered) {
    found();
    auto const id = ask(wanted());
    auto const votes = take<seam::submit>();
    auto const mark = std::get<seam::submit>(votes[0].what).ballot;
    constexpr std::uint64_t began_anew = 8;
    answer(votes[2], seam::failure{base::error{errc::store_unavailable}}, began_anew);
    for (std::size_t i = 0; i < 2; ++i)
        answer(votes[i], seam::refused{.why = seam::refusal::outvoted, .ballot = mark}, began_anew);
    EXPECT_TRUE(take<seam::submit>().empty());
    ASSERT_TRUE(told<seam::failure>(id));
    EXPECT_TRUE(told<seam::failure>(id)->error.is(errc::store_unavailable));
}

TEST_F(quorum_machine_faults, a_member_that_settles_late_is_not_asked_again) {
    found();
    hold();
    ask(seam::settle{.subject = subject_});
    auto const ends = take<seam::settle>();
    ASSERT_EQ(ends.size(), 3U);
    answer(ends[0], seam::settled{seam::ending::released});
    answer(ends[1], seam::settled{seam::ending::released});
    pass(3s);
    answer(ends[2], seam::settled{seam::ending::released});
    EXPECT_TRUE(take<seam::settle>().empty());
}

TEST_F(quorum_machine_faults, a_member_that_was_away_is_paid_a_few_at_a_time) {
    found();
    constexpr int many = 100;
    for (int i = 0; i < many; ++i) {
        hold();
        release();
    }
    pass(3s);  // so that the third is owed all of them
    EXPECT_TRUE(take<seam::settle>().empty());
    ask(wanted());
    auto const votes = take<seam::submit>();
    answer(votes[2], seam::refused{});
    auto under_way = take<seam::settle>();
    std::size_t paid = 0;
    for (int trip = 0; !under_way.empty() && trip < many; ++trip) {
        EXPECT_LE(under_way.size(), 32U);
        paid += under_way.size();
        std::vector<outgoing> next;
        for (auto const& each : under_way) {
            answer(each, seam::settled{seam::ending::gone});
            for (auto& more : take<seam::settle>())
                next.push_back(std::move(more));
        }
        under_way = std::move(next);
    }
    EXPECT_EQ(paid, many);
}

TEST_F(quorum_machine_faults, a_member_is_owed_one_end_of_a_claim_that_is_settled_again_and_again) {
    found();
    hold();
    for (int tries = 0; tries < 3; ++tries) {
        auto const id = ask(seam::settle{.subject = subject_});
        auto const ends = take<seam::settle>();
        ASSERT_EQ(ends.size(), 3U);
        answer(ends[0], seam::settled{tries == 0 ? seam::ending::released : seam::ending::gone});
        pass(3s);
        ASSERT_TRUE(told<seam::failure>(id));
    }
    EXPECT_EQ(paid_by_the_third(), 1U);
}

// It stands with the lease that it had first: in a session of the client, or because the renewal was not heard.
TEST_F(quorum_machine_faults, an_end_is_owed_for_the_longest_lease_that_the_claim_had) {
    found();
    hold();
    ask(seam::renew{.items = {{subject_, 1s}}});
    for (auto const& each : take<seam::renew>())
        if (each.member != 2) answer(each, alive());
    release();
    pass(10s);
    EXPECT_EQ(paid_by_the_third(), 1U);
}

// What is asked of it keeps the session alive, also when the answers are lost.
TEST_F(quorum_machine_faults, an_end_is_owed_until_it_is_answered_where_claims_live_with_sessions) {
    found();
    machine_.expect_sessions(2);
    hold();
    release();
    pass(1h);
    hold();
    release();  // what is over is looked for when something else is owed
    pass(1h);
    EXPECT_EQ(paid_by_the_third(), 2U);
}

TEST_F(quorum_machine_faults, a_member_of_another_quorum_stops_nobody_while_a_majority_agrees) {
    found();
    reconnect(2);
    member_record const other{.agreed = agreement::on({"a", "b", "d"}, 60s)};
    auto reads = take<seam::read>();
    ASSERT_EQ(reads.size(), 1U);
    answer(reads[0], seam::cell{2, write(other)});
    auto const id = ask(wanted());
    auto const votes = take<seam::submit>();
    ASSERT_EQ(votes.size(), 2U);
    for (auto const& each : votes)
        answer(each, yes(each));
    EXPECT_TRUE(told<seam::granted>(id));

    reconnect(1);
    reads = take<seam::read>();
    answer(reads[0], seam::cell{2, write(other)});
    auto const refused = ask(wanted());
    ASSERT_TRUE(told<seam::refused>(refused));
    EXPECT_EQ(told<seam::refused>(refused)->why, seam::refusal::limit_mismatch);
    EXPECT_NE(told<seam::refused>(refused)->text.find("another quorum"), std::string::npos);

    pass(1s);  // somebody has put it right
    for (auto const& each : take<seam::read>())
        answer(each, seam::cell{3, records_[each.member]});
    auto const again = ask(wanted());
    for (auto const& each : take<seam::submit>())
        answer(each, yes(each));
    EXPECT_TRUE(told<seam::granted>(again));
}

// It goes by, so that whoever waits asks again.
TEST_F(quorum_machine_faults, an_outage_beside_a_member_of_another_quorum_is_an_outage) {
    found();
    reconnect(1);
    reconnect(2);
    member_record const other{.agreed = agreement::on({"a", "b", "d"}, 60s)};
    auto const reads = take<seam::read>();
    ASSERT_EQ(reads.size(), 2U);
    answer(reads[0], seam::cell{2, write(other)});
    answer(reads[1], seam::failure{base::error{errc::store_unavailable, "nobody listens there"}});
    auto const id = ask(wanted());
    auto const hello = ask(seam::hello{});
    answer_hellos();
    for (auto const each : {id, hello}) {
        ASSERT_TRUE(told<seam::failure>(each));
        auto const why = told<seam::failure>(each)->error;
        EXPECT_TRUE(why.is(errc::store_unavailable)) << why.text;
        EXPECT_NE(why.text.find("another quorum"), std::string::npos) << why.text;
        EXPECT_NE(why.text.find("nobody listens there"), std::string::npos) << why.text;
    }
}

// Nobody gives the others a record while the URL may be wrong.
TEST_F(quorum_machine_faults, new_members_beside_one_of_another_quorum_are_a_mistake) {
    auto const id = ask(seam::hello{});
    member_record const other{.agreed = agreement::on({"a", "x", "y"}, 60s)};
    for (int turn = 0; turn < 5; ++turn, pass(400ms))
        for (auto const& each : machine_.take_outgoing()) {
            EXPECT_FALSE(is<seam::swap>(each));
            if (is<seam::read>(each))
                answer(each, each.member == 0 ? seam::cell{1, write(other)} : seam::cell{});
        }
    ASSERT_TRUE(told<seam::failure>(id));
    EXPECT_TRUE(told<seam::failure>(id)->error.is(errc::limit_mismatch));
}

TEST_F(quorum_machine_faults, one_undecided_claim_keeps_no_renewal_back_beyond_the_lease) {
    found();
    auto const first = ask(wanted(3s));
    auto votes = take<seam::submit>();
    for (auto const& each : votes)
        answer(each, yes(each));
    ASSERT_TRUE(told<seam::granted>(first));
    auto const sure = subject_;
    auto const second = ask(wanted(3s));
    votes = take<seam::submit>();
    answer(votes[0], yes(votes[0]));
    answer(votes[1], seam::refused{});
    answer(votes[2], yes(votes[2]));
    ASSERT_TRUE(told<seam::granted>(second));
    pass(1s);
    auto const id = ask(seam::renew{.items = {{sure, 3s}, {subject_, 3s}}});
    auto const asked = take<seam::renew>();
    seam::renewal const held{.found = alive_, .held = {.began = store_time_of(now_ + 1h)}};
    answer(asked[0], seam::renewed{{held, held}});
    answer(asked[1], seam::renewed{{held, {}}});
    pass(1800ms);  // the third is silent, and the lease of both ends soon
    auto const renewed = told<seam::renewed>(id);
    ASSERT_TRUE(renewed);
    EXPECT_EQ(renewed->items[0].found, alive_);
    EXPECT_EQ(renewed->items[1].found, seam::renewal::status::unknown);
}

TEST_F(quorum_machine_faults, a_hold_that_runs_out_is_forgotten_and_ended) {
    found();
    hold();
    pass(15s);
    EXPECT_TRUE(take<seam::settle>().empty());
    pass(15s);
    EXPECT_EQ(take<seam::settle>().size(), 3U) << "in a session of the client it would live on";
    auto const id = ask(seam::settle{.subject = subject_});
    EXPECT_EQ(told<seam::settled>(id)->how, seam::ending::gone);
}

// A waits. B had one of two members when A looked, and gave it back: the other one has nothing more to tell.
TEST_F(quorum_machine_faults, a_member_that_was_free_already_counts_with_one_that_becomes_free) {
    found();
    ask(seam::watch{key_});
    for (auto const& each : take<seam::watch>())
        if (each.member != 2) answer(each, seam::done{});
    auto const look = [&] {
        pass(1s);
        auto out = take<seam::inspect>();
        std::erase_if(out, [](outgoing const& each) { return each.member == 2; });
        return out;
    };
    machine_.on_notice(0, seam::changed{key_}, now_);
    machine_.on_notice(1, seam::changed{key_}, now_);
    auto looks = look();
    ASSERT_EQ(looks.size(), 2U);
    answer(looks[0], page_with(claim_mode::exclusive));
    answer(looks[1], page_with(std::nullopt));
    pass(60s);
    EXPECT_FALSE(told_of_change());
    machine_.on_notice(0, seam::changed{key_}, now_);
    looks = look();
    ASSERT_EQ(looks.size(), 2U) << "nobody looks";
    for (auto const& each : looks)
        answer(each, page_with(std::nullopt));
    EXPECT_TRUE(told_of_change());
}

}  // namespace
}  // namespace holdfast::stores::quorum
