// How long the cells of latches and barriers are kept when nobody touches them.
#include "core/barrier.hpp"
#include "core/latch.hpp"
#include "core/task_context.hpp"
#include "unit/engine_fixture.hpp"

namespace holdfast::core {
namespace {

struct scripted final : completion {
    explicit scripted(task_call::body what) : call{std::move(what), *this} {}
    void completed() noexcept override { ++completions; }
    task_call call;
    int completions{0};
};

class cells_kept : public engine_test {
protected:
    void run(task_call::body what) {
        scripted one{std::move(what)};
        engine->begin(one.call, now);
        settle_down();
        ASSERT_EQ(one.completions, 1);
        if (one.call.error) std::rethrow_exception(one.call.error);
    }
    std::uint32_t count_down(std::uint32_t n) {
        std::uint32_t left = 0;
        run([&](task_context& on) { return count_down_latch(on, latch_, n, left); });
        return left;
    }
    std::optional<std::uint64_t> arrive() {
        std::optional<std::uint64_t> generation;
        run([&](task_context& on) { return arrive_at_barrier(on, barrier_, generation); });
        return generation;
    }

private:
    latch_terms_ptr const latch_ = std::make_shared<latch_terms const>(latch_terms{"l", 2});
    barrier_terms_ptr const barrier_ = std::make_shared<barrier_terms const>(barrier_terms{
        1, std::make_shared<terms const>(make_terms(
               {.name = "b", .kind = lock_kind::barrier, .mode = claim_mode::shared}, {}))});
};

TEST_F(cells_kept, a_finished_latch_stays_finished_for_a_day) {
    EXPECT_EQ(count_down(2), 0U);
    pass(24h - 1s);
    EXPECT_EQ(count_down(0), 0U);
    pass(2s);
    EXPECT_EQ(count_down(0), 2U);
}

TEST_F(cells_kept, an_open_latch_is_kept_for_a_week) {
    EXPECT_EQ(count_down(1), 1U);
    pass(7 * 24h - 1s);
    EXPECT_EQ(count_down(0), 1U);
    pass(2s);
    EXPECT_EQ(count_down(0), 2U);
}

TEST_F(cells_kept, a_barrier_counts_its_generations_on_for_a_day) {
    EXPECT_EQ(arrive(), 0U);
    pass(24h - 1s);
    EXPECT_EQ(arrive(), 1U);
    pass(24h + 1s);
    EXPECT_EQ(arrive(), 0U);
}

}  // namespace
}  // namespace holdfast::core
