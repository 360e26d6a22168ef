// What a client of the stores that compare does when an answer is missing, refused, late or cannot be read.
#include <memory>
#include <vector>

#include "stores/compare/name_operation.hpp"
#include "unit/compare_fixture.hpp"

namespace holdfast::stores::compare {
namespace {

class compare_doubt : public machine_fixture {
protected:
    /// The name, held by the claim as its client wrote it, with these in its line.
    [[nodiscard]] view held_by(seam::claim const& subject, session_id session, std::uint64_t secret,
                               std::vector<line_item> line) const {
        head_state head;
        auto& holder = head.holders.emplace_back();
        holder.subject = subject;
        holder.session = session;
        holder.secret = secret;
        holder.number = seam::sequence{7};
        holder.held = true;
        return {.key = {"n"},
                .written = stamp{500},
                .body = write_head(head, {.now = at(now_), .shown = at(now_)}),
                .line = std::move(line),
                .sessions = {{.id = session, .alive = true, .expires = at(now_ + 30s)}}};
    }
    [[nodiscard]] static view unreadable(std::string name = "n") {
        return {.key = {std::move(name)}, .written = stamp{900}, .body = "2 of a later version"};
    }
};

TEST_F(compare_doubt, too_late_is_answered_with_the_time_at_which_it_was) {
    hold(claim(1, 30s, "other"), true);
    now_ += 8s;
    submit(claim(2, 30s));
    answer(next("commit"), fenced{.too_late = true});
    auto const late = reply();
    ASSERT_TRUE(std::holds_alternative<seam::refused>(late.body));
    EXPECT_EQ(late.now, at(now_)) << "an older time would prolong every hold that is judged by it";
}

TEST_F(compare_doubt, what_is_given_up_is_fenced_off_in_the_session_that_it_was_sent_in) {
    hold(claim(1, 5s, "other"), true);
    auto const mine = claim(2, 30s);
    submit(mine);
    open_session();
    auto const sent = next("commit");
    answer(sent, unknown{});
    EXPECT_TRUE(std::holds_alternative<seam::failure>(reply().body));
    ask(seam::settle{.subject = mine});
    auto const raising = next("raise");
    EXPECT_EQ(raising.session, sent.session);
    answer(raising, raised{stamp{++stamps_}});
    answer(next("fetch"), views{.found = {view{.key = {"n"}}}});
    EXPECT_TRUE(std::holds_alternative<seam::settled>(reply().body));
}

TEST_F(compare_doubt, what_is_let_in_and_given_up_by_one_step_is_no_grant) {
    auto const mine = claim(1, 30s);
    submit(mine);
    open_session();
    auto const first = next("commit");
    auto item = first.what.append_otherwise.at(0);
    item.place = 10;
    view const free{.key = {"n"}, .line = {item}};
    answer(first, missed{.found = free});
    submit(mine);  // once more, as after a time without an answer
    answer(next("commit"), fenced{.too_late = true});
    answer(next("fetch"), views{.found = {free}});
    auto const leaving = next("commit");
    EXPECT_EQ(leaving.what.leave.size(), 1U);
    answer(leaving, committed{.written = stamp{++stamps_}});
    auto const made = machine_.take_results();
    EXPECT_TRUE(made.notices.empty()) << "at the store nobody holds";
}

// A look that is late, or a copy of a step from before, shows the claim as it was in a life that has ended.
TEST_F(compare_doubt, only_what_knows_the_secret_and_the_session_of_a_claim_is_its_grant) {
    driver_.has.pushes = false;
    auto const mine = claim(1, 30s);
    auto theirs = claim(5, 30s);
    theirs.id.client = seam::client_id{8};
    session_id const other{99};
    submit(mine);
    open_session();
    auto const first = next("commit");
    auto item = first.what.append_otherwise.at(0);
    item.place = 10;
    answer(first, missed{.found = held_by(theirs, other, 1, {item})});
    while (!driver_.calls.empty())  // the letter to the holder
        answer(next("commit"), committed{.written = stamp{++stamps_}});
    ASSERT_TRUE(std::holds_alternative<seam::queued>(reply().body));
    auto const known = read_waiter({"n"}, item, {});
    auto const look_shows = [&](session_id session, std::uint64_t secret) {
        now_ += 1s;
        machine_.on_time();
        answer(next("fetch"), views{.found = {held_by(mine, session, secret, {})}});
        return std::ranges::any_of(machine_.take_results().notices, [](seam::notice const& each) {
            return std::holds_alternative<seam::claim_granted>(each);
        });
    };
    EXPECT_FALSE(look_shows(known.session, known.secret + 1)) << "an earlier one of this session";
    EXPECT_FALSE(look_shows(other, known.secret)) << "one of a session that is dead";
    EXPECT_TRUE(look_shows(known.session, known.secret));
}

TEST_F(compare_doubt, a_session_is_dead_when_raising_it_says_so) {
    hold(claim(1, 30s, "a"), true);
    submit(claim(2, 30s, "b"));
    auto const first = next("commit");
    submit(claim(3, 30s, "c"));
    auto const second = next("commit");
    answer(first, unknown{});
    (void)reply();
    submit(claim(4, 30s, "d"));
    auto const raising = next("raise");
    answer(second, fenced{});  // by that, and heard before it
    EXPECT_FALSE(told_of_loss()) << "the session lives";
    answer(raising, raised{stamp{++stamps_}});
    EXPECT_FALSE(told_of_loss());
    auto const last = next("commit");
    EXPECT_EQ(last.what.of, stamp{stamps_}) << "in the present generation";
    (void)next("fetch");  // what was fenced is looked for
    answer(last, fenced{});
    answer(next("raise"), fenced{});
    EXPECT_TRUE(told_of_loss()) << "now it is";
}

TEST_F(compare_doubt, a_name_that_cannot_be_read_fails_alone) {
    auto const held = claim(1, 30s, "a");
    hold(held, true);
    submit(claim(2, 30s));
    answer(next("commit"), missed{.found = unreadable()});
    EXPECT_TRUE(std::holds_alternative<seam::failure>(reply().body));
    machine_.on_gap();
    ask(seam::renew{.items = {{held, 30s}}});
    answer(next("keep"), std::vector<kept>{{.id = session_id{}, .found = kept::state::unknown}});
    auto const renewed = reply();
    ASSERT_TRUE(std::holds_alternative<seam::renewed>(renewed.body));
    ask(seam::read{{lock_kind::latch, "n", {}}});
    answer(next("fetch"), views{.found = {unreadable()}});
    EXPECT_TRUE(std::holds_alternative<seam::failure>(reply().body));
}

TEST_F(compare_doubt, a_cell_is_read_whoever_waits_for_the_name) {
    judging context{.when = {.now = at(now_)}, .self = std::make_shared<seam::identity>()};
    view seen{.key = {"n"}, .more = true};
    seen.line = {waiter_of({.subject = claim(5, 30s), .queue = true}, context)};
    ask(seam::read{{lock_kind::barrier, "n", {}}});
    answer(next("fetch"), views{.found = {seen}});
    EXPECT_TRUE(std::holds_alternative<seam::cell>(reply().body));
}

TEST_F(compare_doubt, a_minimum_hold_lasts_from_the_release_on) {
    auto const mine = claim(1, 30s);
    hold(mine, true);
    now_ += 8s;  // the store told its time last when it granted
    ask(seam::settle{.subject = mine, .keep_for = 2s});
    auto const sent = next("commit");
    ASSERT_TRUE(sent.what.head);
    auto const head = read_head({"n"}, sent.what.head->body, stamp{1}, {});
    ASSERT_EQ(head.holders.size(), 1U);
    EXPECT_GE(head.holders.front().end.at, at(now_ + 2s));
}

TEST_F(compare_doubt, a_session_that_died_is_closed_at_the_driver) {
    hold(claim(1, 30s), true);
    now_ += 25s;
    submit(claim(2, 30s, "m"));
    auto const keeping = next("keep");
    answer(keeping,
           std::vector<kept>{{.id = keeping.session, .found = kept::state::dead, .began = {}}});
    EXPECT_EQ(driver_.closed, std::vector{keeping.session});
}

// It would live on for its lease.
TEST_F(compare_doubt,
       a_session_of_which_it_is_not_known_whether_it_was_opened_is_closed_with_the_client) {
    submit(claim(1, 30s));
    auto const opening = next("open");
    answer(opening, unknown{{errc::store_unavailable, "no answer"}});
    machine_.close();
    EXPECT_EQ(driver_.closed, std::vector{opening.session});
}

TEST_F(compare_doubt, sessions_of_many_lengths_do_not_gather) {
    for (int seconds = 1; seconds <= 40; ++seconds) {
        auto const mine = claim(100U + static_cast<unsigned>(seconds),
                                std::chrono::seconds{seconds}, "n" + std::to_string(seconds));
        hold(mine, true);
        ask(seam::settle{.subject = mine});
        answer(next("commit"), committed{.written = stamp{++stamps_}});
        (void)reply();
        now_ += 31s;
    }
    EXPECT_GE(driver_.closed.size(), 30U);
}

}  // namespace
}  // namespace holdfast::stores::compare
