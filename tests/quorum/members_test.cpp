// Members that die, stand still and come back without their data, one by one and in pairs.
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>

#include "support/contention.hpp"
#include "support/eventually.hpp"
#include "support/failure.hpp"
#include "support/redis_server.hpp"

namespace holdfast::quorum_faults {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using support::failure_of;
using support::patience;
using support::redis_server;
using support::stopwatch;
using support::words_of;

constexpr auto longest_lease = 2s;

class quorum_members : public testing::Test {
protected:
    explicit quorum_members(std::size_t count = 3) {
        for (std::size_t i = 0; i < count; ++i)
            servers_.push_back(std::make_unique<redis_server>());
    }

    [[nodiscard]] redis_server& server(std::size_t which) { return *servers_[which]; }
    [[nodiscard]] std::string url(std::string const& options = "?max_lease=2s") const {
        return url_of(servers_, options);
    }
    [[nodiscard]] static std::string url_of(std::vector<std::unique_ptr<redis_server>> const& of,
                                            std::string const& options) {
        std::string out = "quorum+redis://";
        for (auto const& each : of)
            out +=
                (each == of.front() ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(each->port());
        return out + options;
    }
    [[nodiscard]] client connect() const { return client{url(), {.patience = 3s}}; }
    [[nodiscard]] static lock_options options() { return {.lease = 1500ms}; }

    /// Kills it, and starts it with nothing in it.
    void wipe(std::size_t which) {
        server(which).kill();
        server(which).start();
    }

    std::vector<std::unique_ptr<redis_server>> servers_;
};

TEST_F(quorum_members, a_minority_may_be_dead) {
    auto const user = connect();
    std::uint64_t last = 0;
    for (std::size_t which = 0; which < 3; ++which) {
        server(which).kill();
        for (int i = 0; i < 3; ++i) {
            auto held = mutex{user, "q", options()}.try_acquire_for(patience);
            ASSERT_TRUE(held);
            EXPECT_GT(held->token(), last);
            last = held->token();
            EXPECT_EQ(held->release(), release_outcome::released);
        }
        server(which).start();
        // It sits out; then all three vote again.
        ASSERT_TRUE(eventually([&] {
            server((which + 1) % 3).stop();
            auto const held = mutex{user, "q", options()}.try_acquire_for(0ms);
            server((which + 1) % 3).resume();
            if (held) last = held->token();
            return held.has_value();
        }));
    }
}

TEST_F(quorum_members, without_a_majority_there_is_a_prompt_and_clear_error) {
    client const user{url(), {.patience = 500ms}};
    auto held = mutex{user, "kept", options()}.acquire();
    server(0).kill();
    server(2).kill();
    stopwatch const since;
    auto const words = words_of([&] { return mutex{user, "q", options()}.try_acquire(); });
    EXPECT_LT(since.elapsed(), 5s);
    EXPECT_NE(words.find("members of the quorum"), std::string::npos) << words;
    EXPECT_NE(words.find(std::to_string(server(0).port())), std::string::npos) << words;
    EXPECT_TRUE(eventually([&] { return held.state() == lease_state::lost; }))
        << "a minority holds nothing";
    EXPECT_EQ(failure_of([&] {
                  return mutex{user, "q", options()}.acquire();
              }),
              errc::store_unavailable);
}

TEST_F(quorum_members, a_hold_outlives_members_that_come_back_empty_one_by_one) {
    auto const user = connect();
    auto held = mutex{user, "q", options()}.acquire();
    auto const token = held.token();
    for (std::size_t which = 0; which < 3; ++which) {
        wipe(which);
        // It is given the claim again while the others have it.
        client const member{server(which).url()};
        ASSERT_TRUE(eventually([&] { return !member.locks("q").empty(); })) << which;
        ASSERT_EQ(member.locks("q").front().holders.front().token, token);
    }
    EXPECT_TRUE(held.held());
    EXPECT_EQ(held.release(), release_outcome::released);
}

TEST_F(quorum_members, two_members_without_their_data_do_not_give_away_what_is_held) {
    auto const one = connect();
    auto const two = connect();
    mutex wanted{two, "q", options()};
    ASSERT_FALSE(mutex{one, "x", options()}.acquire().token() == 0);
    auto held = mutex{one, "q", options()}.acquire();
    auto const token = held.token();
    EXPECT_FALSE(wanted.try_acquire());
    wipe(0);
    wipe(1);
    std::optional<lease> next;
    ASSERT_TRUE(eventually([&] {
        try {
            next = wanted.try_acquire_for(100ms);
        } catch (std::system_error const& error) {
            EXPECT_EQ(error.code(), errc::store_unavailable);
        }
        return next.has_value();
    }));
    EXPECT_FALSE(held.held()) << "it was lost before another had it";
    EXPECT_GT(next->token(), token);
}

TEST_F(quorum_members, one_that_stands_still_costs_little) {
    auto const user = connect();
    auto held = mutex{user, "q", options()}.acquire();
    server(1).stop();
    EXPECT_FALSE(eventually([&] { return !held.held(); }, 2 * longest_lease));
    EXPECT_EQ(held.release(), release_outcome::released);
    server(1).resume();
}

TEST_F(quorum_members, the_members_are_agreed_on) {
    auto const user = connect();
    ASSERT_TRUE((mutex{user, "q", options()}.try_acquire()));
    redis_server other;
    std::string const head = "quorum+redis://127.0.0.1:" + std::to_string(server(0).port()) +
                             ",127.0.0.1:" + std::to_string(server(1).port());
    client const another_set{head + ",127.0.0.1:" + std::to_string(other.port()) + "?max_lease=2s"};
    EXPECT_EQ(failure_of([&] {
                  return mutex{another_set, "q", options()}.try_acquire();
              }),
              errc::limit_mismatch);
    client const another_lease{url("?max_lease=3s")};
    EXPECT_EQ(failure_of([&] {
                  return mutex{another_lease, "q", options()}.try_acquire();
              }),
              errc::limit_mismatch);
    client const another_order{"quorum+redis://127.0.0.1:" + std::to_string(server(2).port()) +
                               ",127.0.0.1:" + std::to_string(server(0).port()) +
                               ",127.0.0.1:" + std::to_string(server(1).port()) + "?max_lease=2s"};
    EXPECT_TRUE((mutex{another_order, "q", options()}.try_acquire_for(patience)));
}

class quorum_of_five : public quorum_members {
protected:
    quorum_of_five() : quorum_members{5} {}
};

// Whoever holds is alone, and tokens rise, whatever happens to up to two members at a time.
TEST_F(quorum_of_five, promises_are_kept_under_load) {
    std::atomic<bool> over{false};
    support::rising_tokens tokens;
    std::atomic<int> inside{0};
    std::vector<std::future<void>> users;
    for (int i = 0; i < 4; ++i)
        users.push_back(std::async(std::launch::async, [&] {
            client const user{url(), {.patience = 10s}};
            mutex wanted{user, "q", options()};
            while (!over) {
                try {
                    auto held = wanted.try_acquire_for(1s);
                    if (!held) continue;
                    EXPECT_EQ(inside.fetch_add(1), 0);
                    tokens.add(held->token());
                    inside.fetch_sub(1);
                } catch (std::system_error const& error) {
                    EXPECT_EQ(error.code(), errc::store_unavailable) << error.what();
                }
            }
        }));
    for (std::size_t turn = 0; turn < 6; ++turn) {
        auto const before = tokens.count();
        auto& first = server(turn % 5);
        auto& second = server((turn + 2) % 5);
        if (turn % 3 == 0) {
            first.kill();
            second.stop();
        } else if (turn % 3 == 1) {
            first.stop();
        } else {
            wipe(turn % 5);
            wipe((turn + 2) % 5);
        }
        EXPECT_TRUE(eventually([&] { return tokens.count() > before + 5; })) << turn;
        if (!first.is_alive()) first.start();
        if (first.is_stopped()) first.resume();
        if (second.is_stopped()) second.resume();
        EXPECT_TRUE(eventually([&] { return tokens.count() > before + 20; })) << turn;
    }
    over = true;
    for (auto& each : users)
        each.get();
}

}  // namespace
}  // namespace holdfast::quorum_faults
