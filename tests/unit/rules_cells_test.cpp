// Cells, listings and eviction at a lease store.
#include "unit/rules_fixture.hpp"

namespace holdfast::stores {
namespace {

seam::cell_key const key{lock_kind::latch, "l", {}};

seam::swap change(std::uint64_t expected, std::string value, std::uint64_t operation) {
    return {.key = key,
            .expected = expected,
            .value = std::move(value),
            .ttl = 1h,
            .operation = {seam::client_id{1}, operation}};
}

TEST_F(rules_test, a_cell_is_replaced_only_at_the_expected_version) {
    EXPECT_EQ(std::get<seam::cell>(ask(seam::read{key})).version, 0U);
    auto const first = std::get<seam::swapped>(ask(change(0, "a", 1))).version;
    auto const conflict = std::get<seam::conflict>(ask(change(0, "b", 2)));
    EXPECT_EQ(conflict.current.version, first);
    EXPECT_EQ(conflict.current.value, "a");
    auto const second = std::get<seam::swapped>(ask(change(first, "b", 3))).version;
    EXPECT_GT(second, first);
    EXPECT_EQ(std::get<seam::cell>(ask(seam::read{key})).value, "b");
}

TEST_F(rules_test, a_swap_that_comes_twice_is_one) {
    auto const first = std::get<seam::swapped>(ask(change(0, "a", 1))).version;
    EXPECT_EQ(std::get<seam::swapped>(ask(change(0, "a", 1))).version, first);
}

TEST_F(rules_test, a_version_is_never_used_again) {
    auto const first = std::get<seam::swapped>(ask(change(0, "a", 1))).version;
    auto remove = change(first, "", 2);
    remove.remove = true;
    EXPECT_TRUE(std::holds_alternative<seam::swapped>(ask(remove)));
    EXPECT_EQ(std::get<seam::cell>(ask(seam::read{key})).version, 0U);
    EXPECT_GT(std::get<seam::swapped>(ask(change(0, "b", 3))).version, first);
}

TEST_F(rules_test, a_cell_ends_with_its_time) {
    ask(change(0, "a", 1));
    now += 1h;
    EXPECT_EQ(std::get<seam::cell>(ask(seam::read{key})).version, 0U);
    EXPECT_TRUE(std::holds_alternative<seam::swapped>(ask(change(0, "b", 2))));
    now += 2h;
    ask(seam::inspect{.prefix = ""});
    EXPECT_EQ(size(), 0U) << "a listing clears away what is over";
}

TEST_F(rules_test, ten_thousand_latches_leave_nothing_behind_after_their_time) {
    constexpr std::size_t latches = 10'000;
    for (std::size_t i = 0; i < latches; ++i) {
        auto one = change(0, "1 0 1", i + 1);
        one.key.name = "latch/" + std::to_string(i);
        one.ttl = 24h;
        ASSERT_TRUE(std::holds_alternative<seam::swapped>(ask(one)));
    }
    EXPECT_GE(size(), latches);
    now += 24h - 1ms;
    EXPECT_EQ(std::get<seam::page>(ask(seam::inspect{.prefix = "latch/9999"})).names.size(), 1U);
    now += 1ms;
    std::string after;
    do {
        auto const page = std::get<seam::page>(ask(seam::inspect{.prefix = "", .after = after}));
        EXPECT_TRUE(page.names.empty());
        after = page.next;
    } while (!after.empty());
    EXPECT_EQ(size(), 0U);
}

TEST_F(rules_test, a_guard_must_be_held) {
    auto const leader = claim(spec({.name = key.name, .kind = key.kind, .lease = 1s}));
    auto guarded = change(0, "a", 1);
    guarded.guard = leader;
    EXPECT_TRUE(std::get<seam::conflict>(ask(guarded)).guard_failed);
    take(leader);
    EXPECT_TRUE(std::holds_alternative<seam::swapped>(ask(guarded)));
    now += 2s;
    auto late = change(std::get<seam::cell>(ask(seam::read{key})).version, "b", 2);
    late.guard = leader;
    EXPECT_TRUE(std::get<seam::conflict>(ask(late)).guard_failed);
}

TEST_F(rules_test, watchers_of_a_cell_are_told_of_every_change) {
    ask(seam::watch{key}, 5);
    ask(change(0, "a", 1));
    EXPECT_EQ(told<seam::changed>(), 1U);
}

TEST_F(rules_test, a_listing_shows_holders_and_waiters_in_order_page_by_page) {
    for (int i = 0; i < 250; ++i)
        take(claim(lock("name/" + std::to_string(1'000 + i))));
    auto const holder = claim(lock("z"), 1);
    auto const first = claim(lock("z"), 2);
    auto const second = claim(lock("z"), 3);
    take(holder);
    wait_in_line(first);
    wait_in_line(second);
    auto page = std::get<seam::page>(ask(seam::inspect{.prefix = "name/"}));
    EXPECT_EQ(page.names.size(), 200U);
    ASSERT_FALSE(page.next.empty());
    page = std::get<seam::page>(ask(seam::inspect{.prefix = "name/", .after = page.next}));
    EXPECT_EQ(page.names.size(), 50U);
    EXPECT_TRUE(page.next.empty());
    now += 250ms;
    page = std::get<seam::page>(ask(seam::inspect{.prefix = "z", .exact = true}));
    ASSERT_EQ(page.names.size(), 1U);
    auto const& it = page.names[0];
    ASSERT_EQ(it.holders.size(), 1U);
    EXPECT_EQ(it.holders[0].id, seam::to_string(holder.id));
    EXPECT_EQ(it.holders[0].age, 250ms);
    EXPECT_EQ(it.holders[0].lease_left, 750ms);
    EXPECT_EQ(it.holders[0].host, "host");
    ASSERT_EQ(it.waiters.size(), 2U);
    EXPECT_EQ(it.waiters[0].id, seam::to_string(first.id));
    EXPECT_EQ(it.waiters[1].id, seam::to_string(second.id));
}

TEST_F(rules_test, a_listing_tells_what_is_kept_from_what_is_held) {
    auto const mine = claim(lock());
    take(mine);
    auto const look = [&] {
        auto const page = std::get<seam::page>(ask(seam::inspect{.prefix = "n", .exact = true}));
        return page.names.at(0).holders.at(0);
    };
    EXPECT_FALSE(look().kept);
    EXPECT_EQ(settle(mine, 400ms), seam::ending::released);
    EXPECT_TRUE(look().kept);
    EXPECT_EQ(look().lease_left, 400ms);
}

TEST_F(rules_test, eviction_frees_the_name_and_tells_the_holder) {
    auto const holder = claim(lock(), 1);
    auto const waiter = claim(lock(), 2);
    take(holder);
    wait_in_line(waiter);
    EXPECT_EQ(std::get<seam::evicted>(ask(seam::evict{.name = "n"}, 9)).count, 1U);
    EXPECT_EQ(told<seam::claim_gone>(), 1U);
    EXPECT_EQ(handed_over(), std::vector{waiter.id});
    EXPECT_EQ(settle(holder), seam::ending::gone);
    EXPECT_EQ(std::get<seam::evicted>(ask(seam::evict{.name = "n", .only = waiter.id}, 9)).count,
              1U);
    EXPECT_EQ(std::get<seam::evicted>(ask(seam::evict{.name = "nothing"}, 9)).count, 0U);
    EXPECT_EQ(size(), 0U);
}

}  // namespace
}  // namespace holdfast::stores
