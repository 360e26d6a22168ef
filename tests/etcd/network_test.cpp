// A bad network: nothing happens twice, nothing stays behind, and streams that are cut are opened again.
#include <memory>
#include <optional>
#include <random>

#include "etcd/faults.hpp"
#include "support/counts.hpp"

namespace holdfast::etcd_tests {
namespace {

constexpr unsigned parties = 4;
constexpr auto long_lease = 60s;  // longer than any test: a hold that nobody owns shows

/// Some clients, each behind a bad network of its own, that take turns until enough went wrong.
class network_test : public testing::Test {
protected:
    void contend(redis_faults::odds const& chances, ordering order, int faults) {
        for (unsigned i = 0; i < parties; ++i) {
            networks_.push_back(std::make_unique<proxy>(server_.port(), seed_ + i, chances));
            clients_.emplace_back(url_by(*networks_.back()), client_options{.patience = 60s});
        }
        all_at_once(parties, [&](unsigned i) {
            while (seen_faults() < faults)
                take_turn(i, order);
        });
        expect_all_well();
    }

    [[nodiscard]] int seen_faults() const {
        int out = 0;
        for (auto const& each : networks_)
            out += each->faults();
        return out;
    }

    /// One who waits for it, tries for a moment, or walks away.
    void take_turn(unsigned i, ordering order) {
        std::mt19937_64 random{seed_ + 100 * ++turns_ + i};
        mutex shared{clients_[i], "q", {.lease = long_lease, .order = order}};
        auto const how = random() % 4;
        try {
            auto held = how == 0 ? shared.try_acquire_for(random() % 20 * 1ms)
                                 : std::optional<lease>{shared.acquire()};
            if (!held) return;
            tokens_.add(held->token());
            room_.visit();
            ++visits_;
            if (how == 1) {
                EXPECT_NE(held->release(), release_outcome::already_lost);
            }
        } catch (std::system_error const& error) {
            EXPECT_EQ(error.code(), errc::store_unavailable) << error.what();
            EXPECT_EQ(how, 0U) << "patience is longer than any fault: " << error.what();
        }
    }

    void expect_all_well() {
        std::cout << visits_ << " visits, " << seen_faults() << " faults" << std::endl;
        EXPECT_GT(visits_, 0);
        EXPECT_EQ(room_.visits(), visits_);
        EXPECT_EQ(tokens_.count(), visits_);
        for (auto const& each : networks_)
            each->be_good();
        for (auto& each : clients_) {
            EXPECT_EQ(each.metrics()["losses"], 0U);
            EXPECT_EQ(each.metrics()["tokens_not_rising"], 0U);
            each.ping();  // only who is connected can say farewell
            each.close();
        }
        EXPECT_TRUE(is_empty(server_, 20s));
    }

    std::uint64_t seed_{support::seed_of_run()};
    support::etcd_server server_;
    std::vector<std::unique_ptr<proxy>> networks_;
    std::vector<client> clients_;
    support::rising_tokens tokens_;
    support::room room_;
    std::atomic<int> visits_{0};
    std::atomic<unsigned> turns_{0};
};

TEST_F(network_test, replies_get_lost_after_their_step) {
    contend({.lose_reply = 30}, ordering::barging, support::large_count(1000));
}

TEST_F(network_test, requests_and_replies_get_lost_while_others_wait_in_line) {
    contend({.lose_request = 60, .lose_reply = 60, .cut_reply = 60}, ordering::fair,
            support::large_count(1000));
}

TEST_F(network_test, a_hold_outlives_streams_that_are_cut_all_the_time) {
    proxy network{server_.port(), seed_};
    client mine{url_by(network)};
    client other{server_.url()};
    auto held = mutex{mine, "q", {.lease = 3s}}.acquire();
    std::atomic<int> changes{0};
    auto const watching =
        election{mine, "chair"}.observe([&](std::optional<leader_info> const&) { ++changes; });
    stopwatch const since;
    auto const span = support::large_count(120'000ms);
    while (since.elapsed() < span) {
        EXPECT_TRUE(throughout(300ms, [&] { return held.held(); })) << held.loss_reason();
        network.lead_to(server_.port());  // what is open breaks
    }
    EXPECT_GT(network.connections(), 10);
    auto const before = changes.load();
    auto const term = election{other, "chair"}.campaign("other");
    EXPECT_TRUE(eventually([&] { return changes > before; })) << "watches are in force again";
    EXPECT_EQ(held.release(), release_outcome::released);
    EXPECT_EQ(mine.metrics()["losses"], 0U);
}

TEST_F(network_test, compaction_and_defragmentation_under_watches_lose_no_wake_up) {
    proxy network{server_.port(), seed_};
    std::atomic<bool> over{false};
    auto maintaining = std::async(std::launch::async, [&] {
        while (!over) {
            server_.compact();
            server_.control({"defrag"});
            network.lead_to(server_.port());  // who was away must find its history gone
            (void)throughout(200ms, [&] { return !over; });
        }
    });
    for (unsigned i = 0; i < parties; ++i)
        clients_.emplace_back(i % 2 == 0 ? url_by(network) : server_.url(),
                              client_options{.patience = 60s});
    all_at_once(parties, [&](unsigned i) {
        mutex shared{clients_[i], "q", {.lease = long_lease, .order = ordering::fair}};
        for (int turn = 0; turn < 50; ++turn) {
            auto const held = shared.acquire();
            room_.visit();
            ++visits_;
        }
    });
    over = true;
    EXPECT_NO_THROW(maintaining.get());
    for (auto& each : clients_) {
        each.ping();  // only who is connected can say farewell
        each.close();
    }
    EXPECT_EQ(room_.visits(), visits_);
    EXPECT_TRUE(is_empty(server_, 20s));
}

}  // namespace
}  // namespace holdfast::etcd_tests
