// What the drivers of the stores that compare share.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stores/compare/login.hpp"
#include "stores/compare/outbox.hpp"
#include "stores/compare/polled_driver.hpp"
#include "stores/compare/retry_pause.hpp"
#include "stores/compare/view_parts.hpp"
#include "stores/compare/watched_sessions.hpp"

namespace holdfast::stores::compare {

namespace {

using namespace std::chrono_literals;

/// Writes down what it is told.
struct listener final : driver_events {
    void on_outcome(ticket which, outcome what, reading /*when*/) override {
        heard.push_back("outcome " + std::to_string(static_cast<std::uint64_t>(which)) +
                        (std::holds_alternative<rejected>(what)  ? " rejected"
                         : std::holds_alternative<unknown>(what) ? " unknown"
                                                                 : ""));
    }
    void on_letter(session_id /*to*/, std::string body, stamp /*written*/) override {
        heard.push_back("letter " + body);
    }
    void on_gap() override { heard.emplace_back("gap"); }
    void on_doubt(std::string why) override { heard.push_back("doubt " + why); }
    void on_changed(name_key key) override { heard.push_back("changed " + key.name); }
    void on_session_end(session_id which) override {
        heard.push_back("end " + std::to_string(static_cast<std::uint64_t>(which)));
    }

    std::vector<std::string> heard;
};

void tell_all(outbox& out, listener& to) {
    pass_on(out.take(), to,
            [&](log_level, std::string const& text) { to.heard.push_back("log " + text); });
}

TEST(compare_outbox, everything_is_told_once_and_in_order) {
    outbox out;
    listener to;
    out.tell(ticket{1}, in_force{}, {});
    out.letter(session_id{1}, "a", stamp{});
    out.gap();
    out.doubt("b");
    out.changed({"c"});
    out.session_end(session_id{2});
    out.log(log_level::info, "d");
    out.fail(ticket{2}, base::error{errc::closed}, true);
    out.fail(ticket{3}, base::error{errc::closed}, false);
    tell_all(out, to);
    EXPECT_EQ(to.heard, (std::vector<std::string>{"outcome 1", "letter a", "gap", "doubt b",
                                                  "changed c", "end 2", "log d",
                                                  "outcome 2 rejected", "outcome 3 unknown"}));
    EXPECT_TRUE(out.is_empty());
}

TEST(compare_retry_pause, it_doubles_up_to_a_bound_until_something_succeeds) {
    retry_pause pause{20ms, 100ms};
    for (auto const expected : {20ms, 40ms, 80ms, 100ms, 100ms})
        EXPECT_EQ(pause.next(), expected);
    pause.reset();
    EXPECT_EQ(pause.next(), 20ms);
}

class compare_watched_sessions : public testing::Test {
protected:
    base::instant now_{base::instant{} + 1h};
    outbox out_;
    listener to_;
    watched_sessions watched_{out_};
};

TEST_F(compare_watched_sessions, one_is_looked_at_at_once_and_when_its_time_should_be_over) {
    session_id const id{7};
    watched_.add(id, now_);
    EXPECT_EQ(watched_.due(), now_);
    EXPECT_EQ(watched_.take_due(now_), std::vector{id});
    EXPECT_EQ(watched_.due(), base::never) << "it is being looked at";
    watched_.were_found({id}, watched_sessions::left{{id, 300ms}}, now_);
    EXPECT_EQ(watched_.due(), now_ + 301ms);
    EXPECT_TRUE(watched_.take_due(now_ + 300ms).empty());
    now_ += 301ms;
    EXPECT_EQ(watched_.take_due(now_), std::vector{id});
    watched_.were_found({id}, watched_sessions::left{}, now_);
    tell_all(out_, to_);
    EXPECT_EQ(to_.heard, std::vector<std::string>{"end 7"});
    EXPECT_EQ(watched_.due(), base::never);
}

TEST_F(compare_watched_sessions, no_answer_is_no_end) {
    session_id const id{7};
    watched_.add(id, now_);
    (void)watched_.take_due(now_);
    watched_.were_found({id}, std::nullopt, now_);
    EXPECT_TRUE(out_.is_empty());
    EXPECT_EQ(watched_.due(), now_ + 500ms);
}

TEST_F(compare_watched_sessions, one_that_lives_long_is_looked_at_now_and_then) {
    session_id const id{7};
    watched_.add(id, now_);
    (void)watched_.take_due(now_);
    watched_.were_found({id}, watched_sessions::left{{id, 1h}}, now_);
    EXPECT_EQ(watched_.due(), now_ + 2s);
}

TEST_F(compare_watched_sessions, one_that_is_not_watched_any_more_is_not_told) {
    session_id const id{7};
    watched_.add(id, now_);
    (void)watched_.take_due(now_);
    watched_.remove(id);
    watched_.were_found({id}, watched_sessions::left{}, now_);
    EXPECT_TRUE(out_.is_empty());
}

TEST(compare_view_parts, a_line_is_in_order_and_no_longer_than_it_was_asked_for) {
    auto const item = [](std::uint64_t number) {
        return line_item{.id = {seam::client_id{1}, number}, .place = number};
    };
    view found{.key = {"q"}, .line = {item(5), item(2), item(9), item(2), item(7)}};
    name_query const what{.key = {"q"}, .claims = {item(9).id, item(2).id}, .line = 2};
    arrange_line(found, what);
    ASSERT_EQ(found.line.size(), 2U);
    EXPECT_EQ(found.line[0].place, 2U);
    EXPECT_EQ(found.line[1].place, 5U);
    EXPECT_TRUE(found.more);
    ASSERT_EQ(found.others.size(), 1U);
    EXPECT_EQ(found.others[0].place, 9U);
}

TEST(compare_view_parts, what_stands_behind_a_prefix) {
    EXPECT_EQ(behind_prefix("ab"), "ac");
    EXPECT_EQ(behind_prefix("a\xff\xff"), "b");
    EXPECT_EQ(behind_prefix("\xff"), std::nullopt);
    EXPECT_EQ(behind_prefix(""), std::nullopt);
}

/// A driver that does nothing by itself.
class idle_driver final : public polled_driver {
public:
    idle_driver(driver_events& events, log_function log) : polled_driver{events, std::move(log)} {}

