// Rounds of a latch that begin and end between two looks of somebody who waits.
#include <vector>

#include "core/latch.hpp"
#include "core/task_context.hpp"
#include "unit/engine_fixture.hpp"

namespace holdfast::core {
namespace {

class latch_race : public engine_test {
protected:
    struct steps final : completion {
        explicit steps(task_call::body what) : call{std::move(what), *this} {}
        void completed() noexcept override {}
        task_call call;
    };

    struct waiter {
        explicit waiter(latch_terms_ptr const& terms, std::uint64_t round = 0)
            : wait{[this, terms, round](task_context& on) {
                  return wait_for_latch(on, terms, finished, true, round);
              }} {}
        [[nodiscard]] bool done() const noexcept { return wait.call.done; }
        [[nodiscard]] bool is_lost() const {
            try {
                if (wait.call.error) std::rethrow_exception(wait.call.error);
            } catch (std::system_error const& error) {
                return error.code() == make_error_code(errc::lost);
            }
            return false;
        }
        bool finished{false};
        steps wait;
    };

    /// Looks, and waits.
    void begin(waiter& whose) {
        engine->begin(whose.wait.call, now);
        settle_down();
        ASSERT_FALSE(whose.done());
    }

    /// What somebody does whose notices do not reach those who wait before tell().
    void run(task_call::body what) {
        steps all{std::move(what)};
        engine->begin(all.call, now);
        for (auto requests = sent(); !requests.empty(); requests = sent()) {
            for (auto const& out : requests)
                engine->on_reply(out.id, carry_out(out), now);
            for (auto& notice : take_notices())
                late_.push_back(std::move(notice));
        }
        ASSERT_TRUE(all.call.done);
        if (all.call.error) std::rethrow_exception(all.call.error);
    }
    void tell() {
        for (auto const& notice : std::exchange(late_, {}))
            engine->on_notice(notice, now);
        settle_down();
    }

    /// The round in which it was counted.
    std::uint64_t count_down(std::uint32_t n) {
        std::uint32_t left = 0;
        std::uint64_t round = 0;
        run([&](task_context& on) { return count_down_latch(on, declared_, n, left, &round); });
        return round;
    }
    void remove() {
        run([&](task_context& on) { return delete_latch(on, declared_); });
    }
    void reset() {
        run([&](task_context& on) { return reset_latch(on, declared_, 1); });
    }

    latch_terms_ptr const follower = std::make_shared<latch_terms const>(latch_terms{"l", {}});

private:
    latch_terms_ptr const declared_ = std::make_shared<latch_terms const>(latch_terms{"l", 1});
    std::vector<seam::notice> late_;
};

TEST_F(latch_race, an_end_is_seen_though_there_was_no_latch_before_and_is_none_after) {
    for (int i = 0; i < 3; ++i) {  // at first nothing, then the mark of the one before
        waiter patient{follower};
        begin(patient);
        count_down(1);
        i % 2 == 0 ? remove() : reset();
        tell();
        ASSERT_TRUE(patient.done()) << i;
        EXPECT_TRUE(patient.finished) << i;
        remove();
        tell();
    }
}

TEST_F(latch_race, a_round_that_is_deleted_or_reset_at_once_is_lost) {
    for (int i = 0; i < 4; ++i) {
        waiter patient{follower};
        begin(patient);
        count_down(0);  // declares it
        i % 2 == 0 ? remove() : reset();
        tell();
        ASSERT_TRUE(patient.done()) << i;
        EXPECT_TRUE(patient.is_lost()) << i;
        remove();
        tell();
    }
}

TEST_F(latch_race, an_end_is_seen_however_many_rounds_have_followed) {
    for (bool const cut_before : {false, true}) {
        count_down(0);
        if (cut_before) reset();
        tell();
        waiter patient{follower};
        begin(patient);
        for (int i = 0; i < 200; ++i) {
            count_down(1);
            i % 2 == 0 ? remove() : reset();
        }
        tell();
        ASSERT_TRUE(patient.done());
        EXPECT_TRUE(patient.finished);
        remove();
        tell();
    }
}

TEST_F(latch_race, an_old_round_of_which_nobody_knows_is_lost) {
    count_down(0);
    waiter patient{follower};
    begin(patient);
    reset();
    for (int i = 0; i < 200; ++i) {
        count_down(1);
        reset();
    }
    tell();
    ASSERT_TRUE(patient.done());
    EXPECT_TRUE(patient.is_lost());
}

TEST_F(latch_race, a_mark_that_is_forgotten_is_not_waited_for) {
    for (int i = 0; i < 3; ++i) {
        count_down(0);
        remove();
    }
    tell();
    waiter patient{follower};
    begin(patient);
    // The mark goes between two looks: time does not pass for those who wait.
    now += deleted_latch_kept + 1s;
    count_down(0);
    tell();
    engine->on_time(now);
    settle_down();
    ASSERT_FALSE(patient.done());
    count_down(1);
    tell();
    ASSERT_TRUE(patient.done());
    EXPECT_TRUE(patient.finished);
}

TEST_F(latch_race, the_first_round_after_a_forgotten_mark_is_not_overlooked) {
    count_down(0);
    remove();
    tell();
    waiter patient{follower};
    begin(patient);
    now += deleted_latch_kept + 1s;
    count_down(1);
    remove();
    tell();
    engine->on_time(now);
    settle_down();
    ASSERT_TRUE(patient.done());
    EXPECT_TRUE(patient.finished);
}

TEST_F(latch_race, who_has_counted_waits_for_the_round_that_it_counted_in) {
    auto const round = count_down(1);
    reset();
    waiter arrived{follower, round};
    engine->begin(arrived.wait.call, now);
    settle_down();
    ASSERT_TRUE(arrived.done()) << "its own round has come to its end";
    EXPECT_TRUE(arrived.finished);
}

TEST_F(latch_race, the_end_of_a_later_round_is_not_that_of_one_that_was_reset) {
    count_down(0);
    waiter patient{follower};
    begin(patient);
    reset();
    count_down(1);
    tell();
    ASSERT_TRUE(patient.done());
    EXPECT_TRUE(patient.is_lost());
}

}  // namespace
}  // namespace holdfast::core
