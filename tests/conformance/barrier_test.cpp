// barrier: parties that wait for each other, generation by generation.
#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "conformance/store_test.hpp"
#include "conformance/worker.hpp"

namespace holdfast::conformance {

namespace {

class barrier_test : public store_test {
protected:
    [[nodiscard]] std::vector<client> connect_all(int how_many) const {
        std::vector<client> out;
        for (int i = 0; i < how_many; ++i)
            out.push_back(connect());
        return out;
    }

    /// The dead are found within a third of a lease.
    [[nodiscard]] client client_of_short_leases() const {
        return client{store().url_with("lease=2s")};
    }

    /// Whether so many come to wait at `name`.
    [[nodiscard]] static bool arrives(client& from, std::string_view name, std::uint64_t many) {
        return eventually([&] { return listed(from, name).count == many; });
    }

    /// Has `parties` threads of `clients` meet `turns` times; returns how often they disagreed.
    [[nodiscard]] static int disagreements(std::vector<client>& clients, std::uint32_t parties,
                                           std::uint64_t turns) {
        std::vector<std::atomic<std::uint32_t>> present(turns);
        std::atomic<int> out{0};
        std::vector<std::jthread> crowd;
        for (std::uint32_t i = 0; i < parties; ++i) {
            crowd.emplace_back([&, i] {
                barrier it{clients[i % clients.size()], "q", parties};
                for (std::uint64_t turn = 0; turn < turns; ++turn) {
                    ++present[turn];
                    if (it.arrive_and_wait() != turn) ++out;
                    if (present[turn] != parties) ++out;
                }
            });
        }
        crowd.clear();
        return out;
    }
};
HOLDFAST_OVER_ROWS_WITH(barrier_test, ability::barriers);

TEST_P(barrier_test, the_last_party_lets_all_go_on) {
    auto one = connect();
    auto const two = connect();
    auto first = elsewhere([&] { return barrier(two, "q", 3).arrive_and_wait(); });
    auto second = elsewhere([&] { return barrier(two, "q", 3).arrive_and_wait(); });
    ASSERT_TRUE(arrives(one, "q", 2));
    EXPECT_FALSE(ready(first, 50ms));
    barrier it{one, "q", 3};
    EXPECT_EQ(it.name(), "q");
    EXPECT_EQ(it.arrive_and_wait(), 0U);
    ASSERT_TRUE(ready(first));
    ASSERT_TRUE(ready(second));
    EXPECT_EQ(first.get(), 0U);
    EXPECT_EQ(second.get(), 0U);
}

TEST_P(barrier_test, one_party_never_waits) {
    auto const client = connect();
    barrier it{client, "q", 1};
    for (std::uint64_t turn = 0; turn < 5; ++turn)
        EXPECT_EQ(it.arrive_and_wait(), turn);
    EXPECT_EQ(it.arrive_and_wait_for(10s), 5U);
}

TEST_P(barrier_test, options_out_of_range_are_refused) {
    auto client = connect();
    EXPECT_EQ(failure_of([&] { barrier(client, "q", 0); }), errc::bad_option);
    EXPECT_EQ(failure_of([&] { barrier(client, "q", (1U << 20) + 1); }), errc::bad_option);
    EXPECT_EQ(failure_of([&] { barrier(client, "", 2); }), errc::bad_name);
    barrier const unused{client, "q", 1U << 20};
    EXPECT_TRUE(client.locks().empty());
}

TEST_P(barrier_test, generations_agree_over_hundreds_of_turns) {
    auto clients = connect_all(3);
    EXPECT_EQ(disagreements(clients, 6, 200), 0);
    EXPECT_EQ(listed(clients.front(), "q").generation, 200U);
    EXPECT_TRUE(eventually([&] { return listed(clients.front(), "q").holders.empty(); }));
}

TEST_P(barrier_test, many_parties_turn_often) {
    auto clients = connect_all(4);
    EXPECT_EQ(disagreements(clients, 64, GetParam().name == "memory" ? 1'000 : 50), 0);
}

TEST_P(barrier_test, a_party_that_runs_out_of_time_breaks_it_for_all) {
    auto client = connect();
    auto const other = connect();
    auto waiting =
        elsewhere([&] { return failure_of([&] { barrier(other, "q", 3).arrive_and_wait(); }); });
    ASSERT_TRUE(arrives(client, "q", 1));
    barrier it{client, "q", 3};
    stopwatch const since;
    EXPECT_EQ(it.arrive_and_wait_for(500ms), std::nullopt);
    EXPECT_GE(since.elapsed(), 500ms);
    ASSERT_TRUE(ready(waiting));
    EXPECT_EQ(waiting.get(), errc::broken_barrier);
    EXPECT_TRUE(listed(client, "q").broken);
    EXPECT_LT(since.elapsed(), 4s);  // told, not found by a slow poll
}

TEST_P(barrier_test, a_removed_one_begins_again_with_the_parties_of_who_comes_first) {
    auto client = connect();
    auto const other = connect();
    barrier(client, "q", 5).remove();  // there is none
    for (int i = 0; i < 3; ++i) {
        auto waiting = elsewhere(
            [&] { return failure_of([&] { barrier(other, "q", 2).arrive_and_wait(); }); });
        ASSERT_TRUE(arrives(client, "q", 1));
        barrier(client, "q", 3).remove();
        EXPECT_EQ(barrier(client, "q", 1).arrive_and_wait(), 0U);  // trips before the other looks
        EXPECT_EQ(barrier(client, "q", 1).arrive_and_wait(), 1U);
        ASSERT_TRUE(ready(waiting));
        EXPECT_EQ(waiting.get(), errc::broken_barrier);
        barrier(client, "q", 3).remove();
        EXPECT_TRUE(eventually([&] { return client.locks().empty(); }));
    }
    EXPECT_EQ(latch(client, "q", 1).count(), 1U);
}

TEST_P(barrier_test, is_broken_until_it_is_reset) {
    auto client = connect();
    auto const other = connect();
    client.ping();  // the first use of a store may take longer than a short wait
    barrier it{client, "q", 2};
    EXPECT_EQ(it.arrive_and_wait_until(std::chrono::steady_clock::now() + 2s), std::nullopt);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(failure_of([&] { it.arrive_and_wait(); }), errc::broken_barrier);
        EXPECT_EQ(failure_of([&] { return barrier(other, "q", 2).arrive_and_wait_for(10s); }),
                  errc::broken_barrier);
    }
    barrier(other, "q", 2).reset();
    EXPECT_FALSE(listed(client, "q").broken);
    auto waiting = elsewhere([&] { return barrier(other, "q", 2).arrive_and_wait(); });
    auto const generation = it.arrive_and_wait();
    EXPECT_GT(generation, 0U);
    EXPECT_EQ(waiting.get(), generation);
}

TEST_P(barrier_test, a_reset_ends_the_wait_of_those_who_are_there) {
    auto client = connect();
    auto const other = connect();
    barrier it{client, "q", 2};
    it.reset();  // of nothing
    auto waiting =
        elsewhere([&] { return failure_of([&] { barrier(other, "q", 2).arrive_and_wait(); }); });
    ASSERT_TRUE(arrives(client, "q", 1));
    stopwatch const since;
    it.reset();
    ASSERT_TRUE(ready(waiting));
    EXPECT_EQ(waiting.get(), errc::broken_barrier);
    EXPECT_LT(since.elapsed(), 4s);
    auto next = elsewhere([&] { return barrier(other, "q", 2).arrive_and_wait(); });
    auto const generation = it.arrive_and_wait();
    EXPECT_EQ(next.get(), generation);
}

// Parties that give up all the time: whoever gets through a generation is as many as it has.
TEST_P(barrier_test, those_who_leave_corrupt_no_later_generation) {
    constexpr std::uint32_t parties = 3;
    auto clients = connect_all(3);
    std::mutex guard;
    std::map<std::uint64_t, std::uint32_t> through;
    std::uint32_t in_the_dark = 0;
    {
        std::vector<std::jthread> crowd;
        for (std::uint32_t i = 0; i < parties; ++i) {
            crowd.emplace_back([&, i] {
                barrier it{clients[i], "q", parties};
                for (int turn = 0; turn < 40; ++turn) {
                    bool const hasty = (static_cast<std::uint32_t>(turn) + i) % 5 == 0;
                    try {
                        auto const done = it.arrive_and_wait_for(hasty ? 1ms : 40ms);
                        if (!done) continue;
                        std::lock_guard const turn_of_this{guard};
                        ++through[*done];
                    } catch (std::system_error const& error) {
                        if (error.code() != errc::broken_barrier) {
                            // So little time may be over before the store has answered.
                            EXPECT_EQ(error.code(), errc::store_unavailable) << error.what();
                            std::lock_guard const turn_of_this{guard};
                            ++in_the_dark;
                        }
                        it.reset();
                    }
                }
            });
        }
    }
    std::uint32_t missing = 0;
    for (auto const& [generation, many] : through)
        missing += parties - many;
    EXPECT_LE(missing, in_the_dark);
    barrier{clients[0], "q", parties}.reset();
    std::vector<std::future<std::uint64_t>> last;
    for (auto const& it : clients)
        last.push_back(elsewhere([&] { return barrier(it, "q", parties).arrive_and_wait(); }));
    auto const generation = last.front().get();
    EXPECT_EQ(last[1].get(), generation);
    EXPECT_EQ(last[2].get(), generation);
}

TEST_P(barrier_test, a_party_without_time_trips_it_when_it_is_the_last) {
    auto client = connect();
    auto const other = connect();
    auto waiting = elsewhere([&] { return barrier(other, "q", 2).arrive_and_wait(); });
    ASSERT_TRUE(arrives(client, "q", 1));
    EXPECT_EQ(barrier(client, "q", 2).arrive_and_wait_for(0ms), 0U);
    EXPECT_EQ(waiting.get(), 0U);
    EXPECT_EQ(barrier(client, "q", 2).arrive_and_wait_for(-1s), std::nullopt);
    EXPECT_TRUE(listed(client, "q").broken);
}

TEST_P(barrier_test, clients_must_agree_on_the_parties) {
    auto client = connect();
    auto const other = connect();
    auto waiting = elsewhere([&] { return barrier(other, "q", 2).arrive_and_wait(); });
    ASSERT_TRUE(arrives(client, "q", 1));
    barrier wrong{client, "q", 3};
    EXPECT_EQ(failure_of([&] { wrong.arrive_and_wait(); }), errc::limit_mismatch);
    EXPECT_EQ(failure_of([&] { return wrong.arrive_and_wait_for(10s); }), errc::limit_mismatch);
    EXPECT_EQ(failure_of([&] { wrong.reset(); }), errc::limit_mismatch);
    EXPECT_EQ(listed(client, "q").count, 1U);
    EXPECT_FALSE(ready(waiting, 50ms));
    EXPECT_EQ(barrier(client, "q", 2).arrive_and_wait(), 0U);
    EXPECT_EQ(waiting.get(), 0U);
}

TEST_P(barrier_test, a_name_has_one_kind) {
    auto client = connect();
    {
        auto const held = mutex(client, "lock").acquire();
        EXPECT_EQ(failure_of([&] { barrier(client, "lock", 1).arrive_and_wait(); }),
                  errc::kind_mismatch);
        EXPECT_TRUE(held.held());
    }
    barrier{client, "barrier", 1}.arrive_and_wait();
    EXPECT_EQ(failure_of([&] { mutex(client, "barrier").lock(); }), errc::kind_mismatch);
    EXPECT_EQ(failure_of([&] { latch(client, "barrier", 1).count_down(); }), errc::kind_mismatch);
    EXPECT_EQ(barrier(client, "barrier", 1).arrive_and_wait(), 1U);
}

TEST_P(barrier_test, a_listing_shows_who_waits) {
    auto client = connect();
    auto const other = connect({.label = "a party"});
    auto waiting = elsewhere([&] { return barrier(other, "q", 2).arrive_and_wait(); });
    ASSERT_TRUE(arrives(client, "q", 1));
    auto const info = listed(client, "q");
    EXPECT_EQ(info.kind, lock_kind::barrier);
    EXPECT_EQ(info.limit, 2U);
    EXPECT_EQ(info.generation, 0U);
    EXPECT_FALSE(info.broken);
    ASSERT_EQ(info.holders.size(), 1U);
    EXPECT_EQ(info.holders.front().label, "a party");
    barrier{client, "q", 2}.arrive_and_wait();
    waiting.get();
    EXPECT_TRUE(eventually([&] { return listed(client, "q").holders.empty(); }));
    EXPECT_EQ(listed(client, "q").generation, 1U);
}

TEST_P(barrier_test, a_party_that_is_evicted_breaks_it) {
    auto client = client_of_short_leases();
    auto const other = client_of_short_leases();
    auto waiting =
        elsewhere([&] { return failure_of([&] { barrier(other, "q", 3).arrive_and_wait(); }); });
    ASSERT_TRUE(arrives(client, "q", 1));
    EXPECT_EQ(client.evict("q"), 1U);
    auto next =
        elsewhere([&] { return failure_of([&] { barrier(client, "q", 3).arrive_and_wait(); }); });
    ASSERT_TRUE(ready(waiting));
    EXPECT_EQ(waiting.get(), errc::broken_barrier);
    ASSERT_TRUE(ready(next));
    EXPECT_EQ(next.get(), errc::broken_barrier);
}

TEST_P(barrier_test, closing_the_client_ends_a_wait_and_breaks_it_for_the_others) {
    auto client = client_of_short_leases();
    auto other = client_of_short_leases();
    auto theirs =
        elsewhere([&] { return failure_of([&] { barrier(other, "q", 3).arrive_and_wait(); }); });
    auto ours =
        elsewhere([&] { return failure_of([&] { barrier(client, "q", 3).arrive_and_wait(); }); });
    ASSERT_TRUE(arrives(client, "q", 2));
    other.close();
    ASSERT_TRUE(ready(theirs));
    EXPECT_EQ(theirs.get(), errc::closed);
    ASSERT_TRUE(ready(ours));
    EXPECT_EQ(ours.get(), errc::broken_barrier);
}

TEST_P(barrier_test, a_party_that_is_killed_breaks_it_for_those_who_wait) {
    if (!can({ability::processes})) return;
    auto client = client_of_short_leases();
    auto const party = start_worker(store().url_with("lease=2s"));
    party->send("arrive q 3");
    ASSERT_TRUE(arrives(client, "q", 1));
    auto waiting =
        elsewhere([&] { return failure_of([&] { barrier(client, "q", 3).arrive_and_wait(); }); });
    ASSERT_TRUE(arrives(client, "q", 2));
    party->kill();
    ASSERT_TRUE(ready(waiting));
    EXPECT_EQ(waiting.get(), errc::broken_barrier);
    EXPECT_EQ(failure_of([&] { barrier(client, "q", 3).arrive_and_wait(); }), errc::broken_barrier);
}

TEST_P(barrier_test, a_party_that_was_killed_does_not_count_for_the_last_one) {
    if (!can({ability::processes})) return;
    auto client = client_of_short_leases();
    auto const party = start_worker(store().url_with("lease=1s"));
    party->send("arrive q 2");
    ASSERT_TRUE(arrives(client, "q", 1));
    party->kill();
    ASSERT_TRUE(eventually([&] { return listed(client, "q").holders.empty(); }));
    EXPECT_EQ(failure_of([&] { barrier(client, "q", 2).arrive_and_wait(); }), errc::broken_barrier);
    EXPECT_TRUE(eventually([&] { return listed(client, "q").broken; }));
}

}  // namespace

}  // namespace holdfast::conformance
