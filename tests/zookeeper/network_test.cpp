// A bad network: nothing happens twice, and nothing stays behind.
#include <memory>
#include <optional>
#include <random>

#include "support/counts.hpp"
#include "zookeeper/faults.hpp"

namespace holdfast::zookeeper_tests {
namespace {

constexpr unsigned contenders = 4;
constexpr auto long_lease = 60s;  // longer than any test: a hold that nobody owns shows

/// Some clients, each behind a bad network of its own, that take turns until enough went wrong.
class network_test : public testing::Test {
protected:
    network_test() {
        visit_as_witness();  // makes the folders
        nodes_ = server_.nodes();
    }

    void contend(redis_faults::odds const& chances, ordering order, int faults) {
        for (unsigned i = 0; i < contenders; ++i) {
            networks_.push_back(std::make_unique<proxy>(server_.port(), seed_ + i, chances));
            clients_.push_back(new_client(i));
        }
        all_at_once(contenders, [&](unsigned i) {
            while (seen_faults() < faults)
                take_turn(i, order);
        });
        expect_all_well();
    }

    [[nodiscard]] client new_client(unsigned i) const {
        return client{url_by(*networks_[i]), client_options{.patience = 60s}};
    }

    /// Whoever opens a session clears away what others have left, and so does whoever lists names.
    void visit_as_witness() {
        client witness{server_.url()};
        EXPECT_TRUE(mutex(witness, "q", {.lease = long_lease}).try_acquire_for(20s))
            << "a claim that nobody owns";
        (void)witness.locks();
        witness.close();
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
        if (begin_anew_) {
            clients_[i].close();
            clients_[i] = new_client(i);
        }
        mutex shared{clients_[i], "q", {.lease = lease_, .order = order}};
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
        visit_as_witness();
        // A farewell may be lost: then a session ends with its time-out.
        EXPECT_TRUE(eventually(
            [&] {
                visit_as_witness();
                return server_.nodes() == nodes_;
            },
            long_lease * 2))
            << server_.nodes() << " nodes where there were " << nodes_;
    }

    std::uint64_t seed_{support::seed_of_run()};
    support::zookeeper_server server_;
    std::uint64_t nodes_{0};  ///< when nobody is there
    std::vector<std::unique_ptr<proxy>> networks_;
    std::vector<client> clients_;
    support::rising_tokens tokens_;
    support::room room_;
    std::atomic<int> visits_{0};
    std::atomic<unsigned> turns_{0};
    std::chrono::milliseconds lease_{long_lease};
    bool begin_anew_{false};  ///< a client for each turn
};

TEST_F(network_test, replies_get_lost_after_their_step) {
    contend({.lose_reply = 30}, ordering::barging, support::large_count(1000));
}

TEST_F(network_test, requests_and_replies_get_lost_while_others_wait_in_line) {
    contend({.lose_request = 60, .lose_reply = 60, .cut_reply = 60}, ordering::fair,
            support::large_count(1000));
}

// Sessions begin and end all the time, each with a record and a box.
TEST_F(network_test, connections_break_while_sessions_begin_and_end) {
    begin_anew_ = true;
    lease_ = 10s;  // a farewell may be lost, and with it what was held
    contend({.lose_request = 40, .lose_reply = 40, .cut_reply = 60}, ordering::fair,
            support::large_count(1000));
}

}  // namespace
}  // namespace holdfast::zookeeper_tests
