// The contract of drivers: who drives, who interrupts, and from which threads.
#include <atomic>
#include <thread>

#include <poll.h>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "compare/contract.hpp"

namespace holdfast::driver_tests {

using namespace stores::compare;
using namespace std::chrono_literals;

TEST_P(driver_contract, drive_returns_at_its_time) {
    member one = join();
    base::instant const until = base::after(base::boot_clock::now(), 30ms);
    int turns = 0;
    do {
        one->driver().drive(until);
        ASSERT_LT(++turns, 1'000) << "it returns again and again without having told anything";
    } while (base::boot_clock::now() < until);
}

TEST_P(driver_contract, drive_takes_what_is_there_when_its_time_has_passed) {
    member one = join();
    member other = join();
    (void)write_head(other, new_key(), "to be connected");
    base::instant const before = base::boot_clock::now();
    for (int turn = 0; turn < 5; ++turn)
        one->driver().drive(base::instant{});
    EXPECT_LT(base::boot_clock::now() - before, 10s);
}

TEST_P(driver_contract, interrupt_ends_a_drive_now_or_the_next_one) {
    member one = join();
    one->driver().interrupt();
    one->driver().drive(base::never);
    std::atomic<bool> returned{false};
    std::jthread const driving{[&] {
        one->driver().drive(base::never);
        returned = true;
    }};
    one->driver().interrupt();
    base::instant const limit = base::after(base::boot_clock::now(), patience);
    while (!returned && base::boot_clock::now() < limit)
        one->driver().interrupt();
    EXPECT_TRUE(returned);
}

TEST_P(driver_contract, the_descriptor_is_readable_when_there_is_something_to_do) {
    member one = join();
    int const number = one->driver().descriptor();
    if (number < 0) return;
    name_query what;
    what.key = new_key();
    ticket const which = one->next_ticket();
    one->driver().fetch(which, {{what}});
    base::instant const limit = base::after(base::boot_clock::now(), patience);
    while (!one->answered(which)) {
        ASSERT_LT(base::boot_clock::now(), limit);
        pollfd readable{number, POLLIN, 0};
        ASSERT_EQ(poll(&readable, 1, 10'000), 1) << "nothing tells that it must be driven";
        one->driver().drive(base::instant{});
    }
}

TEST_P(driver_contract, calls_may_come_from_other_threads_while_one_drives) {
    member one = join();
    base::mutex calls;  // as the family's: one call at a time
    std::atomic<bool> done{false};
    name_key const key = new_key();
    std::vector<ticket> sent;
    for (int count = 0; count < 3; ++count)
        sent.push_back(one->next_ticket());
    {
        std::jthread const driving{[&] {
            while (!done)
                one->driver().drive(base::after(base::boot_clock::now(), 10s));
        }};
        std::vector<std::jthread> others;
        for (ticket const which : sent)
            others.emplace_back([&, which] {
                name_query what;
                what.key = key;
                base::lock_guard const lock{calls};
                one->driver().fetch(which, {{what}});
            });
        others.clear();
        done = true;
        one->driver().interrupt();
    }
    for (ticket const which : sent)
        (void)expect<views>(one->outcome_of(which));
}

TEST_P(driver_contract, a_driver_that_is_shut_is_silent) {
    client lonely{maker()};
    session_id const id = new_session();
    (void)expect<opened>(lonely.open(id, 60s));
    lonely.driver().close(id);
    name_query what;
    what.key = new_key();
    lonely.driver().fetch(lonely.next_ticket(), {{what}});
    lonely.driver().shut();
    lonely.driver().interrupt();
    lonely.driver().drive(base::instant{});
}

TEST_P(driver_contract, traits_are_known_before_anything_is_connected) {
    client lonely{maker()};
    driver_traits const known = lonely.driver().traits();
    EXPECT_GE(known.letter_bytes, 1'000U);
    EXPECT_GE(known.writes, 16U);
    EXPECT_GE(known.shortest_lease, 1ms);
    session_id const id = new_session();
    opened const made = expect<opened>(lonely.open(id, known.shortest_lease));
    EXPECT_GE(made.lease, known.shortest_lease);
    EXPECT_EQ(lonely.driver().traits().clock, known.clock);
    EXPECT_EQ(lonely.driver().traits().writes, known.writes);
}

}  // namespace holdfast::driver_tests
