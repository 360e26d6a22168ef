// Who holds a name by thread or by owner, and how often.
#include "api/holder_table.hpp"

#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "api/name_tables.hpp"
#include "api/permit_pool.hpp"
#include "core/terms.hpp"

namespace holdfast::detail {
namespace {

using namespace std::chrono_literals;

constexpr base::instant now{1h};
constexpr holder one{seam::actor_id{1}};
constexpr holder two{seam::actor_id{2}};

core::terms_ptr terms(lock_options const& options = {}, std::string name = "n") {
    return std::make_shared<core::terms const>(
        core::make_terms({.name = std::move(name)}, options));
}

holder_table::hold_ptr hold(base::instant lost_at = base::never) {
    return std::make_shared<core::hold_state>(terms(), 1, now, lost_at);
}

TEST(holder_table_test, tells_threads_modes_and_owners_apart) {
    holder_table table{"n"};
    auto const mine = hold();
    table.add(one, mine);
    EXPECT_EQ(table.find(one), mine);
    EXPECT_EQ(table.find(two), nullptr);
    EXPECT_EQ(table.find({one.thread, {}, claim_mode::shared}), nullptr);
    EXPECT_EQ(table.find({one.thread, "ann"}), nullptr);
    auto const anns = hold();
    table.add({one.thread, "ann"}, anns);
    EXPECT_EQ(table.find({two.thread, "ann"}), anns) << "an owner counts for all threads";
    EXPECT_EQ(table.find({two.thread, "bob"}), nullptr);
    EXPECT_EQ(table.find(one), mine);
    EXPECT_TRUE(table.is_held_by(one.thread, now));
    EXPECT_FALSE(table.is_held_by(two.thread, now));
}

TEST(holder_table_test, counts_up_and_down) {
    holder_table table{"n"};
    auto const mine = hold();
    EXPECT_EQ(table.enter_again(one, now), nullptr);
    table.add(one, mine);
    EXPECT_EQ(table.enter_again(one, now), mine);
    EXPECT_EQ(table.enter_again(one, now), mine);
    EXPECT_FALSE(table.leave(mine)) << "by a lease";
    EXPECT_EQ(table.leave(one), holder_table::hold_ptr{}) << "by an unlock, and still counted";
    EXPECT_EQ(table.leave(one), mine);
    EXPECT_EQ(table.leave(one), std::nullopt);
    EXPECT_FALSE(table.leave(mine)) << "it is nobody's any more";
}

TEST(holder_table_test, what_is_lost_is_not_entered_again_but_can_be_left) {
    holder_table table{"n"};
    auto const lost = hold(now + 1s);
    table.add(one, lost);
    EXPECT_EQ(table.enter_again(one, now + 1s), nullptr);
    EXPECT_FALSE(table.is_held_by(one.thread, now + 1s));
    auto const again = hold();
    table.add(one, again);
    EXPECT_EQ(table.enter_again(one, now + 1s), again);
    EXPECT_EQ(table.find(one), again) << "the last one";
    EXPECT_EQ(table.leave(one), holder_table::hold_ptr{});
    EXPECT_EQ(table.leave(one), again);
    EXPECT_EQ(table.leave(one), lost);
}

TEST(holder_table_test, threads_enter_and_leave_at_once) {
    holder_table table{"n"};
    {
        std::vector<std::jthread> crowd;
        for (std::uint64_t i = 1; i <= 4; ++i)
            crowd.emplace_back([&table, self = holder{seam::actor_id{i}}] {
                for (int k = 0; k < 1'000; ++k) {
                    auto const mine = hold();
                    table.add(self, mine);
                    EXPECT_EQ(table.enter_again(self, now), mine);
                    EXPECT_FALSE(table.leave(mine));
                    EXPECT_EQ(table.leave(self), mine);
                }
            });
    }
    for (std::uint64_t i = 1; i <= 4; ++i)
        EXPECT_FALSE(table.is_held_by(seam::actor_id{i}, now));
}

std::shared_ptr<core::wait_queue> queue(lock_options const& options = {}, std::string name = "n") {
    return std::make_shared<core::wait_queue>(terms(options, std::move(name)));
}

TEST(name_tables_test, a_queue_is_shared_by_those_who_want_the_same) {
    name_tables tables;
    auto first = tables.queue_like(queue());
    EXPECT_EQ(tables.queue_like(queue()), first);
    auto const slower = tables.queue_like(queue({.lease = 60s}));
    EXPECT_NE(slower, first);
    auto const other = tables.queue_like(queue({}, "o"));
    EXPECT_EQ(tables.queues_of("n", lock_kind::lock).size(), 2U);
    EXPECT_EQ(tables.queues_of("o", lock_kind::lock), name_tables::queues{other});
    EXPECT_TRUE(tables.queues_of("n", lock_kind::semaphore).empty());
    first.reset();
    EXPECT_EQ(tables.queues_of("n", lock_kind::lock), name_tables::queues{slower}) << "not kept";
}

TEST(name_tables_test, holders_are_known_while_somebody_uses_them) {
    name_tables tables;
    auto const used = tables.holders_of("n");
    EXPECT_EQ(used->name(), "n");
    tables.forget_holders("n");
    EXPECT_EQ(tables.holders_of("n"), used);
    std::weak_ptr const unused = tables.holders_of("o");
    EXPECT_TRUE(unused.expired());
    tables.forget_holders("o");
    EXPECT_EQ(tables.holders_of("o")->name(), "o");
}

TEST(name_tables_test, permits_that_are_out_are_known_when_nobody_uses_them) {
    name_tables tables;
    {
        auto const out = tables.permits_of("out");
        base::lock_guard const guard{out->mutex};
        out->held.push_back({hold(), 1, nullptr});
    }
    for (int i = 0; i < 1'000; ++i)
        (void)tables.permits_of("in" + std::to_string(i));
    auto const out = tables.permits_of("out");
    base::lock_guard const guard{out->mutex};
    EXPECT_EQ(out->held.size(), 1U);
}

}  // namespace
}  // namespace holdfast::detail
