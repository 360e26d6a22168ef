// The engine on stores without a line, with several lanes, and that give other leases than were asked for.
#include <algorithm>
#include <string>
#include <vector>

#include "unit/engine_fixture.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

// Clients that poll would starve: nobody tells this one that they wait.
TEST_F(engine_test, who_locks_again_and_again_without_a_line_lets_others_try) {
    make_engine({.abilities = {.line = false}});
    auto const where = queue_for({.local_passes = 3});
    for (int i = 0; i < 3; ++i) {
        engine->release(take(where), now);
        settle_down();
    }
    waiting next{where};
    engine->begin(next.call, now);
    EXPECT_EQ(wanted<seam::submit>(), 0U);
    pass(50ms);
    EXPECT_EQ(next.call.outcome, verdict::granted);
    engine->release(next.call.held, now);
    settle_down();
    waiting attempt{where};
    attempt.call.wait = false;
    engine->begin(attempt.call, now);
    EXPECT_EQ(wanted<seam::submit>(), 1U) << "an attempt does not wait";
    settle_down();
}

TEST_F(engine_test, who_locks_now_and_then_without_a_line_does_not_wait) {
    make_engine({.abilities = {.line = false}});
    auto const where = queue_for({.local_passes = 3});
    for (int i = 0; i < 20; ++i) {
        engine->release(take(where), now);
        settle_down();
        pass(50ms);
    }
}

// Perhaps there is nobody: the pause is in proportion to the time that it has had.
TEST_F(engine_test, who_has_had_the_name_for_a_short_while_only_makes_a_short_pause) {
    make_engine({.abilities = {.line = false}});
    auto const where = queue_for({.local_passes = 3});
    for (int i = 0; i < 3; ++i) {
        engine->release(take(where), now);
        settle_down();
        now += 100us;
    }
    waiting next{where};
    engine->begin(next.call, now);
    EXPECT_EQ(wanted<seam::submit>(), 0U);
    pass(5ms);
    EXPECT_EQ(next.call.outcome, verdict::granted);
}

TEST_F(engine_test, who_finds_a_name_free_without_a_line_watches_nothing) {
    make_engine({.abilities = {.line = false}});
    (void)take(queue_for());
    waiting next{queue_for({}, "other")};
    engine->begin(next.call, now);
    EXPECT_EQ(wanted<seam::watch>(), 0U);
    settle_down();
    EXPECT_EQ(wanted<seam::unwatch>(), 0U);
}

TEST_F(engine_test, who_waits_without_a_line_watches_the_name_and_then_looks_at_it_once_more) {
    make_engine({.abilities = {.line = false}});
    auto const mine = take(queue_for({.order = ordering::fair}));
    waiting next{queue_for({.order = ordering::fair})};
    engine->begin(next.call, now);
    for (auto const& out : sent())
        engine->on_reply(out.id, carry_out(out), now);
    auto const again = sent();
    ASSERT_EQ(again.size(), 2U);
    EXPECT_TRUE(std::holds_alternative<seam::watch>(again[0].what));
    EXPECT_TRUE(std::holds_alternative<seam::submit>(again[1].what));
    for (auto const& out : again)
        engine->on_reply(out.id, carry_out(out), now);
    engine->release(mine, now);
    for (auto const& out : sent())
        engine->on_reply(out.id, carry_out(out), now);
    for (auto const& notice : take_notices())
        engine->on_notice(notice, now);
    EXPECT_EQ(wanted<seam::submit>(), 1U) << "it was told";
    for (auto const& out : sent())
        engine->on_reply(out.id, carry_out(out), now);
    EXPECT_EQ(next.call.outcome, verdict::granted);
    EXPECT_EQ(wanted<seam::unwatch>(), 1U) << "nobody waits any more";
    settle_down();
}

