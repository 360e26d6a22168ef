// The rules on conditions: notices as permits that exist only as long as somebody waits for them.
#include "rules_fixture.hpp"

namespace holdfast::stores {
namespace {

class rules_condition_test : public rules_test {
protected:
    seam::claim waiter(std::uint64_t client) {
        return claim(spec({.name = "c",
                           .kind = lock_kind::condition,
                           .mode = claim_mode::permits,
                           .order = ordering::fair,
                           .lease = 1s}),
                     client);
    }
    void wake(std::uint32_t most) {
        seam::adjust request{waiter(9)};
        request.wake = most;
        EXPECT_TRUE(std::holds_alternative<seam::adjusted>(ask(request, 9)));
    }
    void consume(seam::claim const& what) {
        seam::settle request;
        request.subject = what;
        request.consume = true;
        EXPECT_EQ(
            std::get<seam::settled>(ask(request, static_cast<std::uint64_t>(what.id.client))).how,
            seam::ending::released);
    }
};

TEST_F(rules_condition_test, a_notice_without_a_waiter_is_forgotten) {
    wake(1);
    EXPECT_EQ(size(), 0U);
    wait_in_line(waiter(1));
}

TEST_F(rules_condition_test, one_notice_wakes_one_in_order) {
    auto const first = waiter(1);
    auto const second = waiter(2);
    wait_in_line(first);
    wait_in_line(second);
    wake(1);
    EXPECT_EQ(handed_over(), std::vector{first.id});
    consume(first);
    EXPECT_TRUE(handed_over().empty()) << "the notice is used up";
    wake(1);
    EXPECT_EQ(handed_over(), std::vector{second.id});
}

TEST_F(rules_condition_test, notify_all_wakes_those_who_wait_and_nobody_later) {
    auto const first = waiter(1);
    auto const second = waiter(2);
    wait_in_line(first);
    wait_in_line(second);
    wake(UINT32_MAX);
    EXPECT_EQ(handed_over(), (std::vector{first.id, second.id}));
    wait_in_line(waiter(3));
    consume(first);
    consume(second);
    EXPECT_TRUE(handed_over().empty());
}

TEST_F(rules_condition_test, the_notice_of_one_who_died_passes_on) {
    auto const dead = waiter(1);
    auto const alive = waiter(2);
    wait_in_line(dead);
    wait_in_line(alive);
    wake(1);
    now += 600ms;
    renew(alive);
    now += 500ms;
    EXPECT_EQ(renew(alive).found, seam::renewal::status::alive);
    consume(alive);
    EXPECT_EQ(size(), 0U);
}

TEST_F(rules_condition_test, the_notice_of_one_who_gave_up_passes_on) {
    auto const impatient = waiter(1);
    auto const patient = waiter(2);
    wait_in_line(impatient);
    wait_in_line(patient);
    wake(1);
    settle(impatient);
    EXPECT_EQ(handed_over(), std::vector{patient.id});
}

TEST_F(rules_condition_test, a_notice_that_nobody_is_left_to_hear_is_forgotten) {
    auto const dead = waiter(1);
    auto const slow = waiter(2);
    wait_in_line(dead);
    wait_in_line(slow);
    wake(2);
    now += 600ms;
    renew(slow);
    now += 500ms;  // the first has died with its notice; the second has not used its own yet
    wait_in_line(waiter(3));
}

}  // namespace
}  // namespace holdfast::stores
