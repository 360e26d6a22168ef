// Who the members of a quorum are: servers that are none of their own, members that are all new, and for how long one
// that has lost its data matters.
#include "quorum/machine_fixture.hpp"

namespace holdfast::stores::quorum {
namespace {

class quorum_machine_members : public quorum_machine {
protected:
    static bool is_about(base::error const& why, char const* one, char const* other) {
        return why.is(errc::bad_url) && why.text.find(one) != std::string::npos &&
               why.text.find(other) != std::string::npos;
    }
    /// Its answers are those of the server that is another member.
    void answer_as(std::size_t member, outgoing const& to, seam::reply_body body) {
        answer_by(clock_of(member), to, std::move(body));
    }
};

// "localhost,127.0.0.1,h3": the URL does not show it.
TEST_F(quorum_machine_members, one_server_under_two_names_is_refused) {
    auto const id = ask(seam::hello{});
    for (int turn = 0; turn < 5; ++turn, pass(400ms))
        for (auto const& each : machine_.take_outgoing()) {
            EXPECT_FALSE(is<seam::swap>(each)) << "none becomes a member";
            if (is<seam::read>(each)) answer_as(each.member / 2, each, seam::cell{});
        }
    ASSERT_TRUE(told<seam::failure>(id));
    auto const why = told<seam::failure>(id)->error;
    EXPECT_TRUE(is_about(why, "members a and b", "one server")) << why.text;
}

TEST_F(quorum_machine_members, that_come_to_be_one_server_give_nothing_until_it_is_put_right) {
    found();
    hold();
    auto const held = subject_;
    machine_.on_notice(1, seam::session_changed{.became = seam::session_changed::state::in_doubt},
                       now_);
    for (auto const& each : take<seam::read>())
        answer_as(0, each, seam::cell{1, records_[0]});
    auto const refused = ask(wanted());
    EXPECT_TRUE(take<seam::submit>().empty());
    ASSERT_TRUE(told<seam::failure>(refused));
    EXPECT_TRUE(is_about(told<seam::failure>(refused)->error, "members a and b", "one server"));

    // What is held lives as long as a majority of servers has it, not of names.
    auto const renewal = ask(seam::renew{.items = {{held, 10s}}});
    auto const asked = take<seam::renew>();
    ASSERT_EQ(asked.size(), 3U);
    answer(asked[0], alive());
    answer_as(0, asked[1], alive());
    EXPECT_FALSE(told<seam::renewed>(renewal)) << "one server has answered";
    answer(asked[2], alive());
    ASSERT_TRUE(told<seam::renewed>(renewal));
    EXPECT_EQ(told<seam::renewed>(renewal)->items[0].found, seam::renewal::status::alive);

    pass(1s);
    for (auto const& each : take<seam::read>())
        answer(each, seam::cell{1, records_[each.member]});
    auto const again = ask(wanted());
    auto const votes = take<seam::submit>();
    EXPECT_EQ(votes.size(), 3U);
    for (auto const& each : votes)
        answer(each, yes(each));
    EXPECT_TRUE(told<seam::granted>(again));
}

// A server that moves to another address while it is asked.
TEST_F(quorum_machine_members, a_server_has_one_vote_in_a_round) {
    found();
    hold();
    auto const id = ask(seam::renew{.items = {{subject_, 10s}}});
    auto const asked = take<seam::renew>();
    ASSERT_EQ(asked.size(), 3U);
    answer(asked[0], alive());
    ask(seam::hello{});
    for (auto const& each : take<seam::hello>())  // the first name is another server's by now
        if (each.member == 0) answer(each, seam::done{}, 9);
    answer_as(0, asked[1], alive());
    EXPECT_FALSE(told<seam::renewed>(id)) << "one server has answered";
    answer(asked[2], alive());
    ASSERT_TRUE(told<seam::renewed>(id));
}

// Whoever has known none of them cannot tell new members from those that have lost everything: docs/stores/quorum.md
// says what that asks of whoever runs them. Nobody may mend the one without seeing the other.
TEST_F(quorum_machine_members, that_all_lack_their_records_are_new_to_a_fresh_client) {
    ask(seam::hello{});
    for (auto const& each : take<seam::read>())
        answer(each, seam::cell{});
    auto const writes = take<seam::swap>();
    ASSERT_EQ(writes.size(), 3U);
    for (auto const& each : writes)
        EXPECT_EQ(read_record(std::get<seam::swap>(each.what).value)->votes_from,
                  seam::store_time{});
}

// One record is enough: that of the member that has been met since it came back, or has not been away.
TEST_F(quorum_machine_members, of_which_one_has_its_record_sit_out_for_a_fresh_client) {
    ask(seam::hello{});
    member_record const kept{.agreed = agreement::on({"a", "b", "c"}, 60s),
                             .clock = seam::clock_id{clock_of(2)}};
    std::size_t written = 0;
    for (int turn = 0; turn < 5; ++turn, pass(400ms))
        for (auto const& each : machine_.take_outgoing()) {
            if (is<seam::read>(each))
                answer(each, each.member == 2 ? seam::cell{1, write(kept)} : seam::cell{});
            if (!is<seam::swap>(each)) continue;
            ++written;
            EXPECT_GT(read_record(std::get<seam::swap>(each.what).value)->votes_from,
                      store_time_of(now_ + 1h + 60s));
        }
    EXPECT_EQ(written, 2U);
}

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
