// A bad network: nothing happens twice, and nothing stays behind.
#include <memory>
#include <optional>
#include <random>

#include "support/counts.hpp"
#include "zookeeper/faults.hpp"

namespace holdfast::zookeeper_tests {
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
            each.close();
        }
        clients_.clear();
        client witness{server_.url()};
        EXPECT_TRUE(mutex(witness, "q", {.lease = long_lease}).try_acquire_for(20s))
            << "a claim that nobody owns";
    }

    std::uint64_t seed_{support::seed_of_run()};
    support::zookeeper_server server_;
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

}  // namespace
}  // namespace holdfast::zookeeper_tests
