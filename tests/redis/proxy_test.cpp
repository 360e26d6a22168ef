// A bad network: nothing happens twice, nothing stays behind, and the counts are right.
#include "support/proxy.hpp"

#include <memory>
#include <optional>
#include <thread>

#include "redis/fixture.hpp"
#include "support/raw_server.hpp"

namespace holdfast::redis_faults {
namespace {

constexpr unsigned parties = 4;
constexpr auto long_lease = 30s;  // longer than any test: a hold that nobody owns shows

/// Some clients, each behind a bad network of its own.
class proxy_test : public ::testing::Test {
protected:
    void go_through(odds const& chances) {
        for (unsigned i = 0; i < parties; ++i) {
            networks_.push_back(std::make_unique<proxy>(server_.port(), seed_ + i, chances));
            clients_.emplace_back(networks_.back()->url());
        }
    }

    /// Whether so many turns are too few, or too little went wrong in them: the seed chooses what does.
    [[nodiscard]] bool goes_on(int turn) const {
        return turn < turns_ || (turn < 100 * turns_ && seen_faults() < least_faults_);
    }
    [[nodiscard]] int seen_faults() const {
        int out = 0;
        for (auto const& each : networks_)
            out += each->faults();
        return out;
    }

    /// One who does so with the mutex: waits for it, tries for a moment, or walks away.
    void take_turns(unsigned i, ordering order) {
        std::mt19937_64 random{seed_ + 100 + i};
        mutex shared{clients_[i], "q", {.lease = long_lease, .order = order}};
        for (int turn = 0; goes_on(turn); ++turn) {
            auto const how = random() % 4;
            try {
                auto held = how == 0 ? shared.try_acquire_for(random() % 20 * 1ms)
                                     : std::optional<lease>{shared.acquire()};
                if (!held) continue;
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
    }

    void expect_all_well() {
        EXPECT_EQ(room_.visits(), visits_);
        EXPECT_EQ(tokens_.count(), visits_);
        EXPECT_GE(seen_faults(), least_faults_) << "a test without faults shows nothing";
        for (auto const& it : networks_)
            it->be_good();
        for (auto& it : clients_) {
            EXPECT_EQ(it.metrics()["losses"], 0U);
            EXPECT_EQ(it.metrics()["tokens_not_rising"], 0U);
            it.close();
        }
        EXPECT_TRUE(is_empty(server_, 15s));
    }

    void contend(odds const& chances, ordering order) {
        go_through(chances);
        all_at_once(parties, [&](unsigned i) { take_turns(i, order); });
        expect_all_well();
    }

    std::uint64_t seed_{seed_of_run()};
    redis_server server_;
    std::vector<std::unique_ptr<proxy>> networks_;
    std::vector<client> clients_;
    int turns_{80};
    int least_faults_{10};
    rising_tokens tokens_;
    room room_;
    std::atomic<int> visits_{0};
};

TEST_F(proxy_test, replies_get_lost) {
    contend({.lose_reply = 12, .repeat = true}, ordering::barging);
}

TEST_F(proxy_test, requests_get_lost_and_arrive_once_more) {
    contend({.lose_request = 12, .repeat = true}, ordering::fair);
}

TEST_F(proxy_test, connections_break_in_the_middle_of_a_reply) {
    contend({.cut_reply = 12, .garble = 40, .repeat = true}, ordering::fair);
}

TEST_F(proxy_test, replies_come_late) {
    least_faults_ = 20;
    contend({.delay = 4, .longest_delay = 60ms}, ordering::barging);
}

TEST_F(proxy_test, everything_at_once_and_silence) {
    turns_ = 10;
    contend({.lose_request = 40,
             .lose_reply = 40,
             .cut_reply = 40,
             .silence = 60,
             .delay = 20,
             .repeat = true},
            ordering::barging);
}

TEST_F(proxy_test, permits_are_neither_lost_nor_found) {
    go_through({.lose_request = 25, .lose_reply = 25, .cut_reply = 25, .repeat = true});
    constexpr int limit = 3;
    std::atomic<int> taken{0};
    all_at_once(parties, [&](unsigned i) {
        std::mt19937_64 random{seed_ + 100 + i};
        semaphore pool{clients_[i], "pool", limit, {.lease = long_lease}};
        for (int turn = 0; goes_on(turn); ++turn) {
            auto const n = static_cast<std::uint32_t>(1 + random() % limit);
            auto held = pool.acquire_lease(n);
            EXPECT_LE(taken.fetch_add(static_cast<int>(n)) + static_cast<int>(n), limit);
            std::this_thread::yield();
            taken.fetch_sub(static_cast<int>(n));
        }
    });
    client direct{server_.url()};
    semaphore pool{direct, "pool", limit};
    EXPECT_TRUE(eventually([&] { return pool.available() == limit; }, 15s));
    expect_all_well();
}

// When others have counted on while an answer was lost, the latch says that it does not know.
TEST_F(proxy_test, a_latch_counts_none_twice) {
    go_through({.lose_request = 10, .lose_reply = 10, .cut_reply = 10, .repeat = true});
    constexpr unsigned each = 15;
    std::atomic<unsigned> unknown{0};
    // One more than they count: any that is counted twice opens it.
    all_at_once(parties, [&](unsigned i) {
        latch gate{clients_[i], "gate", parties * each + 1};
        for (unsigned turn = 0; turn < each; ++turn) {
            auto const failure = support::failure_of([&] {
                gate.count_down();
                return 0;
            });
            if (!failure) continue;
            EXPECT_EQ(failure, errc::store_unavailable);
            ++unknown;
        }
    });
    client direct{server_.url()};
    auto const left = latch{direct, "gate"}.count();
    EXPECT_GE(left, 1U);
    EXPECT_LE(left, 1U + unknown);
    EXPECT_LT(unknown, parties * each / 4);
}

// Replies that changed places would be taken for each other's, which no network does.
TEST(proxy_order_test, what_comes_late_is_not_overtaken_by_a_part_of_what_came_later) {
    support::raw_server const echo{[](support::raw_socket const& socket) {
        for (auto text = socket.receive(); !text.empty(); text = socket.receive())
            socket.send(text);
    }};
    proxy network{echo.port(), 1, {.delay = 1, .longest_delay = 1h}};
    auto there = support::loopback(network.port());
    int const mine = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(::connect(mine, support::raw(there), sizeof there), 0);
    support::raw_socket const client{mine, 0};
    EXPECT_TRUE(client.send("first"));
    EXPECT_TRUE(eventually([&] { return network.round_trips() == 1; }));
    network.be_bad({.cut_reply = 1});
    EXPECT_TRUE(client.send("second"));
    std::string heard;
    for (auto text = client.receive(); !text.empty(); text = client.receive())
        heard += text;
    ::close(mine);
    EXPECT_TRUE(heard.starts_with("first")) << heard;
}

}  // namespace
}  // namespace holdfast::redis_faults