    driver_traits traits() const override { return {}; }
    void open(ticket which, session_id, std::chrono::milliseconds, std::string) override {
        answer(which);
    }
    void keep(ticket which, std::vector<session_id>) override { answer(which); }
    void raise(ticket which, session_id) override { answer(which); }
    void close(session_id) noexcept override {}
    void fetch(ticket which, query) override { answer(which); }
    void list(ticket which, listing) override { answer(which); }
    void commit(ticket which, step) override { answer(which); }
    void watch(ticket which, name_key) override { answer(which); }
    void unwatch(name_key) noexcept override {}
    void watch_session(session_id) override {}
    void unwatch_session(session_id) noexcept override {}

    int cuts{0};
    int wound_up{0};

private:
    void answer(ticket which) {
        base::lock_guard const guard{mutex_};
        if (enter(which)) out_.tell(which, in_force{}, {});
        settle();
    }
    void tend() override {}
    void take(std::span<net::poller::event const>) override {}
    base::instant next_due() const noexcept override { return base::never; }
    void wind_up() override HOLDFAST_REQUIRES(mutex_) {
        ++wound_up;
        EXPECT_EQ(cuts, 0) << "its connections are gone";
        EXPECT_TRUE(take_until([] { return true; }, now_));
        EXPECT_FALSE(take_until([] { return false; }, now_ + std::chrono::milliseconds{1}));
    }
    void cut() noexcept override { ++cuts; }
    void abandon() noexcept override {}
};

class compare_polled_driver : public testing::Test {
protected:
    listener to_;
    idle_driver driver_{to_, [](log_level, std::string const&) {}};
};

TEST_F(compare_polled_driver, what_was_answered_before_it_is_driven_ends_the_wait) {
    driver_.watch(ticket{1}, {"q"});
    driver_.drive(base::never);
    EXPECT_EQ(to_.heard, std::vector<std::string>{"outcome 1"});
}

TEST_F(compare_polled_driver, an_interruption_ends_the_present_or_the_next_wait) {
    driver_.interrupt();
    driver_.drive(base::never);
    EXPECT_TRUE(to_.heard.empty());
}

TEST_F(compare_polled_driver, a_time_that_has_passed_does_not_wait) {
    driver_.drive(base::instant{});
    EXPECT_TRUE(to_.heard.empty());
}

TEST_F(compare_polled_driver, after_its_end_every_call_is_rejected) {
    driver_.watch(ticket{1}, {"q"});
    driver_.shut();
    driver_.shut();
    EXPECT_EQ(driver_.cuts, 1);
    EXPECT_EQ(driver_.wound_up, 1);
    driver_.watch(ticket{2}, {"q"});
    driver_.drive(base::never);
    EXPECT_EQ(to_.heard, std::vector<std::string>{"outcome 2 rejected"});
}

}  // namespace

}  // namespace holdfast::stores::compare
