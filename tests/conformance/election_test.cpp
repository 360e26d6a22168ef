// election: one leader at a time, known to all.
#include <atomic>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "conformance/store_test.hpp"
#include "conformance/worker.hpp"

namespace holdfast {
inline namespace v1 {

inline void PrintTo(leader_info const& it, std::ostream* out) {
    *out << it.value << " with " << it.token;
}

}  // namespace v1
}  // namespace holdfast

namespace holdfast::conformance {

namespace {

using news = std::optional<leader_info>;

/// An observer that keeps all it hears.
class ear {
public:
    [[nodiscard]] election::observer hearing() {
        return [this](news const& it) {
            std::lock_guard const guard{mutex_};
            heard_.push_back(it);
        };
    }
    [[nodiscard]] std::vector<news> heard() const {
        std::lock_guard const guard{mutex_};
        return heard_;
    }
    /// Whether the latest that it hears comes to be `what`.
    [[nodiscard]] bool ends_with(news const& what) const {
        return eventually([&] {
            auto const all = heard();
            return !all.empty() && all.back() == what;
        });
    }

private:
    mutable std::mutex mutex_;
    std::vector<news> heard_;
};

class election_test : public store_test {};
HOLDFAST_OVER_ROWS_WITH(election_test, ability::elections);

TEST_P(election_test, the_winner_leads_until_its_lease_ends) {
    auto client = connect();
    auto const other = connect();
    election ours{client, "q"};
    election theirs{other, "q"};
    EXPECT_EQ(ours.name(), "q");
    EXPECT_EQ(theirs.leader(), std::nullopt);
    auto term = ours.campaign("host-1:80");
    EXPECT_TRUE(term.held());
    EXPECT_EQ(term.name(), "q");
    EXPECT_EQ(theirs.leader(), (leader_info{"host-1:80", term.token()}));
    EXPECT_EQ(ours.leader(), theirs.leader());
    EXPECT_EQ(term.release(), release_outcome::released);
    EXPECT_EQ(theirs.leader(), std::nullopt);
    EXPECT_TRUE(client.locks().empty());
}

TEST_P(election_test, the_next_candidate_follows_with_a_higher_token) {
    auto client = connect();
    auto const other = connect();
    election ours{client, "q"};
    election theirs{other, "q"};
    auto first = ours.campaign("one");
    auto waiting = elsewhere([&] { return theirs.campaign("two"); });
    ASSERT_TRUE(waits(client, "q", 1));
    EXPECT_EQ(ours.leader()->value, "one");
    EXPECT_EQ(listed(client, "q").kind, lock_kind::election);
    EXPECT_EQ(listed(client, "q").waiters.front().value, "two");
    EXPECT_EQ(first.release(), release_outcome::released);
    ASSERT_TRUE(ready(waiting));
    auto const second = waiting.get();
    EXPECT_GT(second.token(), first.token());
    EXPECT_EQ(ours.leader(), (leader_info{"two", second.token()}));
}

TEST_P(election_test, there_is_never_more_than_one) {
    std::vector<client> clients;
    for (int i = 0; i < 4; ++i)
        clients.push_back(connect());
    std::atomic<int> leading{0};
    std::atomic<int> conflicts{0};
    std::atomic<std::uint64_t> highest{0};
    {
        std::vector<std::jthread> crowd;
        for (std::size_t i = 0; i < 8; ++i) {
            crowd.emplace_back([&, i] {
                election it{clients[i % 4], "q"};
                auto const value = "candidate " + std::to_string(i);
                for (int k = 0; k < 15; ++k) {
                    auto term = it.campaign(value);
                    conflicts += ++leading != 1;
                    conflicts += term.token() <= highest.exchange(term.token());
                    conflicts += it.leader() != news{{value, term.token()}};
                    --leading;
                    (void)term.release();
                }
            });
        }
    }
    EXPECT_EQ(conflicts, 0);
    EXPECT_TRUE(empties(clients.front()));
}

TEST_P(election_test, a_value_is_any_bytes_of_bounded_length) {
    auto const client = connect();
    election it{client, "q"};
    std::string bytes{"\0\n \xff'\"%", 8};
    for (auto const& value : {std::string{}, bytes, std::string(64 * 1024, 'x')}) {
        auto term = it.campaign(value);
        ASSERT_TRUE(it.leader());
        EXPECT_TRUE(it.leader()->value == value);
        (void)term.release();
    }
    EXPECT_EQ(failure_of([&] { return it.campaign(std::string(64 * 1024 + 1, 'x')); }),
              errc::bad_option);
    EXPECT_EQ(failure_of([&] { election(client, ""); }), errc::bad_name);
    EXPECT_EQ(failure_of([&] { election(client, "q", {.lease = 1ms}); }), errc::bad_option);
}

TEST_P(election_test, resign_ends_the_term_that_was_won_last) {
    auto const client = connect();
    election it{client, "q"};
    EXPECT_EQ(failure_of([&] { it.resign(); }), errc::not_owner);
    auto term = it.campaign("me");
    EXPECT_EQ(it.resign(), release_outcome::released);
    EXPECT_EQ(term.state(), lease_state::released);
    EXPECT_FALSE(term.lost().stop_requested());
    EXPECT_EQ(it.leader(), std::nullopt);
    auto again = it.campaign("me again");
    EXPECT_EQ(it.leader()->value, "me again");
    EXPECT_EQ(it.resign(), release_outcome::released);
    { auto const brief = it.campaign("brief"); }
    EXPECT_EQ(failure_of([&] { it.resign(); }), errc::not_owner);
    EXPECT_TRUE(eventually([&] { return !it.leader(); }));
}

TEST_P(election_test, resign_of_a_lost_term_says_so_and_leaves_the_next_leader_alone) {
    auto client = connect();
    auto const other = connect();
    election ours{client, "q"};
    auto const first = ours.campaign("one");
    EXPECT_EQ(client.evict("q"), 1U);
    auto const second = election(other, "q").campaign("two");
    EXPECT_EQ(ours.resign(), release_outcome::already_lost);
    EXPECT_EQ(ours.leader(), (leader_info{"two", second.token()}));
}

TEST_P(election_test, a_stop_ends_a_campaign) {
    auto client = connect();
    auto const other = connect();
    auto const term = election(client, "q").campaign("one");
    std::stop_source stop;
    auto waiting =
        elsewhere([&] { return election(other, "q").campaign("two", stop.get_token()); });
    ASSERT_TRUE(waits(client, "q", 1));
    stop.request_stop();
    ASSERT_TRUE(ready(waiting));
    EXPECT_FALSE(waiting.get());
    EXPECT_TRUE(waits(client, "q", 0));
    EXPECT_TRUE(term.held());
    EXPECT_FALSE(election(other, "p").campaign("two", stop.get_token()));  // requested before
    EXPECT_TRUE(election(other, "p").campaign("two", std::stop_token{}));
}

TEST_P(election_test, a_leader_learns_that_it_leads_no_more_and_may_stand_again) {
    auto client = connect();
    auto other = connect();
    election ours{client, "q"};
    auto first = ours.campaign("one");
    auto const lost = first.lost();
    EXPECT_FALSE(lost.stop_requested());
    EXPECT_EQ(other.evict("q"), 1U);
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
    EXPECT_EQ(first.state(), lease_state::lost);
    EXPECT_NE(first.loss_reason(), "");
    auto const again = ours.campaign("one");
    EXPECT_GT(again.token(), first.token());
    EXPECT_EQ(ours.leader(), (leader_info{"one", again.token()}));
}

TEST_P(election_test, a_term_without_renewal_ends_with_its_lease) {
    auto const client = connect();
    auto const other = connect();
    auto const first = election(client, "q", {.lease = 300ms, .renew = false}).campaign("one");
    auto const second = election(other, "q").campaign("two");
    EXPECT_EQ(first.state(), lease_state::lost);
    EXPECT_GT(second.token(), first.token());
    EXPECT_EQ(election(client, "q").leader()->value, "two");
}

TEST_P(election_test, an_observer_hears_the_present_state_and_every_latest_one) {
    auto client = connect();
    auto const other = connect();
    election ours{client, "q"};
    election theirs{other, "q"};
    ear nobody_yet;
    auto const early = theirs.observe(nobody_yet.hearing());
    EXPECT_TRUE(nobody_yet.ends_with(std::nullopt));
    auto term = ours.campaign("one");
    news const one{{"one", term.token()}};
    EXPECT_TRUE(nobody_yet.ends_with(one));
    ear late;
    auto const later = theirs.observe(late.hearing());
    EXPECT_TRUE(late.ends_with(one));
    ear own;
    auto const of_leader = ours.observe(own.hearing());
    EXPECT_TRUE(own.ends_with(one));
    stopwatch const since;
    (void)term.release();
    for (auto* const it : {&nobody_yet, &late, &own})
        EXPECT_TRUE(it->ends_with(std::nullopt));
    EXPECT_LT(since.elapsed(), 4s);  // told: the slow poll comes after five
    EXPECT_EQ(late.heard(), (std::vector<news>{one, std::nullopt}));
}

TEST_P(election_test, observers_hear_in_order_and_the_latest_always_arrives) {
    constexpr int terms = 40;
    auto client = connect();
    auto const other = connect();
    ear all;
    auto const kept = election(other, "q").observe(all.hearing());
    std::vector<news> truth{std::nullopt};
    election ours{client, "q"};
    lease last;
    for (int i = 0; i < terms; ++i) {
        last = ours.campaign(std::to_string(i));
        truth.push_back(leader_info{std::to_string(i), last.token()});
        if (i + 1 == terms) break;
        (void)last.release();
        truth.push_back(std::nullopt);
    }
    EXPECT_TRUE(all.ends_with(truth.back()));
    auto at = truth.begin();  // what was heard is the truth with some left out
    for (auto const& it : all.heard()) {
        at = std::find(at, truth.end(), it);
        ASSERT_NE(at, truth.end());
    }
}

TEST_P(election_test, an_observer_hears_of_an_eviction_and_of_the_one_who_follows) {
    auto client = connect();
    auto const other = connect();
    auto const first = election(client, "q").campaign("one");
    ear all;
    auto const kept = election(client, "q").observe(all.hearing());
    ASSERT_TRUE(all.ends_with(leader_info{"one", first.token()}));
    auto waiting = elsewhere([&] { return election(other, "q").campaign("two"); });
    ASSERT_TRUE(waits(client, "q", 1));
    EXPECT_EQ(client.evict("q"), 1U);
    auto const second = waiting.get();
    EXPECT_TRUE(all.ends_with(leader_info{"two", second.token()}));
}

TEST_P(election_test, a_subscription_that_has_ended_is_silent) {
    auto const client = connect();
    election it{client, "q"};
    EXPECT_EQ(failure_of([&] { return it.observe({}); }), errc::bad_option);
    ear first;
    ear second;
    auto kept = it.observe(first.hearing());
    EXPECT_TRUE(first.ends_with(std::nullopt));
    kept = it.observe(second.hearing());  // ends the first
    EXPECT_TRUE(second.ends_with(std::nullopt));
    auto const before = first.heard().size();
    stopwatch const since;
    {
        auto const term = it.campaign("one");
        EXPECT_TRUE(second.ends_with(leader_info{"one", term.token()}));
    }
    EXPECT_TRUE(second.ends_with(std::nullopt));
    EXPECT_EQ(first.heard().size(), before);
    auto moved = std::move(kept);
    kept = subscription{};
    auto const term = it.campaign("two");
    EXPECT_TRUE(second.ends_with(leader_info{"two", term.token()}));
    EXPECT_LT(since.elapsed(), 4s);  // the end of the first did not deafen the second
}

TEST_P(election_test, the_end_of_a_subscription_waits_for_its_observer) {
    auto const client = connect();
    election it{client, "q"};
    std::promise<void> inside;
    std::atomic<bool> go_on{false};
    std::atomic<bool> ended{false};
    auto kept = std::make_optional(it.observe([&](news const&) {
        inside.set_value();
        EXPECT_TRUE(eventually([&] { return go_on.load(); }));
        ended = true;
    }));
    ASSERT_TRUE(ready(inside.get_future()));
    auto ending = elsewhere([&] {
        kept.reset();
        return ended.load();
    });
    EXPECT_FALSE(ready(ending, 50ms));
    go_on = true;
    ASSERT_TRUE(ready(ending));
    EXPECT_TRUE(ending.get());
}

TEST_P(election_test, an_observer_may_end_its_own_subscription_and_may_throw) {
    auto const client = connect();
    election it{client, "q"};
    std::optional<subscription> own;
    std::atomic<int> calls{0};
    std::promise<void> made;
    auto const made_now = made.get_future().share();
    own = it.observe([&](news const&) {
        made_now.wait();
        ++calls;
        own.reset();
    });
    made.set_value();
    EXPECT_TRUE(eventually([&] { return calls == 1; }));
    {
        std::atomic<int> thrown{0};
        auto const throwing = it.observe([&](news const&) {
            ++thrown;
            throw std::runtime_error{"of an observer"};
        });
        EXPECT_TRUE(eventually([&] { return thrown == 1; }));
        auto const term = it.campaign("one");
        EXPECT_TRUE(eventually([&] { return thrown == 2; }));
    }
    EXPECT_EQ(calls, 1);
}

TEST_P(election_test, an_observer_hears_after_an_outage_what_it_missed) {
    if (!can({ability::silence})) return;
    auto client = connect();
    auto const other = connect();
    ear all;
    auto const kept = election(other, "q").observe(all.hearing());
    auto term = election(client, "q").campaign("one");
    ASSERT_TRUE(all.ends_with(leader_info{"one", term.token()}));
    store().silence();
    auto ending = elsewhere([&] { return term.release(); });
    EXPECT_FALSE(ready(ending, 100ms));
    store().restore();
    ASSERT_TRUE(ready(ending));
    EXPECT_TRUE(all.ends_with(std::nullopt));
}

TEST_P(election_test, closing_the_client_ends_campaigns_and_observers) {
    auto client = connect();
    auto other = connect();
    auto const term = election(client, "q").campaign("one");
    ear all;
    auto const kept = election(other, "q").observe(all.hearing());
    ASSERT_TRUE(all.ends_with(leader_info{"one", term.token()}));
    auto waiting =
        elsewhere([&] { return failure_of([&] { return election(other, "q").campaign("two"); }); });
    ASSERT_TRUE(waits(client, "q", 1));
    other.close();
    ASSERT_TRUE(ready(waiting));
    EXPECT_EQ(waiting.get(), errc::closed);
    EXPECT_EQ(failure_of([&] { return election(other, "q").leader(); }), errc::closed);
    EXPECT_TRUE(waits(client, "q", 0));
}

TEST_P(election_test, a_name_has_one_kind) {
    auto const client = connect();
    auto const held = mutex(client, "lock").acquire();
    election it{client, "lock"};
    EXPECT_EQ(failure_of([&] { return it.campaign("one"); }), errc::kind_mismatch);
    EXPECT_EQ(it.leader(), std::nullopt);
    auto const term = election(client, "q").campaign("one");
    EXPECT_EQ(failure_of([&] { mutex(client, "q").lock(); }), errc::kind_mismatch);
    EXPECT_TRUE(term.held());
}

TEST_P(election_test, a_leader_that_is_killed_is_followed) {
    if (!can({ability::processes})) return;
    auto client = connect();
    ear all;
    auto const kept = election(client, "q").observe(all.hearing());
    auto const leader = start_worker(store().url_with("lease=2s"));
    auto const answer = leader->ask("campaign q theirs");
    ASSERT_TRUE(answer.starts_with("held ")) << answer;
    auto const token = std::stoull(answer.substr(5));
    EXPECT_TRUE(all.ends_with(leader_info{"theirs", token}));
    leader->kill();
    auto const term = election(client, "q").campaign("ours");
    EXPECT_GT(term.token(), token);
    EXPECT_TRUE(all.ends_with(leader_info{"ours", term.token()}));
}

}  // namespace

}  // namespace holdfast::conformance
