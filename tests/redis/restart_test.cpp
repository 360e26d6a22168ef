// A server that dies, comes back empty, or stands still, while many hold and wait.
#include <algorithm>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>

#include "redis/fixture.hpp"

namespace holdfast::redis_faults {
namespace {

/// Holds of as many names, each with one who waits for it.
class restart_test : public ::testing::Test {
protected:
    struct hold {
        holdfast::lease lease;
        std::chrono::milliseconds left{};                      ///< when the fault began
        std::atomic<std::chrono::milliseconds::rep> told{-1};  ///< since then
        std::optional<std::stop_callback<std::function<void()>>> watch{};
    };

    /// Ends whoever still waits after a failure.
    void TearDown() override {
        server_.resume();
        waiting_.close();
    }

    static std::string name_of(int i) { return "restart/" + std::to_string(i); }

    void hold_and_wait(int count, std::chrono::milliseconds lease) {
        for (int i = 0; i < count; ++i) {
            auto& it = holds_.emplace_back();
            it.lease = mutex{i % 2 == 0 ? ours_ : theirs_, name_of(i), {.lease = lease}}.acquire();
        }
        for (int i = 0; i < count; ++i)
            waiters_.push_back(std::async(std::launch::async, [this, i, lease] {
                auto const order = i % 3 == 0 ? ordering::fair : ordering::barging;
                return mutex{waiting_, name_of(i), {.lease = lease, .order = order}}.acquire();
            }));
        ASSERT_TRUE(eventually([&] {
            int queued = 0;
            for (auto const& it : reader_.locks("restart/"))
                queued += static_cast<int>(it.waiters.size());
            return queued == count;
        }));
    }

    /// Notes when each holder is told, from now on.
    void begin_fault() {
        since_ = stopwatch{};
        for (auto& it : holds_) {
            it.left = it.lease.remaining();
            it.watch.emplace(it.lease.lost(), [this, &it] { it.told = since_.elapsed().count(); });
        }
    }

    /// A name has one record, and a record one holder; names that are unreachable show nothing.
    void look_until(std::atomic<bool>& over) {
        while (!over) {
            try {
                std::set<std::string> seen;
                for (auto const& it : reader_.locks("restart/")) {
                    EXPECT_TRUE(seen.insert(it.name).second) << it.name << " has two records";
                    EXPECT_LE(it.holders.size(), 1U) << it.name;
                    ++looks_;
                }
            } catch (std::system_error const& error) {
                EXPECT_EQ(error.code(), errc::store_unavailable);
            }
        }
    }

    /// Each was told, not later than its deadline. A loaded machine may run a thread late.
    void expect_told_in_time() {
        constexpr auto slack = 1500ms;
        for (auto& it : holds_) {
            EXPECT_TRUE(eventually([&] { return it.told >= 0; })) << it.lease.name();
            EXPECT_LE(it.told, (it.left + slack).count()) << it.lease.name();
            EXPECT_EQ(it.lease.state(), lease_state::lost);
            EXPECT_NE(it.lease.loss_reason(), "");
        }
    }

    /// Everybody who waited holds, with a higher token, and goes on holding when the old ones let go.
    void expect_all_granted() {
        std::vector<lease> now;
        for (std::size_t i = 0; i < waiters_.size(); ++i) {
            ASSERT_EQ(waiters_[i].wait_for(support::patience), std::future_status::ready) << i;
            now.push_back(waiters_[i].get());
            EXPECT_GT(now.back().token(), holds_[i].lease.token());
        }
        for (auto& it : holds_)
            EXPECT_EQ(it.lease.release(), release_outcome::already_lost);
        for (auto& it : now) {
            EXPECT_EQ(it.state(), lease_state::held);
            EXPECT_EQ(it.release(), release_outcome::released);
        }
        EXPECT_TRUE(is_empty(server_, 5s));
    }

    redis_server server_;
    client ours_{server_.url()};
    client theirs_{server_.url()};
    client waiting_{server_.url()};
    client reader_{server_.url(), {.patience = 500ms}};
    stopwatch since_;
    std::deque<hold> holds_;
    std::vector<std::future<lease>> waiters_;
    std::atomic<int> looks_{0};
};

TEST_F(restart_test, killed_and_back_empty_while_fifty_hold_and_fifty_wait) {
    hold_and_wait(50, 9s);
    std::atomic<bool> over{false};
    auto looking = std::async(std::launch::async, [&] { look_until(over); });
    begin_fault();
    server_.kill();
    server_.start();
    expect_told_in_time();
    EXPECT_TRUE(eventually([&] { return looks_ > 50; }));
    expect_all_granted();
    over = true;
    looking.get();
    EXPECT_EQ(ours_.metrics()["tokens_not_rising"] + theirs_.metrics()["tokens_not_rising"] +
                  waiting_.metrics()["tokens_not_rising"],
              0U);
}

TEST_F(restart_test, an_idle_client_says_in_its_log_that_the_server_is_gone) {
    std::mutex words_mutex;
    std::string words;
    client idle{server_.url(), {.log = [&](log_level, std::string_view line) {
                    std::lock_guard const guard{words_mutex};
                    words += line;
                }}};
    // Nothing is due for so long that only the broken connection can have been noticed.
    auto const held = mutex{idle, "q", {.lease = 1h}}.acquire();
    server_.kill();
    EXPECT_TRUE(eventually([&] {
        std::lock_guard const guard{words_mutex};
        return words.find("127.0.0.1") != std::string::npos;
    }));
    server_.start();
}

TEST_F(restart_test, a_pause_shorter_than_the_lease_costs_nobody_anything) {
    hold_and_wait(20, 6s);
    begin_fault();
    server_.stop();
    EXPECT_TRUE(throughout(3s, [&] {
        return std::ranges::all_of(holds_, [](auto const& it) { return it.lease.held(); });
    }));
    server_.resume();
    for (auto& it : holds_)
        EXPECT_TRUE(eventually([&] { return it.lease.state() == lease_state::held; }));
    for (auto const& it : waiters_)
        EXPECT_EQ(it.wait_for(0s), std::future_status::timeout) << "granted beside the holder";
    for (auto& it : holds_) {
        EXPECT_EQ(it.told, -1) << it.lease.loss_reason();
        EXPECT_EQ(it.lease.release(), release_outcome::released);
    }
    for (auto& it : waiters_)
        EXPECT_TRUE(it.get().held());
}

TEST_F(restart_test, a_pause_longer_than_the_lease_is_told_before_anybody_else_holds) {
    hold_and_wait(20, 2s);
    begin_fault();
    server_.stop();
    expect_told_in_time();
    for (auto const& it : waiters_)
        EXPECT_EQ(it.wait_for(0s), std::future_status::timeout) << "nobody can have granted it";
    server_.resume();
    expect_all_granted();
}

}  // namespace
}  // namespace holdfast::redis_faults
