// Every synchronizer works with exactly the rights that docs/stores/redis.md asks for.
#include <atomic>
#include <optional>

#include "redis/documented_rights.hpp"
#include "redis/fixture.hpp"

namespace holdfast::redis_faults {
namespace {

class rights_test : public ::testing::Test {
protected:
    void SetUp() override {
        auto const words = documented_rights(right::locks);
        ASSERT_EQ(server_.ask(words), "OK");
        ASSERT_EQ(server_.ask({"ACL", "SETUSER", "default", "-@all", "+acl", "+keys"}), "OK");
        auto const url =
            "redis://" + words.at(2) + ":s3cret@127.0.0.1:" + std::to_string(server_.port());
        for (int i = 0; i < 2; ++i)
            clients_.emplace_back(url);
        ASSERT_FALSE(support::words_of([&] { client{server_.url()}.ping(); }).empty());
        ASSERT_EQ(server_.ask({"ACL", "LOG", "RESET"}), "OK");
    }

    /// Nothing was refused, to nobody.
    void TearDown() override { EXPECT_EQ(server_.ask({"ACL", "LOG"}), ""); }

    /// Somebody waits for what `holder` has, and gets it.
    template <class Acquire>
    void hand_over(lease held, std::string const& name, Acquire acquire) {
        auto waiting = std::async(std::launch::async, acquire);
        EXPECT_TRUE(eventually([&] {
            auto const all = clients_[0].locks(name);
            return all.size() == 1 && all.front().waiters.size() == 1;
        }));
        EXPECT_EQ(held.renew(), lease_state::held);
        EXPECT_EQ(held.release(), release_outcome::released);
        EXPECT_TRUE(waiting.get().held());
    }

    redis_server server_;
    std::vector<client> clients_;
};

// Nobody can tell which server it is then: a pushed grant is confirmed first.
TEST_F(rights_test, info_may_be_missing) {
    ASSERT_EQ(server_.ask({"ACL", "SETUSER", documented_rights(right::locks).at(2), "-info"}),
              "OK");
    mutex mine{clients_[0], "m"};
    mutex theirs{clients_[1], "m", {.order = ordering::fair}};
    hand_over(mine.acquire(), "m", [&] { return theirs.acquire(); });
    auto const refused = server_.ask({"ACL", "LOG"});
    EXPECT_NE(refused.find("info"), std::string::npos) << refused;
    ASSERT_EQ(server_.ask({"ACL", "LOG", "RESET"}), "OK");
}

TEST_F(rights_test, locks) {
    mutex mine{clients_[0], "m"};
    mutex theirs{clients_[1], "m", {.order = ordering::fair}};
    hand_over(mine.acquire(), "m", [&] { return theirs.acquire(); });
    shared_mutex ours{clients_[0], "s"};
    shared_mutex others{clients_[1], "s"};
    hand_over(ours.acquire_shared(), "s", [&] { return others.acquire(); });
    auto write = ours.acquire();
    ours.downgrade(write);
    EXPECT_TRUE(others.try_acquire_shared());
    EXPECT_EQ(write.release(), release_outcome::released);
    recursive_mutex nested{clients_[0], "r", {.owner = "me"}};
    auto const one = nested.acquire();
    auto const two = nested.acquire();
    auto const both = lock_all(mine, ours);
    EXPECT_TRUE(both.held());
    auto const held = theirs.try_acquire_for(10ms);
    EXPECT_FALSE(held);
    EXPECT_EQ(clients_[1].evict("m"), 1U);
}

TEST_F(rights_test, semaphore) {
    semaphore mine{clients_[0], "p", 2};
    semaphore theirs{clients_[1], "p", 2};
    hand_over(mine.acquire_lease(2), "p", [&] { return theirs.acquire_lease(); });
    mine.set_limit(5);
    EXPECT_EQ(theirs.limit(), 5U);
    EXPECT_EQ(mine.available(), 5U);
}

TEST_F(rights_test, latch_and_barrier) {
    latch gate{clients_[0], "l", 1};
    auto waiting = std::async(std::launch::async, [&] { latch{clients_[1], "l"}.wait(); });
    gate.count_down();
    EXPECT_EQ(waiting.wait_for(support::patience), std::future_status::ready);
    for (int round = 0; round < 2; ++round) {
        auto first = std::async(std::launch::async, [&] {
            return barrier{clients_[1], "b", 2}.arrive_and_wait();
        });
        auto const generation = barrier{clients_[0], "b", 2}.arrive_and_wait();
        EXPECT_EQ(first.get(), generation);
    }
    barrier{clients_[0], "b", 2}.reset();
}

TEST_F(rights_test, condition) {
    bool ready = false;
    std::atomic<bool> waits{false};
    auto waiting = std::async(std::launch::async, [&] {
        mutex guard{clients_[1], "c"};
        condition_variable news{clients_[1], "c"};
        std::unique_lock lock{guard};
        waits = true;
        news.wait(lock, [&] { return ready; });
    });
    ASSERT_TRUE(eventually([&] { return waits.load(); }));
    {
        mutex guard{clients_[0], "c"};
        std::lock_guard const lock{guard};  // granted when the other one waits
        ready = true;
    }
    condition_variable{clients_[0], "c"}.notify_all();
    EXPECT_EQ(waiting.wait_for(support::patience), std::future_status::ready);
}

TEST_F(rights_test, election) {
    election mine{clients_[0], "e"};
    election theirs{clients_[1], "e"};
    std::atomic<int> seen{0};
    auto const hear = theirs.observe([&](std::optional<leader_info> const& now) {
        if (now && now->value == "first") seen |= 1;
        if (now && now->value == "second") seen |= 2;
    });
    auto first = mine.campaign("first");
    EXPECT_TRUE(eventually([&] { return (seen & 1) != 0; }));
    EXPECT_EQ(theirs.leader().value_or(leader_info{}).value, "first");
    hand_over(std::move(first), "e", [&] { return theirs.campaign("second"); });
    EXPECT_TRUE(eventually([&] { return (seen & 2) != 0; }));
}

/// Somebody who may hear and publish everything, and nothing else.
class spy_test : public rights_test {
protected:
    void SetUp() override {
        rights_test::SetUp();
        ASSERT_EQ(server_.ask({"ACL", "SETUSER", "spy", "reset", "on", ">s3cret", "resetchannels",
                               "&*", "+subscribe", "+publish"}),
                  "OK");
        spy_.emplace(server_, "spy", "s3cret");
    }

