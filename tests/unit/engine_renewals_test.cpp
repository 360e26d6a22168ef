// How an engine renews very many claims at once: a bounded number of requests under way, the most urgent first.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/renewal_window.hpp"
#include "unit/engine_fixture.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

class engine_renewals_test : public engine_test {
protected:
    static constexpr std::size_t batch = 512;
    static constexpr std::size_t many = 3 * renewal_window::most * batch;

    using holds = std::vector<std::shared_ptr<hold_state>>;

    holds take_many(lock_options const& options, std::size_t how_many, std::string const& prefix) {
        holds out;
        for (std::size_t i = 0; i < how_many; ++i)
            out.push_back(take(queue_for(options, prefix + std::to_string(i))));
        return out;
    }
    void reconnect() { engine->on_notice(seam::session_changed{state::restored}, now); }
    void answer(engine::outgoing const& out) { engine->on_reply(out.id, carry_out(out), now); }

    /// The renewals that the engine wants to send now; there is nothing else.
    std::vector<engine::outgoing> renewals() {
        auto out = sent();
        EXPECT_EQ(count_of<seam::renew>(out), out.size());
        return out;
    }
    static seam::renew const& items_of(engine::outgoing const& out) {
        return std::get<seam::renew>(out.what);
    }
    static bool mentions(std::vector<engine::outgoing> const& all, std::string const& name) {
        return std::ranges::any_of(all, [&](engine::outgoing const& out) {
            return std::ranges::any_of(items_of(out).items, [&](seam::renew::item const& item) {
                return item.subject.name() == name;
            });
        });
    }
    [[nodiscard]] bool all_held(holds const& all) const {
        return std::ranges::all_of(
            all, [&](auto const& held) { return held->state(now) == lease_state::held; });
    }

    using state = seam::session_changed::state;
};

TEST_F(engine_renewals_test, after_a_reconnection_a_bounded_number_is_under_way) {
    auto const all = take_many({}, many, "n");
    reconnect();
    auto under_way = renewals();
    std::set<std::uint64_t> renewed;
    while (!under_way.empty()) {
        ASSERT_LE(under_way.size(), renewal_window::most);
        auto const first = under_way.front();
        under_way.erase(under_way.begin());
        for (auto const& item : items_of(first).items)
            ASSERT_TRUE(renewed.insert(item.subject.id.number).second) << "twice";
        answer(first);
        std::ranges::move(renewals(), std::back_inserter(under_way));
    }
    EXPECT_EQ(renewed.size(), many);
    EXPECT_EQ(engine->counters().renewals, many);
    EXPECT_TRUE(all_held(all));
}

TEST_F(engine_renewals_test, the_most_urgent_are_renewed_first) {
    auto const long_ones = take_many({.lease = 60s}, many, "long");
    auto const short_ones = take_many({.lease = 6s}, batch, "short");
    reconnect();
    (void)renewals();
    now += 1ms;
    auto const late = take(queue_for({.lease = 3s}, "shortest"));
    reconnect();  // all of them once more
    pass(500ms, false);
    auto const next = renewals();
    ASSERT_GT(next.size(), 0U);
    EXPECT_EQ(items_of(next.front()).items.front().subject.name(), "shortest");
}

TEST_F(engine_renewals_test, those_that_wait_their_turn_are_renewed_by_what_is_left_of_their_time) {
    auto const all = take_many({}, many, "n");
    pass(5s);
    auto const early = take_many({.lease = 6s}, 10, "short");
    reconnect();
    auto const first = renewals();
    EXPECT_TRUE(mentions(first, "short0")) << "though they came last";
    for (auto const& out : first)
        answer(out);
    settle_down();
    EXPECT_TRUE(all_held(early));
}

// Nothing is answered for as long as most of a lease: each has been tried by then, at a bounded pace.
TEST_F(engine_renewals_test, a_silent_lane_is_tried_for_all_and_recovers) {
    auto const all = take_many({.lease = 30s, .renew_every = 10s}, many, "n");
    pass(1s);
    reconnect();
    std::set<std::uint64_t> tried;
    auto const begun = now;
    while (now < begun + 20s) {
        auto const out = renewals();
        ASSERT_LE(out.size(), renewal_window::most);
        for (auto const& one : out)
            for (auto const& item : items_of(one).items)
                tried.insert(item.subject.id.number);
        now = std::max(now, engine->next_due());
        engine->on_time(now);
    }
    EXPECT_EQ(tried.size(), many);
    EXPECT_EQ(engine->counters().losses, 0U);
    settle_down();
    pass(5s);
    EXPECT_EQ(engine->counters().losses, 0U);
    EXPECT_TRUE(all_held(all));
}

