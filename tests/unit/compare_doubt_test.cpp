// What a client of the stores that compare does when an answer is missing, refused, late or cannot be read.
#include <deque>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "stores/compare/machine.hpp"
#include "stores/compare/name_operation.hpp"

namespace holdfast::stores::compare {
namespace {

using namespace std::chrono_literals;

seam::store_time at(std::chrono::microseconds since) { return seam::store_time{since}; }

/// Keeps what it was asked for until the test answers.
class scripted_driver final : public driver {
public:
    struct call {
        char const* verb;
        ticket which{};
        session_id session{};
        step what{};
    };
    std::deque<call> calls;
    std::vector<session_id> closed;
    bool pushes{true};

    driver_traits traits() const override { return {.pushes = pushes}; }
    void open(ticket which, session_id id, std::chrono::milliseconds, std::string) override {
        calls.push_back({"open", which, id, {}});
    }
    void keep(ticket which, std::vector<session_id> ids) override {
        calls.push_back({"keep", which, ids.front(), {}});
    }
    void raise(ticket which, session_id id) override { calls.push_back({"raise", which, id, {}}); }
    void close(session_id id) noexcept override { closed.push_back(id); }
    void fetch(ticket which, query) override { calls.push_back({"fetch", which, {}, {}}); }
    void list(ticket which, listing) override { calls.push_back({"list", which, {}, {}}); }
    void commit(ticket which, step what) override {
        auto const self = what.self;
        calls.push_back({"commit", which, self, std::move(what)});
    }
    void watch(ticket which, name_key) override { calls.push_back({"watch", which, {}, {}}); }
    void unwatch(name_key) noexcept override {}
    void watch_session(session_id) override {}
    void unwatch_session(session_id) noexcept override {}
    void drive(base::instant) override {}
    void interrupt() noexcept override {}
    void shut() noexcept override {}
    int descriptor() noexcept override { return -1; }
};

class compare_doubt : public testing::Test {
protected:
    [[nodiscard]] static seam::claim claim(std::uint64_t number, std::chrono::seconds lease,
                                           std::string name = "n") {
        auto spec = std::make_shared<seam::claim_spec>();
        spec->name = std::move(name);
        spec->lease = lease;
        return {.spec = spec, .id = {seam::client_id{7}, number}, .actor = seam::actor_id{9}};
    }

    void ask(seam::request what) { machine_.take(seam::request_id{++requests_}, what); }
    void submit(seam::claim const& subject) {
        ask(seam::submit{.subject = subject, .queue = true, .not_after = seam::store_time::max()});
    }

    /// The call that was made first, which must be of this kind.
    scripted_driver::call next(std::string const& verb) {
        EXPECT_FALSE(driver_.calls.empty()) << "no " << verb;
        if (driver_.calls.empty()) return {"nothing"};
        auto out = std::move(driver_.calls.front());
        driver_.calls.pop_front();
        EXPECT_EQ(out.verb, verb);
        return out;
    }
    void answer(scripted_driver::call const& to, outcome what) {
        machine_.on_outcome(to.which, std::move(what), {at(now_), seam::clock_id{}});
    }
    void open_session() {
        answer(next("open"), opened{.current = stamp{++stamps_}, .lease = 30s, .began = at(now_)});
    }
    /// Takes a free name.
    void hold(seam::claim const& subject, bool opens) {
        submit(subject);
        if (opens) open_session();
        answer(next("commit"), committed{.written = stamp{++stamps_}});
        EXPECT_TRUE(std::holds_alternative<seam::granted>(reply().body));
    }
    [[nodiscard]] seam::reply reply() {
        auto made = machine_.take_results();
        EXPECT_EQ(made.replies.size(), 1U);
        for (auto const& notice : made.notices)
            told_.push_back(notice);
        return made.replies.empty() ? seam::reply{} : made.replies.front().second;
    }
    [[nodiscard]] bool told_of_loss() {
        for (auto const& notice : machine_.take_results().notices)
            told_.push_back(notice);
        return std::ranges::any_of(told_, [](seam::notice const& each) {
            auto const* const changed = std::get_if<seam::session_changed>(&each);
            return changed != nullptr && changed->became == seam::session_changed::state::lost;
        });
    }
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

    std::chrono::microseconds now_{100s};
    std::uint64_t requests_{0};
    std::uint64_t stamps_{0};
    std::uint64_t draws_{0};
    scripted_driver driver_;
    std::vector<seam::notice> told_;
    machine machine_{driver_,
                     {.self =
                          [] {
                              auto self = std::make_shared<seam::identity>();
                              self->id = seam::client_id{7};
                              return self;
                          }(),
                      .clocks = {.boot = [this] { return base::instant{now_}; },
                                 .wall = [this] { return now_.count(); }},
                      .entropy = [this] { return ++draws_; },
                      .log = [](log_level, std::string const&) {}}};
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
    driver_.pushes = false;
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
