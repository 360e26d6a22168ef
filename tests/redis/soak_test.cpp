// All that can go wrong, at random, for a while. HOLDFAST_SOAK_SECONDS tells how long, a large count unless
// given; HOLDFAST_SEED repeats the choices of a run.
#include <array>
#include <memory>

#include "redis/fixture.hpp"
#include "support/counts.hpp"
#include "support/proxy.hpp"

namespace holdfast::redis_faults {
namespace {

constexpr unsigned parties = 6;
constexpr auto long_lease = 20s;

std::chrono::seconds duration() {
    auto const* const given = std::getenv("HOLDFAST_SOAK_SECONDS");
    return std::chrono::seconds{given != nullptr ? std::stoi(given) : support::large_count(200)};
}

class soak_test : public ::testing::Test {
protected:
    void SetUp() override {
        for (unsigned i = 0; i < parties; ++i) {
            odds const chances{.lose_request = 300,
                               .lose_reply = 300,
                               .cut_reply = 300,
                               .silence = 1500,
                               .garble = 1500,
                               .delay = 50,
                               .repeat = true};
            networks_.push_back(std::make_unique<proxy>(server_.port(), seed_ + i, chances));
            clients_.emplace_back(i % 3 == 2 ? server_.url() : networks_.back()->url());
        }
    }

    void TearDown() override { server_.resume(); }

    [[nodiscard]] bool is_over() const { return since_.elapsed() >= duration(); }

    void disturb() {
        std::mt19937_64 random{seed_};
        while (!is_over()) {
            (void)throughout(random() % 400 * 1ms, [&] { return !is_over(); });
            ++disturbances_;
            switch (random() % 8) {
            case 0: server_.ask({"SCRIPT", "FLUSH"}); break;
            case 1: server_.ask({"CLIENT", "KILL", "TYPE", "normal"}); break;
            case 2: server_.ask({"CLIENT", "KILL", "TYPE", "pubsub"}); break;
            case 3:
                server_.stop();
                (void)throughout(random() % 800 * 1ms, [] { return true; });
                server_.resume();
                break;
            default: break;
            }
        }
    }

    /// One step of one party: a synchronizer, chosen at random, is used as it is meant to be.
    void step(client& mine, std::mt19937_64& random) {
        auto const which = random() % names_.size();
        auto const name = "n" + std::to_string(which);
        lock_options const options{.lease = long_lease,
                                   .order = which % 2 == 0 ? ordering::fair : ordering::barging};
        switch (random() % 6) {
        case 0: return lock_and_count(mutex{mine, name, options}.acquire(), which);
        case 1: {
            auto held = mutex{mine, name, options}.try_acquire_for(random() % 60 * 1ms);
            return held ? lock_and_count(std::move(*held), which) : void();
        }
        case 2: return write(shared_mutex{mine, "rw", {.lease = long_lease}}.acquire());
        case 3: return read(shared_mutex{mine, "rw", {.lease = long_lease}}.acquire_shared());
        case 4: return take_permits(mine, static_cast<int>(1 + random() % permits));
        default: return lead(mine);
        }
    }

    void lock_and_count(lease held, std::size_t which) {
        auto& it = names_[which];
        it.tokens.add(held.token());
        it.inside.visit();
        ++it.visits;
        if (which % 3 == 0) {
            EXPECT_NE(held.release(), release_outcome::already_lost);
        }
    }

    void write(lease const& held) {
        EXPECT_EQ(readers_, 0) << "read and written at once";
        written_.visit();
        ++writes_;
        EXPECT_TRUE(held.held()) << held.loss_reason();
    }

    void read(lease const& held) {
        ++readers_;
        auto const before = written_.visits();
        std::this_thread::yield();
        EXPECT_EQ(written_.visits(), before) << "written while it is read";
        --readers_;
        EXPECT_TRUE(held.held()) << held.loss_reason();
    }

    void take_permits(client& mine, int n) {
        semaphore pool{mine, "pool", permits, {.lease = long_lease}};
        auto const held = pool.acquire_lease(static_cast<std::uint32_t>(n));
        EXPECT_LE(taken_.fetch_add(n) + n, permits) << "more permits than there are";
        std::this_thread::yield();
        taken_.fetch_sub(n);
    }

    void lead(client& mine) {
        auto const term = election{mine, "chair", {.lease = long_lease}}.campaign("me");
        terms_.add(term.token());
        leader_.visit();
        ++led_;
    }

    struct place {
        rising_tokens tokens;
        room inside;
        std::atomic<long> visits{0};
    };
    static constexpr int permits = 4;

    std::uint64_t seed_{seed_of_run()};
    redis_server server_;
    std::vector<std::unique_ptr<proxy>> networks_;
    std::vector<client> clients_;
    stopwatch since_;
    std::array<place, 4> names_;
    room written_;
    std::atomic<int> readers_{0};
    std::atomic<long> writes_{0};
    std::atomic<int> taken_{0};
    rising_tokens terms_;
    room leader_;
    std::atomic<long> led_{0};
    int disturbances_{0};
};

TEST_F(soak_test, nothing_overlaps_and_nothing_stays) {
    std::atomic<int> steps{0};
    std::atomic<int> unreached{0};
    auto disturbing = std::async(std::launch::async, [this] { disturb(); });
    all_at_once(2 * parties, [&](unsigned i) {
        std::mt19937_64 random{seed_ + 1000 + i};
        while (!is_over()) {
            try {
                step(clients_[i % parties], random);
                ++steps;
            } catch (std::system_error const& error) {
                EXPECT_EQ(error.code(), errc::store_unavailable) << error.what();
                ++unreached;
            }
        }
    });
    disturbing.get();
    int faults = 0;
    for (auto& it : networks_) {
        faults += it->faults();
        it->be_good();
    }
    std::cout << steps << " steps, " << unreached << " that found no store in time, " << faults
              << " faults of the network, " << disturbances_ << " of the server" << std::endl;
    EXPECT_GT(steps, unreached * 5);
    for (auto const& it : names_)
        EXPECT_EQ(it.inside.visits(), it.visits);
    EXPECT_EQ(written_.visits(), writes_);
    EXPECT_EQ(leader_.visits(), led_);
    for (auto& it : clients_) {
        EXPECT_EQ(it.metrics()["losses"], 0U) << "leases are longer than any fault";
        EXPECT_EQ(it.metrics()["tokens_not_rising"], 0U);
        it.close();
    }
    EXPECT_TRUE(is_empty(server_, long_lease - 5s));
}

}  // namespace
}  // namespace holdfast::redis_faults