// The watch is for those who come after them, too, until the last one leaves.
TEST_F(engine_test, a_watch_lasts_as_long_as_anybody_of_the_queue_waits) {
    make_engine({.abilities = {.line = false}});
    auto const elsewhere = take(queue_for({.order = ordering::fair}));
    auto const where = queue_for({.local_passes = 1});
    waiting first{where};
    waiting second{where};
    waiting third{where};
    std::size_t watches = 0;
    std::size_t ends = 0;
    auto const answer_all = [&] {
        for (auto requests = sent(); !requests.empty(); requests = sent()) {
            watches += count_of<seam::watch>(requests);
            ends += count_of<seam::unwatch>(requests);
            for (auto const& out : requests)
                engine->on_reply(out.id, carry_out(out), now);
            for (auto const& notice : take_notices())
                engine->on_notice(notice, now);
        }
    };
    for (auto* const each : {&first, &second, &third})
        engine->begin(each->call, now);
    answer_all();
    engine->release(elsewhere, now);
    for (auto* const each : {&first, &second, &third}) {
        for (int i = 0; i < 100 && each->call.outcome == verdict::pending; ++i) {
            answer_all();
            pass(10ms, false);
        }
        ASSERT_EQ(each->call.outcome, verdict::granted);
        EXPECT_EQ(ends, each == &third ? 1U : 0U);
        engine->release(each->call.held, now);
    }
    answer_all();
    EXPECT_EQ(watches, 1U);
    EXPECT_EQ(ends, 1U);
}

TEST_F(engine_test, a_watch_ends_with_the_last_who_waits_also_when_a_request_has_failed_meanwhile) {
    make_engine({.abilities = {.line = false}});
    auto const elsewhere = take(queue_for({.order = ordering::fair}));
    waiting one{queue_for()};
    engine->begin(one.call, now);
    settle_down();
    waiting another{queue_for({}, "another")};
    engine->begin(another.call, now);
    fail_all();
    engine->withdraw(one.call, now);
    EXPECT_EQ(wanted<seam::unwatch>(), 1U);
    engine->withdraw(another.call, now);
    settle_down();
}

TEST_F(engine_test, without_local_passes_a_name_that_has_been_idle_is_taken_at_once) {
    make_engine({.abilities = {.line = false}});
    auto const where = queue_for({.local_passes = 0});
    for (int i = 0; i < 3; ++i) {
        engine->release(take(where), now);
        settle_down();
        pass(1s);
    }
}

TEST_F(engine_test, who_wants_deadlocks_to_be_found_is_refused_where_nobody_waits_at_the_store) {
    make_engine({.abilities = {.line = false}});
    waiting one{queue_for({.detect_deadlock = true})};
    engine->begin(one.call, now);
    EXPECT_EQ(one.call.outcome, verdict::failed);
    EXPECT_TRUE(one.call.error.is(errc::unsupported)) << one.call.error.text;
    EXPECT_TRUE(sent().empty());
}

TEST_F(engine_test, renewals_that_fail_are_repeated_by_the_lease_that_was_given) {
    waiting one{queue_for({.lease = 60s})};
    engine->begin(one.call, now);
    while (one.call.outcome == verdict::pending)
        for (auto const& out : sent()) {
            auto answer = carry_out(out);
            if (auto* const granted = std::get_if<seam::granted>(&answer.body))
                granted->held.lease = 4s;
            engine->on_reply(out.id, answer, now);
        }
    auto last = now;
    while (one.call.held->state(now) != lease_state::lost) {
        now = engine->next_due();
        engine->on_time(now);
        if (wanted<seam::renew>() > 0) {
            bool const first = last == base::instant{100h};
            EXPECT_TRUE(first || now - last <= 401ms) << (now - last).count();
            last = now;
        }
        fail_all();
    }
    EXPECT_LE(now - base::instant{100h}, 4s);
}

TEST_F(engine_test, a_settlement_that_waits_goes_on_waiting_where_its_name_has_moved) {
    constexpr auto most = settlement_window::most;
    std::string moved;
    make_engine({.abilities = {.lanes = true}, .lane_of = [&](std::string_view name) {
                     return seam::lane_id{name.starts_with("b") || name == moved ? 1U : 0U};
                 }});
    std::vector<std::shared_ptr<hold_state>> all;
    for (std::size_t i = 0; i <= most; ++i)
        all.push_back(take(queue_for({}, "a" + std::to_string(i))));
    for (std::size_t i = 0; i < most; ++i)
        all.push_back(take(queue_for({}, "b" + std::to_string(i))));
    for (auto const& held : all)
        engine->release(held, now);
    auto const under_way = sent();
    ASSERT_EQ(under_way.size(), 2 * most) << "one waits";
    moved = "a" + std::to_string(most);
    engine->on_reply(under_way.front().id, carry_out(under_way.front()), now);
    EXPECT_TRUE(sent().empty()) << "there is no place in its new lane";
    engine->on_reply(under_way.back().id, carry_out(under_way.back()), now);
    auto const next = sent();
    ASSERT_EQ(next.size(), 1U);
    EXPECT_EQ(std::get<seam::settle>(next.front().what).subject.name(), moved);
}

}  // namespace
}  // namespace holdfast::core
