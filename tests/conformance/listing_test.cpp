// locks() and evict(): what people and tools see and do.
#include <algorithm>
#include <string>
#include <vector>

#include <unistd.h>

#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

class listing_test : public store_test {};
HOLDFAST_OVER_ALL_ROWS(listing_test);

std::string host() {
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

TEST_P(listing_test, shows_a_holder) {
    if (!can({ability::holder_details})) return;
    auto client = connect();
    auto other = connect();
    EXPECT_TRUE(client.locks().empty());
    mutex shared{client, "orders/42", {.lease = 60s}};
    auto const held = shared.acquire();
    for (auto* const whose : {&client, &other}) {
        auto const all = whose->locks();
        ASSERT_EQ(all.size(), 1U);
        auto const& info = all.front();
        EXPECT_EQ(info.name, "orders/42");
        EXPECT_EQ(info.kind, lock_kind::lock);
        EXPECT_EQ(info.limit, 0U);
        EXPECT_TRUE(info.waiters.empty());
        ASSERT_EQ(info.holders.size(), 1U);
        auto const& holder = info.holders.front();
        EXPECT_EQ(holder.token, held.token());
        EXPECT_EQ(holder.mode, claim_mode::exclusive);
        EXPECT_EQ(holder.permits, 1U);
        EXPECT_EQ(holder.host, host());
        EXPECT_EQ(holder.pid, ::getpid());
        EXPECT_NE(holder.owner, "");
        EXPECT_NE(holder.id, "");
        EXPECT_FALSE(holder.local);
        EXPECT_GE(holder.age, 0ms);
        EXPECT_LT(holder.age, 30s);
        EXPECT_GT(holder.lease_left, 30s);
        EXPECT_LE(holder.lease_left, 60s);
    }
}

TEST_P(listing_test, ages_holders_over_renewals) {
    if (!can({ability::holder_details})) return;
    auto client = connect();
    mutex shared{client, "q"};
    auto held = shared.acquire();
    EXPECT_TRUE(eventually([&] { return listed(client, "q").holders.at(0).age >= 300ms; }));
    EXPECT_EQ(held.renew(), lease_state::held);
    EXPECT_GE(listed(client, "q").holders.at(0).age, 300ms);
    EXPECT_GT(listed(client, "q").holders.at(0).lease_left, 20s);
}

TEST_P(listing_test, shows_waiters_in_order) {
    if (!can({ability::line, ability::fair_order})) return;
    auto client = connect();
    mutex shared{client, "q"};
    auto held = shared.acquire();
    std::vector<holdfast::client> others;
    std::vector<std::future<void>> waiting;
    for (int i = 0; i < 4; ++i)
        others.push_back(connect({.label = "waiter " + std::to_string(i)}));
    for (std::size_t i = 0; i < others.size(); ++i) {
        waiting.push_back(elsewhere([&, i] {
            mutex theirs{others[i], "q", {.order = ordering::fair}};
            static_cast<void>(theirs.acquire());
        }));
        ASSERT_TRUE(waits(client, "q", i + 1));
    }
    auto const info = listed(client, "q");
    for (std::size_t i = 0; i < others.size(); ++i) {
        auto const& waiter = info.waiters.at(i);
        EXPECT_EQ(waiter.label, "waiter " + std::to_string(i));
        EXPECT_EQ(waiter.token, 0U);
        EXPECT_FALSE(waiter.local);
        EXPECT_NE(waiter.id, "");
        EXPECT_EQ(waiter.pid, ::getpid());
        if (i > 0) {
            EXPECT_LE(waiter.age, info.waiters.at(i - 1).age);
        }
    }
    EXPECT_EQ(held.release(), release_outcome::released);
    for (auto& it : waiting)
        it.get();
}

TEST_P(listing_test, marks_the_local_line) {
    auto client = connect();
    auto other = connect();
    mutex shared{client, "q"};
    auto held = shared.acquire();
    auto one = elsewhere([&] { static_cast<void>(shared.acquire()); });
    EXPECT_TRUE(waits(client, "q", 1));
    auto two = elsewhere([&] { static_cast<void>(shared.acquire()); });
    EXPECT_TRUE(waits(client, "q", 2));
    auto const info = listed(client, "q");
    for (auto const& waiter : info.waiters) {
        EXPECT_TRUE(waiter.local);
        EXPECT_EQ(waiter.pid, ::getpid());
        EXPECT_EQ(waiter.token, 0U);
    }
    EXPECT_TRUE(listed(other, "q").waiters.empty());  // nobody else can know of them
    EXPECT_EQ(held.release(), release_outcome::released);
    one.get();
    two.get();
}

TEST_P(listing_test, is_in_order_of_names_and_by_prefix) {
    auto client = connect();
    std::vector<lease> held;
    for (auto const* const name : {"b", "a/2", "a/1", "a", "ab", "c%", "c_d"})
        held.push_back(mutex{client, name}.acquire());
    auto const names = [&](std::string_view prefix) {
        std::vector<std::string> out;
        for (auto const& info : client.locks(prefix))
            out.push_back(info.name);
        return out;
    };
    using list = std::vector<std::string>;
    EXPECT_EQ(names(""), (list{"a", "a/1", "a/2", "ab", "b", "c%", "c_d"}));
    EXPECT_EQ(names("a"), (list{"a", "a/1", "a/2", "ab"}));
    EXPECT_EQ(names("a/"), (list{"a/1", "a/2"}));
    EXPECT_EQ(names("c%"), (list{"c%"}));
    EXPECT_EQ(names("c_"), (list{"c_d"}));
    EXPECT_EQ(names("d"), list{});
}

TEST_P(listing_test, is_complete_however_long) {
    constexpr std::size_t many = 1200;
    auto client = connect();
    std::vector<lease> held;
    for (std::size_t i = 0; i < many; ++i)
        held.push_back(mutex{client, "row/" + std::to_string(i)}.acquire());
    auto const all = client.locks("row/");
    EXPECT_EQ(all.size(), many);
    EXPECT_TRUE(std::ranges::is_sorted(all, {}, &lock_info::name));
}

TEST_P(listing_test, evict_frees_a_name_and_its_holder_learns) {
    auto client = connect();
    auto other = connect();
    mutex shared{client, "q"};
    mutex theirs{other, "q"};
    auto held = shared.acquire();
    auto const lost = held.lost();
    auto waiter = elsewhere([&] { return theirs.acquire(); });
    EXPECT_TRUE(waits_seen_by(client, other, "q", 1));
    EXPECT_EQ(other.evict("q"), 1U);
    auto const next = waiter.get();
    EXPECT_GT(next.token(), held.token());
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
    EXPECT_NE(held.loss_reason(), "");
    EXPECT_EQ(held.release(), release_outcome::already_lost);
    EXPECT_TRUE(next.held());
    EXPECT_EQ(other.evict("nobody"), 0U);
}

TEST_P(listing_test, evict_by_claim_spares_the_others) {
    if (!can({ability::joint_owners})) return;
    auto client = connect();
    auto const other = connect();
    lock_options const same{.owner = "job 7"};
    recursive_mutex mine{client, "q", same};
    recursive_mutex their{other, "q", same};
    auto const one = mine.acquire();
    auto const two = their.acquire();
    auto const holders = listed(client, "q").holders;
    ASSERT_EQ(holders.size(), 2U);
    EXPECT_NE(holders[0].id, holders[1].id);
    EXPECT_EQ(client.evict("q", {.claim = holders[0].id}), 1U);
    EXPECT_TRUE(eventually([&] { return one.held() != two.held(); }));
    auto const left = listed(client, "q").holders;
    ASSERT_EQ(left.size(), 1U);
    EXPECT_EQ(left.front().id, holders[1].id);
    EXPECT_EQ(client.evict("q", {.claim = holders[0].id}), 0U);
    EXPECT_EQ(failure_of([&] { return client.evict("q", {.claim = "nonsense"}); }),
              errc::bad_option);
}

}  // namespace

}  // namespace holdfast::conformance
