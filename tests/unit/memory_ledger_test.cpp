// The ledger of the memory store against a plain model, and that nothing is left behind.
#include <algorithm>
#include <ctime>
#include <map>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "unit/rules_fixture.hpp"

namespace holdfast::stores {
namespace {

TEST_F(rules_test, a_million_names_leave_nothing_behind) {
    for (int i = 0; i < 100'000; ++i) {
        auto const one = claim(lock("name/" + std::to_string(i)));
        take(one);
        if (i % 2 == 0) settle(one);
        if (i % 1'000 == 999) {
            now += 2s;
            ask(seam::inspect{.prefix = "name/"});
        }
    }
    now += 2s;
    for (int i = 0; i < 1'000; ++i)
        ask(seam::inspect{.prefix = "name/"});
    EXPECT_LE(size(), 200U) << "what listings have not looked at yet";
}

// Nobody lists them, and nobody names them again: other requests clear them away, a few at a time.
TEST_F(rules_test, what_ends_unseen_is_forgotten) {
    constexpr int many = 10'000;
    for (int i = 0; i < many; ++i) {
        auto const name = "/" + std::to_string(i);
        seam::swap cell{{lock_kind::latch, "latch" + name}, 0, "1"};
        cell.ttl = 1h;
        ask(cell);
        take(claim(lock("lock" + name)));
        seam::adjust limit{claim(spec({.name = "semaphore" + name,
                                       .kind = lock_kind::semaphore,
                                       .mode = claim_mode::permits,
                                       .limit = 3}))};
        limit.current = 2;
        ask(limit);
        wait_in_line(claim(spec({.name = "condition" + name,
                                 .kind = lock_kind::condition,
                                 .mode = claim_mode::permits,
                                 .lease = 1s})));
        settle(claim(lock("bar" + name)), 0ms, now + 2s);
    }
    EXPECT_GE(size(), 5U * many);
    auto const others = [&] {
        for (int i = 0; i < many / 2; ++i)
            ask(seam::hello{});
        return size();
    };
    EXPECT_GE(others(), 5U * many) << "nothing is over yet";
    now += 30min;
    EXPECT_EQ(others(), 3U * many) << "cells count twice: with their name";
    now += 1h;
    EXPECT_EQ(others(), 1U * many) << "limits are remembered for a day";
    now += 24h;
    EXPECT_EQ(others(), 0U);
}

// The first end that was expected comes and goes: what is alive stays, and still ends in its time.
TEST_F(rules_test, what_was_renewed_is_not_forgotten_before_its_new_end) {
    auto const held = claim(lock());
    take(held);
    seam::swap cell{{lock_kind::latch, "latch"}, 0, "1"};
    cell.ttl = 1s;
    ask(cell);
    for (int i = 0; i < 10; ++i) {
        now += 800ms;
        EXPECT_EQ(renew(held).found, seam::renewal::status::alive);
        auto const found = std::get<seam::cell>(ask(seam::read{cell.key}));
        ASSERT_EQ(found.value, "1");
        cell.expected = found.version;
        cell.operation = {seam::client_id{1}, static_cast<std::uint64_t>(i) + 1};
        ask(cell);
    }
    EXPECT_EQ(size(), 3U);
    now += 1s;
    ask(seam::hello{});
    EXPECT_EQ(size(), 0U);
    EXPECT_EQ(told<seam::claim_gone>(), 1U);
}

TEST_F(rules_test, random_requests_end_with_empty_ledger) {
    base::random draws{7};
    for (int round = 0; round < 50; ++round) {
        std::vector<seam::claim> all;
        for (int step = 0; step < 400; ++step) {
            auto const name = "n" + std::to_string(draws.below(3));
            switch (draws.below(6)) {
            case 0:
            case 1: {
                auto const order = draws.one_in(2) ? ordering::fair : ordering::barging;
                all.push_back(
                    claim(draws.one_in(3) ? reader(name) : lock(name, order), 1 + draws.below(4)));
                submit(all.back(), draws.one_in(2));
                break;
            }
            case 2:
            case 3:
                if (!all.empty()) {
                    auto const which = draws.below(all.size());
                    settle(all[which], std::chrono::milliseconds{draws.one_in(5) ? 50 : 0});
                    all.erase(all.begin() + static_cast<std::ptrdiff_t>(which));
                }
                break;
            case 4:
                if (!all.empty()) renew(all[draws.below(all.size())]);
                break;
            default: now += std::chrono::milliseconds{draws.below(300)}; break;
            }
        }
        for (auto const& each : all)
            settle(each);
        now += 1s;
        for (int i = 0; i < 3; ++i)
            settle(claim(lock("n" + std::to_string(i))));
        ASSERT_EQ(size(), 0U) << "round " << round;
    }
}

TEST_F(rules_test, sequences_of_a_store_that_began_anew_go_on_rising) {
    memory::machine before{5'000};
    memory::machine after{9'000'000};
    auto const self = std::make_shared<seam::identity const>();
    auto const number = [&](memory::machine& which) {
        seam::submit request{{}, false, late_enough};
        request.subject = claim(lock());
        std::vector<lease::directed_notice> none;
        auto const answer = which.handle(self, request, now, none);
        return std::get<seam::granted>(answer.body).held.number;
    };
    EXPECT_LT(number(before), number(after));
}

/// What this thread has used; others who use the machine do not count.
std::chrono::nanoseconds thread_time() {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

TEST_F(rules_test, a_listing_costs_as_much_per_name_whether_there_are_many_or_few) {
    int stored = 0;
    auto const list = [&](int names) {
        for (; stored < names; ++stored)
            take(claim(lock("name/" + std::to_string(stored), ordering::barging, 1h)));
        auto best = std::chrono::nanoseconds::max();
        for (int round = 0; round < 3; ++round) {
            auto const began = thread_time();
            std::size_t listed = 0;
            seam::inspect what{.prefix = "name/"};
            do {
                auto const page = std::get<seam::page>(ask(what));
                listed += page.names.size();
                what.after = page.next;
            } while (!what.after.empty());
            EXPECT_EQ(listed, static_cast<std::size_t>(names));
            best = std::min(best, thread_time() - began);
        }
        return best;
    };
    auto const few = list(5'000);
    auto const many = list(80'000);
    EXPECT_LT(many, 40 * few) << "sixteen times as many";
}

}  // namespace
}  // namespace holdfast::stores