TEST_F(engine_renewals_test, a_silent_lane_keeps_back_no_other) {
    make_engine({.abilities = {.lanes = true}, .lane_of = [](std::string_view name) {
                     return seam::lane_id{name.starts_with("sick") ? 1U : 0U};
                 }});
    auto const sick = take_many({}, many, "sick");
    auto const well = take_many({}, batch, "well");
    reconnect();
    auto const first = renewals();
    ASSERT_EQ(first.size(), renewal_window::most + 1);
    for (auto const& out : first)
        if (items_of(out).lane == seam::lane_id{0}) answer(out);
    EXPECT_TRUE(renewals().empty()) << "the sick lane is full";
    reconnect();
    auto const second = renewals();
    ASSERT_EQ(second.size(), 1U);
    EXPECT_EQ(items_of(second.front()).lane, seam::lane_id{0});
}

// Its whole lease is shorter than the time in which the others' answers may come.
TEST_F(engine_renewals_test, a_short_lease_does_not_end_behind_long_ones) {
    auto const long_ones = take_many({.lease = 60s}, many, "long");
    reconnect();
    (void)renewals();  // which are never answered
    auto const brief = take(queue_for({.lease = 200ms}, "brief"));
    for (int i = 0; i < 10; ++i) {
        pass(20ms, false);
        for (auto const& out : renewals())
            if (mentions({out}, "brief")) answer(out);
    }
    EXPECT_EQ(brief->state(now), lease_state::held);
}

TEST_F(engine_renewals_test, who_waits_alone_behind_a_full_window_is_tried_in_time) {
    auto const brief = take(queue_for({.lease = 3s}, "brief"));
    auto const others = take_many({.lease = 60s}, renewal_window::most, "n");
    pass(960ms);
    for (auto const& held : others)
        engine->on_notice(seam::claim_gone{held->held_by->subject.id, "so they say"}, now);
    EXPECT_EQ(renewals().size(), renewal_window::most);  // which are never answered
    pass(20ms, false);
    EXPECT_TRUE(renewals().empty());
    pass(100ms, false);
    EXPECT_TRUE(mentions(renewals(), "brief"));
}

TEST_F(engine_renewals_test, a_renewal_that_somebody_waits_for_goes_at_once) {
    auto const all = take_many({}, many, "n");
    reconnect();
    (void)renewals();
    struct renewing final : completion {
        void completed() noexcept override { ++completions; }
        renew_call call{*this};
        int completions{0};
    } mine;
    engine->renew(*all.back(), std::nullopt, mine.call, now);
    auto const next = renewals();
    ASSERT_EQ(next.size(), 1U);
    answer(next.front());
    EXPECT_TRUE(mine.call.done);
}

TEST_F(engine_renewals_test, what_is_released_while_it_waits_its_turn_is_not_renewed) {
    auto const all = take_many({}, many, "n");
    reconnect();
    auto const first = renewals();
    engine->release(all.back(), now);
    EXPECT_EQ(wanted<seam::settle>(), 1U);
    for (auto const& out : sent())
        answer(out);
    for (auto const& out : first)
        answer(out);
    for (auto next = renewals(); !next.empty(); next = renewals()) {
        EXPECT_FALSE(mentions(next, "n" + std::to_string(many - 1)));
        for (auto const& out : next)
            answer(out);
    }
    EXPECT_EQ(engine->counters().renewals, many - 1);
}

// A store that has forgotten them queues them in the order in which it is asked for them.
TEST_F(engine_renewals_test, those_who_wait_for_a_name_queue_anew_in_order_of_age) {
    auto const in_the_way = take(queue_for({.order = ordering::fair}));
    waiting oldest{queue_for({.lease = 30s, .order = ordering::fair})};
    waiting younger{queue_for({.lease = 3s, .order = ordering::fair})};
    waiting youngest{queue_for({.lease = 9s, .order = ordering::fair})};
    for (auto* const each : {&oldest, &younger, &youngest}) {
        engine->begin(each->call, now);
        settle_down();
    }
    lose_data();
    reconnect();
    settle_down();
    EXPECT_EQ(in_the_way->state(now), lease_state::lost);
    ASSERT_EQ(oldest.completions, 1);
    EXPECT_EQ(younger.completions, 0);
    engine->release(oldest.call.held, now);
    settle_down();
    ASSERT_EQ(younger.completions, 1);
    EXPECT_EQ(youngest.completions, 0);
    engine->release(younger.call.held, now);
    settle_down();
    EXPECT_EQ(youngest.completions, 1);
}

