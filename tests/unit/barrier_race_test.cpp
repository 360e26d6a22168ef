// More parties than a barrier has: who comes while a generation trips belongs to the next.
#include <optional>
#include <vector>

#include "core/barrier.hpp"
#include "core/task_context.hpp"
#include "unit/engine_fixture.hpp"

namespace holdfast::core {
namespace {

class barrier_race : public engine_test {
protected:
    struct party final : completion {
        explicit party(barrier_terms_ptr const& terms)
            : call{[this, terms](task_context& on) {
                       return arrive_at_barrier(on, terms, generation);
                   },
                   *this} {}
        void completed() noexcept override {}
        std::optional<std::uint64_t> generation;
        task_call call;
    };

    /// Lets the store answer everything but the first question who is there, which is kept.
    void answer_all_but_a_look() {
        for (auto requests = sent(); !requests.empty(); requests = sent()) {
            for (auto const& out : requests) {
                if (!kept && std::holds_alternative<seam::inspect>(out.what)) {
                    kept = out;
                } else {
                    engine->on_reply(out.id, carry_out(out), now);
                }
            }
            for (auto const& notice : take_notices())
                engine->on_notice(notice, now);
        }
    }

    std::optional<engine::outgoing> kept;
    barrier_terms_ptr const barrier = std::make_shared<barrier_terms const>(barrier_terms{
        2, std::make_shared<terms const>(make_terms(
               {.name = "b", .kind = lock_kind::barrier, .mode = claim_mode::shared}, {}))});
};

TEST_F(barrier_race, a_party_that_finds_the_others_gone_looks_whether_they_have_met) {
    party first{barrier};
    party slow{barrier};
    party last{barrier};
    engine->begin(first.call, now);
    settle_down();
    engine->begin(slow.call, now);
    answer_all_but_a_look();
    ASSERT_TRUE(kept) << "it would be the last, and asks who is there";
    engine->begin(last.call, now);
    answer_all_but_a_look();
    ASSERT_TRUE(first.call.done && last.call.done) << "these two have met, and left";
    engine->on_reply(kept->id, carry_out(*kept), now);
    settle_down();
    ASSERT_FALSE(slow.call.done) << "nobody has died: it waits in the next generation";
    party next{barrier};
    engine->begin(next.call, now);
    settle_down();
    ASSERT_TRUE(slow.call.done && next.call.done);
    EXPECT_EQ(first.generation, 0U);
    EXPECT_EQ(slow.generation, 1U);
    EXPECT_EQ(next.generation, 1U);
}

// A reset whose answer is lost is sent again, and finds those of the next generation.
TEST_F(barrier_race, a_reset_that_is_sent_twice_ends_one_generation) {
    struct resetting final : completion {
        explicit resetting(barrier_terms_ptr const& terms)
            : call{[terms](task_context& on) { return reset_barrier(on, terms); }, *this} {}
        void completed() noexcept override {}
        task_call call;
    };
    party before{barrier};
    engine->begin(before.call, now);
    settle_down();
    resetting reset{barrier};
    engine->begin(reset.call, now);
    std::optional<engine::outgoing> lost;
    for (auto requests = sent(); !requests.empty() && !lost; requests = sent())
        for (auto const& out : requests) {
            auto const answer = carry_out(out);
            auto const* const swap = std::get_if<seam::swap>(&out.what);
            if (swap != nullptr && !lost)
                lost = out;
            else
                engine->on_reply(out.id, answer, now);
        }
    ASSERT_TRUE(lost);
    for (auto const& notice : take_notices())
        engine->on_notice(notice, now);
    settle_down();
    ASSERT_TRUE(before.call.done) << "its generation was ended";
    party after{barrier};
    engine->begin(after.call, now);
    settle_down();
    ASSERT_FALSE(after.call.done);
    engine->on_reply(lost->id, {{}, seam::failure{base::error{errc::store_unavailable}}}, now);
    pass(5s);
    EXPECT_TRUE(reset.call.done);
    EXPECT_FALSE(after.call.done) << "the same reset has ended another generation";
    party last{barrier};
    engine->begin(last.call, now);
    settle_down();
    EXPECT_TRUE(after.generation && last.generation);
}

}  // namespace
}  // namespace holdfast::core
