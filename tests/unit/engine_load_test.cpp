// What an engine does with very many holds at once: nothing that nobody waits for comes before a renewal.
#include <string>
#include <vector>

#include "unit/engine_fixture.hpp"

namespace holdfast::core {
namespace {

class engine_load_test : public engine_test {
protected:
    static constexpr std::size_t many = 5'000;

    std::vector<std::shared_ptr<hold_state>> take_many(lock_options const& options = {},
                                                       std::size_t how_many = many) {
        std::vector<std::shared_ptr<hold_state>> out;
        for (std::size_t i = 0; i < how_many; ++i)
            out.push_back(take(queue_for(options, name(i))));
        return out;
    }
    static std::string name(std::size_t i) { return "many/" + std::to_string(i); }
};

TEST_F(engine_load_test, renewals_leave_before_everything_else) {
    outbox out;
    auto const push = [&](std::uint64_t id, seam::request what) {
        out.push({seam::request_id{id}, std::move(what)});
    };
    push(1, seam::settle{});
    push(2, seam::submit{});
    push(3, seam::renew{});
    push(4, seam::settle{});
    push(5, seam::renew{});
    EXPECT_EQ(out.pop().id, seam::request_id{3});
    EXPECT_EQ(out.pop().id, seam::request_id{5});
    push(6, seam::renew{});
    std::vector<outgoing> rest;
    out.pop_all(rest);
    ASSERT_EQ(rest.size(), 4U);
    EXPECT_EQ(rest[0].id, seam::request_id{6});
    EXPECT_EQ(rest[1].id, seam::request_id{1}) << "the others keep their order";
    EXPECT_EQ(rest[2].id, seam::request_id{2});
    EXPECT_EQ(rest[3].id, seam::request_id{4});
    EXPECT_TRUE(out.empty());
}

TEST_F(engine_load_test, an_outbox_that_is_never_empty_does_not_grow) {
    outbox out;
    out.push({seam::request_id{0}, seam::settle{}});
    for (std::uint64_t i = 1; i < 100'000; ++i) {
        out.push({seam::request_id{i}, seam::settle{}});
        ASSERT_EQ(out.pop().id, seam::request_id{i - 1});
    }
    EXPECT_LT(out.room(), 10'000U);
}

TEST_F(engine_load_test, of_many_releases_a_bounded_number_is_under_way) {
    auto const held = take_many();
    for (auto const& one : held)
        engine->release(one, now);
    std::size_t settled = 0;
    while (settled < many) {
        auto const requests = sent();
        ASSERT_GT(requests.size(), 0U) << "after " << settled;
        ASSERT_LE(requests.size(), settlement_window::most);
        for (auto const& out : requests)
            engine->on_reply(out.id, carry_out(out), now);
        settled += requests.size();
    }
    EXPECT_TRUE(engine->idle());
    EXPECT_EQ(settled, many);
}

TEST_F(engine_load_test, a_release_that_somebody_waits_for_does_not_queue_behind_the_others) {
    auto const mine = take(queue_for({}, "mine"));
    for (auto const& one : take_many())
        engine->release(one, now);
    (void)wanted<seam::settle>();
    releasing end;
    engine->release(mine, now, &end.call);
    auto const requests = sent();
    EXPECT_EQ(requests.size(), settlement_window::most + 1);
    engine->on_reply(requests.back().id, carry_out(requests.back()), now);
    EXPECT_EQ(end.call.outcome, release_outcome::released);
}

TEST_F(engine_load_test, whoever_asks_for_a_name_again_is_not_in_its_own_way) {
    for (auto const& one : take_many())
        engine->release(one, now);
    (void)sent();  // and none of them is answered
    waiting again{queue_for({}, name(many - 1))};
    again.call.wait = false;
    engine->begin(again.call, now);
    auto const requests = sent();
    ASSERT_EQ(requests.size(), 2U);
    EXPECT_TRUE(std::holds_alternative<seam::settle>(requests[0].what));
    for (auto const& out : requests)
        engine->on_reply(out.id, carry_out(out), now);
    EXPECT_EQ(again.call.outcome, verdict::granted);
    engine->release(again.call.held, now);
}

TEST_F(engine_load_test, whoever_asks_about_a_name_does_not_find_its_own_release_in_the_way) {
    for (auto const& one : take_many())
        engine->release(one, now);
    (void)sent();
    asking other{seam::swap{{lock_kind::latch, name(many - 1)}, 0, "1", 1h}};
    engine->begin(other.call, now);
    auto const requests = sent();
    ASSERT_EQ(requests.size(), 2U);
    for (auto const& out : requests)
        engine->on_reply(out.id, carry_out(out), now);
    EXPECT_TRUE(std::holds_alternative<seam::swapped>(other.call.answer.body));
}

TEST_F(engine_load_test, many_claims_of_one_name_are_let_go_of_in_bounded_steps) {
    auto const reader = [&] {
        return std::make_shared<wait_queue>(std::make_shared<terms const>(
            make_terms({.name = "n", .mode = claim_mode::shared}, {})));
    };
    std::vector<std::shared_ptr<hold_state>> held;
    for (std::size_t i = 0; i < many; ++i)
        held.push_back(take(reader()));
    for (auto const& one : held)
        engine->release(one, now);
    EXPECT_EQ(sent().size(), settlement_window::most);
    waiting again{reader()};
    engine->begin(again.call, now);
    EXPECT_LE(sent().size(), settlement_window::most + 1);
    engine->withdraw(again.call, now);
}

TEST_F(engine_load_test, a_client_that_closes_lets_go_of_all_at_once) {
    for (auto const& one : take_many())
        engine->release(one, now);
    EXPECT_EQ(sent().size(), settlement_window::most);
    engine->close(now);
    EXPECT_EQ(sent().size(), many - settlement_window::most);
}

TEST_F(engine_load_test,
       what_is_granted_to_a_claim_that_waits_to_be_withdrawn_is_given_back_at_once) {
    auto const in_the_way = take(queue_for({.order = ordering::fair}, "n"));
    waiting next{queue_for({.order = ordering::fair}, "n")};
    engine->begin(next.call, now);
    settle_down();
    auto const id = next.call.in->current->subject.id;
    for (auto const& one : take_many())
        engine->release(one, now);
    (void)sent();
    engine->withdraw(next.call, now);
    EXPECT_TRUE(sent().empty()) << "it waits for its turn";
    engine->on_notice(seam::claim_granted{id, {seam::sequence{9}, seam::store_time{}}}, now);
    EXPECT_EQ(sent().size(), 1U);
    engine->release(in_the_way, now);
}

TEST_F(engine_load_test, what_was_never_sent_ends_with_its_lease) {
    for (auto const& one : take_many({.lease = 3s}))
        engine->release(one, now);
    pass(60s, false);
    EXPECT_TRUE(engine->idle());
}

TEST_F(engine_load_test, one_turn_of_the_timer_does_a_bounded_amount_of_work) {
    auto const held = take_many({.lease = 3s, .renew = false}, 3 * many);
    now += 10s;
    engine->on_time(now);
    auto const first = engine->todo().losses.size();
    EXPECT_GT(first, 0U);
    EXPECT_LT(first, held.size());
    EXPECT_LE(engine->next_due(), now) << "there is more to do at once";
    pass(0s);
    EXPECT_EQ(engine->todo().losses.size(), held.size());
}

/// A store of the same process, which takes back what its client has put aside.
class engine_lane_test : public engine_load_test {
protected:
    engine_lane_test() {
        engine::settings with;
        with.self = seam::client_id{1};
        with.abilities.instant = with.abilities.parks = true;
        engine.emplace(std::move(with));
    }
    std::shared_ptr<wait_queue> lane_for(std::string name) {
        auto out = std::make_shared<wait_queue>(
            std::make_shared<terms const>(make_terms({.name = std::move(name)}, {})), true);
        out->handles = 1;
        return out;
    }
    /// Somebody else frees the name, and the engine hears what the store tells of it.
    void evict(std::string name) {
        std::vector<stores::lease::directed_notice> told;
        auto const store_now = seam::store_time{
            std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch())};
        (void)store.handle(self, seam::evict{.name = std::move(name)}, store_now, told);
        for (auto const& each : told)
            engine->on_notice(each.what, now);
    }
};

TEST_F(engine_lane_test, a_bounded_number_of_names_is_put_aside) {
    std::vector<std::shared_ptr<wait_queue>> queues;
    for (std::size_t i = 0; i < many; ++i) {
        queues.push_back(lane_for(name(i)));
        engine->release(take(queues.back()), now);
        settle_down();
    }
    EXPECT_LE(store.size(), 1'024U + 256U) << "names at the store";
    auto const again = take(queues.back());
    EXPECT_NE(again, nullptr);
    engine->release(again, now);
}

TEST_F(engine_lane_test, a_name_that_nobody_can_lock_any_more_is_given_back) {
    auto const where = lane_for("n");
    engine->release(take(where), now);
    settle_down();
    EXPECT_EQ(store.size(), 1U) << "it is put aside";
    where->handles = 0;
    engine->abandon_parked(*where, now);
    settle_down();
    EXPECT_EQ(store.size(), 0U);
    engine->release(take(where), now);
    settle_down();
    EXPECT_EQ(store.size(), 0U) << "a lease that outlived its mutex";
    EXPECT_TRUE(engine->idle());
}

TEST_F(engine_lane_test, a_thread_is_told_when_the_store_says_that_what_it_took_up_is_gone) {
    auto const where = lane_for("n");
    engine->release(take(where), now);
    settle_down();
    auto const inside = where->bias->enter(now);
    ASSERT_EQ(inside.how, biased_hold::entry::yes);
    auto const held = inside.where->held;
    evict("n");
    EXPECT_EQ(held->state(now), lease_state::lost);
    ASSERT_EQ(engine->todo().losses.size(), 1U);
    EXPECT_EQ(engine->todo().losses.front(), held);
    EXPECT_TRUE(engine->idle()) << "nothing of it is at the store";
    EXPECT_FALSE(where->bias->leave(inside.generation));
    engine->release(*where, inside.generation, now);
    auto const next = take(where);
    EXPECT_GT(next->token(), held->token());
    engine->release(next, now);
}

TEST_F(engine_lane_test, what_is_put_aside_is_forgotten_when_the_store_says_that_it_is_gone) {
    auto const where = lane_for("n");
    auto const first = take(where);
    auto const id = first->held_by->subject.id;
    engine->release(first, now);
    settle_down();
    evict("n");
    engine->on_notice(seam::claim_gone{id, "it was evicted"}, now);
    EXPECT_TRUE(engine->idle());
    EXPECT_EQ(where->bias->enter(now).how, biased_hold::entry::no);
    EXPECT_EQ(engine->counters().losses, 0U) << "nobody had it";
    EXPECT_EQ(wanted<seam::settle>(), 0U);
}

// The renewal was asked for while the claim waited, and is answered after it was granted and put aside.
TEST_F(engine_lane_test, a_late_renewal_does_not_end_what_a_thread_may_be_using) {
    auto const where = lane_for("n");
    auto const in_the_way = take(queue_for({.order = ordering::fair}));
    waiting mine{where};
    engine->begin(mine.call, now);
    for (auto const& out : sent())
        engine->on_reply(out.id, carry_out(out), now);
    engine->on_notice(seam::changed{{lock_kind::lock, "n", seam::holders_part}}, now);
    auto const renewal = sent();
    ASSERT_EQ(renewal.size(), 1U);
    engine->release(in_the_way, now);
    for (auto const& out : sent())
        engine->on_reply(out.id, carry_out(out), now);
    for (auto const& notice : take_notices())
        engine->on_notice(notice, now);
    ASSERT_EQ(mine.call.outcome, verdict::granted);
    engine->release(mine.call.held, now);
    auto const inside = where->bias->enter(now);
    ASSERT_EQ(inside.how, biased_hold::entry::yes);
    engine->on_reply(renewal[0].id, carry_out(renewal[0]), now);
    settle_down();
    EXPECT_EQ(store.size(), 1U) << "it is still there for the thread inside";
    EXPECT_EQ(inside.where->held->state(now), lease_state::held);
    if (!where->bias->leave(inside.generation)) engine->release(*where, inside.generation, now);
    settle_down();
    EXPECT_EQ(engine->counters().losses, 0U);
}

}  // namespace
}  // namespace holdfast::core