TEST_F(engine_renewals_test, one_that_has_waited_its_turn_does_not_go_before_an_older_one) {
    auto const others = take_many({.lease = 6s}, renewal_window::most * batch - 1, "n");
    auto const in_the_way = take(queue_for({.order = ordering::fair}));
    waiting oldest{queue_for({.order = ordering::fair})};
    waiting younger{queue_for({.order = ordering::fair})};
    for (auto* const each : {&oldest, &younger}) {
        engine->begin(each->call, now);
        settle_down();
    }
    reconnect();
    ASSERT_EQ(renewals().size(),
              renewal_window::most);  // which are lost; the oldest is the last in them
    pass(100ms, false);
    (void)sent();
    lose_data();
    reconnect();
    for (int i = 0; i < 100 && oldest.completions + younger.completions == 0; ++i)
        pass(100ms);
    ASSERT_EQ(oldest.completions, 1);
    EXPECT_EQ(younger.completions, 0);
    engine->release(oldest.call.held, now);
    settle_down();
    EXPECT_EQ(younger.completions, 1);
}

// A submit that was sent twice is answered twice, and the second answer may come when the claim waits its turn to be renewed:
// it is not silent any more, and still waits behind those that hold and have less time.
TEST_F(engine_renewals_test, one_that_was_heard_of_while_it_waits_its_turn_keeps_it) {
    auto const others = take_many({.lease = 60s}, (renewal_window::most + 1) * batch, "n");
    auto const in_the_way = take(queue_for({.lease = 300s, .order = ordering::fair}));
    waiting one{queue_for({.lease = 300s, .order = ordering::fair})};
    engine->begin(one.call, now);
    auto const first = sent();
    pass(core::engine::settings{}.request_timeout + 1ms, false);
    auto const second = sent();
    ASSERT_EQ(count_of<seam::submit>(second), 1U);
    for (auto const& out : first)
        answer(out);
    reconnect();
    auto const under_way = renewals();
    ASSERT_EQ(under_way.size(), renewal_window::most);
    for (auto const& out : second)
        answer(out);
    reconnect();
    (void)sent();
    answer(under_way.front());
    auto const next = renewals();
    EXPECT_EQ(next.size(), 1U);
    EXPECT_FALSE(mentions(next, "n"));
    engine->withdraw(one.call, now);
    settle_down();
}

// The renewal of a waiter is an attempt of its policy: it is one attempt, however long it waits its turn.
TEST_F(engine_renewals_test, an_attempt_that_waits_its_turn_is_one_attempt) {
    auto const all = take_many({}, many, "n");
    auto const in_the_way = take(queue_for({}, "wanted"));
    reconnect();
    auto const under_way = renewals();
    waiting one{queue_for({.order = ordering::fair, .retry = retry::fixed(100ms, 100)}, "wanted")};
    engine->begin(one.call, now);
    settle_down();
    ASSERT_EQ(engine->todo().questions.size(), 1U);
    engine->answer_retry(std::exchange(engine->todo().questions, {}).front().ticket, 100ms, now);
    pass(200ms, false);
    EXPECT_TRUE(renewals().empty());
    EXPECT_TRUE(engine->todo().questions.empty()) << "the store has not answered yet";
    for (auto const& out : under_way)
        answer(out);
    settle_down();
    ASSERT_EQ(engine->todo().questions.size(), 1U);
    EXPECT_EQ(engine->todo().questions.front().about.number, 2);
    engine->withdraw(one.call, now);
}

TEST_F(engine_renewals_test, of_many_hints_a_bounded_number_of_requests_comes) {
    auto const all = take_many({}, many, "n");
    for (auto const& held : all)
        engine->on_notice(seam::claim_gone{held->held_by->subject.id, "so they say"}, now);
    auto const first = renewals();
    EXPECT_LE(first.size(), renewal_window::most);
    for (auto const& out : first)
        answer(out);
    auto const rest = renewals();
    EXPECT_LE(rest.size(), renewal_window::most);
    for (auto const& out : rest)
        answer(out);
    settle_down();
    EXPECT_EQ(engine->counters().renewals, many);
}

}  // namespace
}  // namespace holdfast::core
