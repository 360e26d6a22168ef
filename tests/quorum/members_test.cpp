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

#include "quorum/member_server.hpp"
#include "support/contention.hpp"
#include "support/eventually.hpp"
#include "support/failure.hpp"

namespace holdfast::quorum_faults {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using support::failure_of;
using support::patience;
using support::stopwatch;
using support::words_of;

constexpr auto longest_lease = 2s;

class quorum_members : public testing::TestWithParam<member_kind> {
protected:
    explicit quorum_members(std::size_t count = 3) {
        for (std::size_t i = 0; i < count; ++i)
            servers_.push_back(GetParam().make());
    }

    [[nodiscard]] member_server& server(std::size_t which) { return *servers_[which]; }
    [[nodiscard]] std::string url(std::string const& options = "?max_lease=2s") const {
        std::vector<std::uint16_t> ports;
        for (auto const& each : servers_)
            ports.push_back(each->port());
        return url_of(ports, options);
    }
    [[nodiscard]] static std::string url_of(std::vector<std::uint16_t> const& ports,
                                            std::string const& options = "?max_lease=2s") {
        auto out = GetParam().scheme;
        for (auto const each : ports)
            out += (each == ports.front() ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(each);
        return out + GetParam().database + options;
    }
    [[nodiscard]] client connect() const { return client{url(), {.patience = 3s}}; }
    [[nodiscard]] static lock_options options() { return {.lease = 1500ms}; }

    /// Kills them, and starts them with nothing in them.
    void wipe(std::vector<std::size_t> const& these) {
        for (auto const each : these)
            server(each).kill();
        for (auto const each : these)
            server(each).start_empty();
    }

    /// A majority suffices for a grant; whoever was not asked, or too slow, is given the claim by a renewal soon.
    void await_at_all(std::string const& name) {
        for (auto const& each : servers_) {
            client member{each->url()};
            ASSERT_TRUE(eventually([&] { return !member.locks(name).empty(); }));
        }
    }

    /// Of a hold that was let go of; 0 when there was none, because a majority was busy or could not be asked.
    [[nodiscard]] static std::uint64_t token_of_try(client const& user) {
        try {
            auto const held = mutex{user, "q", options()}.try_acquire_for(0ms);
            return held ? held->token() : 0;
        } catch (std::system_error const& error) {
            EXPECT_EQ(error.code(), errc::store_unavailable) << error.what();
            return 0;
        }
    }

    std::vector<std::unique_ptr<member_server>> servers_;
};

TEST_P(quorum_members, a_minority_may_be_dead) {
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
        auto& other = server((which + 1) % 3);
        other.stop();
        ASSERT_TRUE(eventually([&] { return (last = token_of_try(user)) != 0; })) << which;
        other.resume();
    }
}

TEST_P(quorum_members, without_a_majority_there_is_a_prompt_and_clear_error) {
    client const user{url(), {.patience = 2s}};
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

TEST_P(quorum_members, a_hold_outlives_members_that_come_back_empty_one_by_one) {
    auto const user = connect();
    auto held = mutex{user, "q", options()}.acquire();
    auto const token = held.token();
    for (std::size_t which = 0; which < 3; ++which) {
        await_at_all("q");
        wipe({which});
        // It is given the claim again while the others have it.
        client member{server(which).url()};
        ASSERT_TRUE(eventually([&] { return !member.locks("q").empty(); })) << which;
        ASSERT_EQ(member.locks("q").front().holders.front().token, token);
    }
    EXPECT_TRUE(held.held());
    EXPECT_EQ(held.release(), release_outcome::released);
}

TEST_P(quorum_members, two_members_without_their_data_do_not_give_away_what_is_held) {
    auto const one = connect();
    auto const two = connect();
    mutex wanted{two, "q", options()};
    auto held = mutex{one, "q", options()}.acquire();
    auto const token = held.token();
    EXPECT_FALSE(wanted.try_acquire());
    wipe({0, 1});
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

TEST_P(quorum_members, one_that_stands_still_costs_little) {
    auto const user = connect();
    auto held = mutex{user, "q", options()}.acquire();
    await_at_all("q");
    server(1).stop();
    EXPECT_FALSE(eventually([&] { return !held.held(); }, 2 * longest_lease));
    EXPECT_EQ(held.release(), release_outcome::released);
    server(1).resume();
}

TEST_P(quorum_members, the_members_are_agreed_on) {
    auto const user = connect();
    ASSERT_TRUE((mutex{user, "q", options()}.try_acquire()));
    auto const other = GetParam().make();
    client const another_set{url_of({server(0).port(), server(1).port(), other->port()})};
    EXPECT_EQ(failure_of([&] {
                  return mutex{another_set, "q", options()}.try_acquire();
              }),
              errc::limit_mismatch);
    client const another_lease{url("?max_lease=3s")};
    EXPECT_EQ(failure_of([&] {
                  return mutex{another_lease, "q", options()}.try_acquire();
              }),
              errc::limit_mismatch);
    client const another_order{url_of({server(2).port(), server(0).port(), server(1).port()})};
    EXPECT_TRUE((mutex{another_order, "q", options()}.try_acquire_for(patience)));
}

std::string name_of(testing::TestParamInfo<member_kind> const& of) { return of.param.name; }
INSTANTIATE_TEST_SUITE_P(kinds, quorum_members, testing::ValuesIn(member_kinds()), name_of);

class quorum_of_five : public quorum_members {
protected:
    quorum_of_five() : quorum_members{5} {}
};

INSTANTIATE_TEST_SUITE_P(kinds, quorum_of_five, testing::ValuesIn(member_kinds()), name_of);

// Who is next is left to chance, so that one of them may wait for nearly all of the others.
TEST_P(quorum_of_five, twenty_clients_on_one_name_are_all_served) {
    support::rising_tokens tokens;
    std::atomic<int> inside{0};
    std::vector<std::future<void>> users;
    for (int i = 0; i < 20; ++i)
        users.push_back(std::async(std::launch::async, [&] {
            client const user{url(), {.patience = 4 * patience}};
            for (int turn = 0; turn < 3; ++turn) {
                auto held = mutex{user, "q", options()}.try_acquire_for(4 * patience);
                ASSERT_TRUE(held);
                EXPECT_EQ(inside.fetch_add(1), 0);
                tokens.add(held->token());
                inside.fetch_sub(1);
            }
        }));
    for (auto& each : users)
        each.get();
    EXPECT_EQ(tokens.count(), 60U);
}

// Whoever holds is alone, and tokens rise, whatever happens to up to two members at a time.
TEST_P(quorum_of_five, promises_are_kept_under_load) {
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
            wipe({turn % 5, (turn + 2) % 5});
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