    /// Somebody waits for the name, and tells of it here.
    [[nodiscard]] std::string waiting_id(std::string const& name) {
        std::string out;
        EXPECT_TRUE(eventually([&] {
            auto const all = clients_[0].locks(name);
            if (all.size() != 1 || all.front().waiters.size() != 1) return false;
            out = all.front().waiters.front().id;
            return true;
        }));
        return out;
    }

    void publish(std::string const& id, std::string const& message) {
        auto const channel = "holdfast:client:" + id.substr(0, 16);
        EXPECT_TRUE(eventually([&] { return spy_->ask({"PUBLISH", channel, message}) == "1"; }));
    }

    [[nodiscard]] static std::string grant(std::string const& id, std::uint64_t token) {
        auto const sequence = std::to_string((token >> 8) + 1);
        return "granted " + id.substr(17) + " " + sequence + " " + sequence + " 0";
    }

    std::optional<support::redis_user> spy_;
};

TEST_F(spy_test, a_forged_grant_gives_nothing) {
    mutex mine{clients_[0], "m"};
    mutex theirs{clients_[1], "m", {.order = ordering::fair}};
    auto held = mine.acquire();
    auto waiting = std::async(std::launch::async, [&] { return theirs.acquire(); });
    auto const id = waiting_id("m");
    auto const said = grant(id, held.token());
    publish(id, said);
    publish(id, said + " " + std::string(40, '0'));
    EXPECT_TRUE(throughout(300ms, [&] {
        return waiting.wait_for(0s) != std::future_status::ready;
    })) << "two hold one name";
    EXPECT_EQ(held.release(), release_outcome::released);
    auto const granted = waiting.get();
    EXPECT_GT(granted.token(), held.token());
    EXPECT_TRUE(granted.held());
}

TEST_F(spy_test, a_grant_that_was_heard_cannot_be_given_again) {
    mutex mine{clients_[0], "m"};
    mutex theirs{clients_[1], "m", {.order = ordering::fair}};
    std::string heard;
    for (int round = 0; round < 2; ++round) {
        auto held = mine.acquire();
        auto waiting = std::async(std::launch::async, [&] { return theirs.acquire(); });
        auto const id = waiting_id("m");
        if (round == 0) {
            EXPECT_NE(spy_->ask({"SUBSCRIBE", "holdfast:client:" + id.substr(0, 16)}), "");
        } else {
            publish(id, heard);
            publish(id, heard.replace(8, 16, id.substr(17)));
            publish(id, grant(id, held.token()) + heard.substr(heard.rfind(' ')));
            EXPECT_TRUE(throughout(300ms, [&] {
                return waiting.wait_for(0s) != std::future_status::ready;
            })) << "two hold one name";
        }
        EXPECT_EQ(held.release(), release_outcome::released);
        EXPECT_EQ(waiting.get().release(), release_outcome::released);
        if (round > 0) break;
        while (!heard.starts_with("granted "))
            heard = spy_->hear().substr(std::string{"message\nholdfast:client:\n"}.size() + 16);
        spy_.emplace(server_, "spy", "s3cret");
    }
}

}  // namespace
}  // namespace holdfast::redis_faults
