// Several holds at once, and what the end of the time means for them.
#include "core/collecting.hpp"

#include <exception>

#include "core/task_context.hpp"
#include "unit/engine_fixture.hpp"

namespace holdfast::core {
namespace {

class collecting_test : public engine_test, public completion {
protected:
    void completed() noexcept override {}

    std::shared_ptr<wait_queue> fair_queue(std::string name) {
        return queue_for({.order = ordering::fair}, std::move(name));
    }
    task_call all_of(std::vector<std::shared_ptr<wait_queue>> queues) {
        return {[this, queues = std::move(queues)](task_context& on) {
                    return acquire_all(on, queues, true, held);
                },
                *this};
    }
    static errc code_of(std::exception_ptr const& error) {
        try {
            std::rethrow_exception(error);
        } catch (std::system_error const& why) {
            return static_cast<errc>(why.code().value());
        }
    }
    std::vector<std::shared_ptr<hold_state>> held;
};

TEST_F(collecting_test, a_last_try_without_an_answer_is_nothing_when_the_store_has_answered) {
    auto const in_the_way = take(fair_queue("b"));
    auto call = all_of({fair_queue("a"), fair_queue("b")});
    call.deadline = now + 1s;
    engine->begin(call, now);
    settle_down();
    pass(999ms);
    engine->release(in_the_way, now);
    for (auto const& out : sent())  // the settlement: the name passes to the one that waits for it
        engine->on_reply(out.id, carry_out(out), now);
    for (auto const& notice : take_notices())
        engine->on_notice(notice, now);
    EXPECT_EQ(wanted<seam::submit>(), 1U) << "it tries the other name, shortly before the end";
    pass(1s, false);
    ASSERT_TRUE(call.done);
    EXPECT_EQ(call.error, nullptr);
    EXPECT_TRUE(held.empty());
    settle_down();
    pass(1min);
    EXPECT_TRUE(engine->idle()) << "nothing of it is left at the store";
}

TEST_F(collecting_test, a_store_that_never_answers_is_unavailable) {
    auto call = all_of({fair_queue("a"), fair_queue("b")});
    call.deadline = now + 1s;
    engine->begin(call, now);
    pass(1s, false);
    ASSERT_TRUE(call.done);
    ASSERT_NE(call.error, nullptr);
    EXPECT_EQ(code_of(call.error), errc::store_unavailable);
}

TEST_F(collecting_test, a_store_that_falls_silent_before_it_said_busy_is_unavailable) {
    auto call = all_of({fair_queue("a"), fair_queue("b")});
    call.deadline = now + 10s;
    engine->begin(call, now);
    for (auto const& out : sent())  // the time
        engine->on_reply(out.id, carry_out(out), now);
    auto const tries = sent();
    ASSERT_EQ(tries.size(), 2U);
    engine->on_reply(tries[0].id, carry_out(tries[0]), now);
    pass(10s, false);
    ASSERT_TRUE(call.done);
    ASSERT_NE(call.error, nullptr);
    EXPECT_EQ(code_of(call.error), errc::store_unavailable);
}

// What was taken on the way and given back was nobody's hold.
TEST_F(collecting_test, a_minimum_hold_keeps_nothing_that_nobody_was_given) {
    auto const kept = [this](std::string name) {
        return queue_for({.min_hold = 60s, .order = ordering::fair}, std::move(name));
    };
    auto const in_the_way = take(fair_queue("b"));
    auto call = all_of({kept("a"), kept("b")});
    engine->begin(call, now);
    settle_down();
    pass(1s);
    ASSERT_FALSE(call.done);
    engine->release(in_the_way, now);
    settle_down();
    pass(1s);
    ASSERT_TRUE(call.done);
    EXPECT_EQ(held.size(), 2U);
}

}  // namespace
}  // namespace holdfast::core
