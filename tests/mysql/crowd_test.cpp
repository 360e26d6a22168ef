// Many threads of many clients on a few names; and sessions of one client that live and die apart.
#include <array>
#include <atomic>
#include <random>

#include "mysql/fixture.hpp"
#include "support/counts.hpp"

namespace holdfast::mysql_faults {
namespace {

/// Who is inside a name, and what its last token was. Thread-safe.
struct place {
    std::atomic<int> inside{0};
    std::atomic<std::uint64_t> token{0};
    std::atomic<long> visits{0};
};

class crowd_test : public testing::Test {
protected:
    static constexpr std::size_t client_count = 20;
    static constexpr std::size_t threads = 200;
    static constexpr std::size_t name_count = 20;
    static constexpr std::uint32_t permits = 3;

    crowd_test() {
        for (std::size_t i = 0; i < client_count; ++i)
            clients_.push_back(
                std::make_unique<noting_client>(server_.url() + "?connections=2", 60s));
    }

    // Every third name is a semaphore; of the others, every second one has a line in order.
    void visit(client& mine, std::size_t which) {
        auto const name = "n" + std::to_string(which);
        auto& here = places_[which];
        if (which % 3 == 2) {
            auto const held = semaphore{mine, name, permits}.acquire_lease();
            EXPECT_LE(++here.inside, static_cast<int>(permits)) << "more permits than there are";
            ++here.visits;
            --here.inside;
            return;
        }
        auto const order = which % 2 == 0 ? ordering::fair : ordering::barging;
        auto const held = mutex{mine, name, {.order = order}}.acquire();
        EXPECT_EQ(++here.inside, 1) << "two are inside";
        EXPECT_GT(held.token(), here.token.exchange(held.token()));
        ++here.visits;
        --here.inside;
    }

    mysql_server server_;
    std::array<place, name_count> places_;
    std::vector<std::unique_ptr<noting_client>> clients_;
};

// For a minute with full counts. No conflict reaches a user, no wake-up is lost, and nothing is left.
TEST_F(crowd_test, two_hundred_threads_on_twenty_names) {
    support::stopwatch const since;
    auto const end = std::chrono::milliseconds{support::large_count(60'000)};
    std::atomic<int> errors{0};
    {
        std::vector<std::jthread> crowd;
        for (std::size_t i = 0; i < threads; ++i)
            crowd.emplace_back([&, i] {
                std::mt19937 random{static_cast<unsigned>(i)};
                while (since.elapsed() < end) {
                    auto const found = failure_of(
                        [&] { visit(**clients_[i % client_count], random() % name_count); });
                    if (!found.code()) continue;
                    ++errors;
                    ADD_FAILURE() << found.what();
                    return;
                }
            });
    }
    EXPECT_EQ(errors, 0);
    long visits = 0;
    for (auto const& each : places_) {
        EXPECT_GT(each.visits, 0);
        visits += each.visits;
    }
    RecordProperty("visits", static_cast<int>(visits));
    std::uint64_t losses = 0;
    for (auto const& each : clients_) {
        losses += (**each).metrics()["losses"];
        EXPECT_EQ((**each).metrics()["tokens_not_rising"], 0U);
    }
    EXPECT_EQ(losses, 0U);
    EXPECT_TRUE(eventually([&] { return (**clients_.front()).locks().empty(); }));
    clients_.clear();
    EXPECT_TRUE(eventually([&] {
        return server_.ask(
                   "SELECT (SELECT count(*) FROM holdfast_session), (SELECT count(*) FROM "
                   "holdfast_line), (SELECT count(*) FROM holdfast_head WHERE body IS NOT "
                   "NULL)") == "0\t0\t0\n";
    }))
        << server_.ask(
               "SELECT (SELECT count(*) FROM holdfast_session), (SELECT count(*) FROM "
               "holdfast_line), (SELECT count(*) FROM holdfast_head WHERE body IS NOT NULL)");
}

TEST(session_test, the_loss_of_one_session_does_not_touch_another) {
    mysql_server server;
    noting_client one{server.url()};
    noting_client other{server.url()};
    auto const brief = mutex(*one, "brief", {.lease = 3s}).acquire();
    auto lasting = mutex(*one, "lasting", {.lease = 60s}).acquire();
    server.ask("DELETE FROM holdfast_session WHERE lease = 3000");
    EXPECT_TRUE(eventually([&] { return brief.lost().stop_requested(); }));
    EXPECT_FALSE(brief.held());
    EXPECT_GT(mutex(*other, "brief").acquire().token(), brief.token());
    EXPECT_EQ(lasting.state(), lease_state::held);
    EXPECT_FALSE(mutex(*other, "lasting").try_acquire());
    EXPECT_EQ(lasting.release(), release_outcome::released);
    EXPECT_EQ((*one).metrics()["losses"], 1U);
}

}  // namespace
}  // namespace holdfast::mysql_faults
