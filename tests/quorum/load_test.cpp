// Clients that contend for names and hold them for a while, as members die, stand still, lose their data and are out of
// reach for some of the clients or for all.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>

#include "quorum/members_fixture.hpp"
#include "support/contention.hpp"
#include "support/counts.hpp"
#include "support/proxy.hpp"

namespace holdfast::quorum_faults {
namespace {

using std::chrono::milliseconds;
using support::patience;
using support::stopwatch;

/// Those who have a name, of whom at most one holds it.
class holders {
public:
    void enter(lease const& mine) {
        std::lock_guard const guard{mutex_};
        if (!mine.held()) return;  // whoever holds now may have been here already
        for (auto const* const other : all_)
            EXPECT_FALSE(other->held()) << other->token() << " beside " << mine.token();
        EXPECT_GT(mine.token(), last_) << "a token that does not rise";
        last_ = mine.token();
        all_.push_back(&mine);
        ++count_;
    }
    /// Whoever has the later token has it alone.
    void look() const {
        std::lock_guard const guard{mutex_};
        std::size_t holding = 0;
        for (auto const* const each : all_)
            holding += each->held() ? 1U : 0U;
        EXPECT_LE(holding, 1U);
    }
    void leave(lease const& mine) {
        std::lock_guard const guard{mutex_};
        std::erase(all_, &mine);
    }
    [[nodiscard]] int count() const {
        std::lock_guard const guard{mutex_};
        return count_;
    }

private:
    mutable std::mutex mutex_;
    std::vector<lease const*> all_;
    std::uint64_t last_{0};
    int count_{0};
};

/// Holds for so long, or until it is lost.
void stay(holders& of, lease const& mine, milliseconds span) {
    of.enter(mine);
    for (stopwatch const since; mine.held() && since.elapsed() < span;) {
        of.look();
        std::this_thread::sleep_for(std::min(span - since.elapsed(), milliseconds{5}));
    }
    of.look();
    of.leave(mine);
}

class quorum_of_five : public quorum_members {
protected:
    static constexpr std::size_t members = 5;
    static constexpr std::size_t clients = 6;

    quorum_of_five() : quorum_members{members} {
        for (std::size_t i = 0; i < members; ++i)
            networks_.push_back(std::make_unique<redis_faults::proxy>(server(i).port(), i));
    }

    /// Logs in with a name of its own, by which the networks know it. All name the members in the same words.
    [[nodiscard]] std::string url_for(std::size_t user) const {
        std::vector<std::uint16_t> ports;
        for (auto const& each : networks_)
            ports.push_back(each->port());
        return url_of(ports, "?max_lease=2s", GetParam().account + name_of_user(user) + "@");
    }
    [[nodiscard]] static std::string name_of_user(std::size_t which) {
        return "client_" + std::to_string(which);
    }
    void let_users_in() {
        for (auto const& each : servers_)
            for (std::size_t i = 0; i < clients; ++i)
                each->let_in(name_of_user(i));
    }

    void do_harm(std::size_t turn) {
        auto const one = turn % members;
        auto const other = (turn + 2) % members;
        switch (turn % kinds_of_harm) {
        case 0: server(one).kill(); return server(other).stop();
        case 1: return server(one).stop();
        case 2: server(one).stop(); return server(other).stop();
        case 3: return wipe({one, other});
        case 4: return networks_[one]->shut_out("");
        case 5: networks_[one]->shut_out(""); return networks_[other]->shut_out("");
        case 6:  // each client is without two of them, next to each other
            for (std::size_t i = 0; i < clients; ++i) {
                networks_[(turn + i) % members]->shut_out(name_of_user(i));
                networks_[(turn + i + 1) % members]->shut_out(name_of_user(i));
            }
            return;
        case 7:  // a third of the clients is without a majority, and loses what it holds
            for (std::size_t i = 0; i < clients; i += 3)
                for (std::size_t k = 0; k < members / 2 + 1; ++k)
                    networks_[(turn + i + k) % members]->shut_out(name_of_user(i));
            return;
        default:  // only one member is within reach of all
            for (std::size_t i = 0; i < clients; ++i) {
                auto const first = i % 2 == 0 ? one : one + 3;
                networks_[first % members]->shut_out(name_of_user(i));
                networks_[(first + 1) % members]->shut_out(name_of_user(i));
            }
        }
    }
    void undo() {
        for (std::size_t i = 0; i < members; ++i) {
            networks_[i]->let_all_in();
            if (!server(i).is_alive()) server(i).start();
            if (server(i).is_stopped()) server(i).resume();
        }
    }

    static constexpr std::size_t kinds_of_harm = 9;
    std::vector<std::unique_ptr<redis_faults::proxy>> networks_;
};

INSTANTIATE_TEST_SUITE_P(kinds, quorum_of_five, testing::ValuesIn(member_kinds()), name_of);

// Who is next is left to chance, so that one of them may wait for nearly all of the others.
TEST_P(quorum_of_five, twenty_clients_on_one_name_are_all_served) {
    auto const seed = support::seed_of_run();
    holders all;
    support::all_at_once(20, [&](unsigned which) {
        std::mt19937_64 draws{seed + which};
        client const user{url(), {.patience = 4 * patience}};
        for (int turn = 0; turn < 3; ++turn) {
            auto held = mutex{user, "q", options()}.try_acquire_for(4 * patience);
            ASSERT_TRUE(held);
            stay(all, *held, milliseconds{draws() % 200});
        }
    });
    EXPECT_EQ(all.count(), 60);
}

// Whoever holds is alone, and tokens rise, whatever happens to up to two members at a time. Some of the holds are
// longer than their leases and begin before a fault that they outlive.
TEST_P(quorum_of_five, promises_are_kept_under_load) {
    let_users_in();
    auto const seed = support::seed_of_run();
    std::atomic<bool> over{false};
    std::array<holders, 3> names;
    std::vector<std::future<void>> users;
    for (std::size_t i = 0; i < clients; ++i)
        users.push_back(std::async(std::launch::async, [&, i] {
            std::mt19937_64 draws{seed + i};
            client const user{url_for(i), {.patience = 10s}};
            while (!over) {
                auto const which = draws() % names.size();
                try {
                    auto held =
                        mutex{user, "q" + std::to_string(which), options()}.try_acquire_for(1s);
                    if (held) stay(names[which], *held, milliseconds{draws() % 2001});
                } catch (std::system_error const& error) {
                    EXPECT_EQ(error.code(), errc::store_unavailable) << error.what();
                }
            }
        }));
    auto const grants = [&] {
        int out = 0;
        for (auto const& each : names)
            out += each.count();
        return out;
    };
    auto const turns = std::max(std::size_t{kinds_of_harm}, support::large_count(std::size_t{30}));
    for (std::size_t turn = 0; turn < turns; ++turn) {
        auto const before = grants();
        do_harm(turn);
        EXPECT_TRUE(eventually([&] { return grants() >= before + 4; })) << turn;
        undo();
        EXPECT_TRUE(eventually([&] { return grants() >= before + 8; })) << turn;
    }
    over = true;
    for (auto& each : users)
        each.get();
}

}  // namespace
}  // namespace holdfast::quorum_faults
