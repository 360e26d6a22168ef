// A client that finds its master through sentinels of the test's own, in a time that the test lets pass.
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stores/redis/discovery.hpp"
#include "unit/redis_sentinel_peer.hpp"

namespace holdfast::stores::redis {
namespace {

using namespace std::chrono_literals;

class redis_discovery : public testing::Test, discovery::listener {
protected:
    redis_discovery() {
        all_tell(5, 7005);
        EXPECT_TRUE(until([&] { return master() == 7005; }));
    }

    void all_tell(std::uint64_t epoch, std::uint16_t of_master) {
        for (std::size_t which = 0; which < sentinels_.size(); ++which)
            tells(which, epoch, of_master);
    }
    void tells(std::size_t which, std::uint64_t epoch, std::uint16_t of_master) {
        std::vector<std::uint16_t> others;
        for (auto const& each : sentinels_)
            if (&each != &sentinels_[which]) others.push_back(each.port());
        sentinels_[which].tell(epoch, of_master, others);
    }

    /// Drives; each turn takes so much of the client's time.
    template <class Condition>
    bool until(Condition is_so, std::chrono::milliseconds each_turn = 10ms) {
        auto const end = base::boot_clock::now() + 20s;
        while (!is_so() && base::boot_clock::now() < end)
            turn(each_turn);
        return is_so();
    }
    void turn(std::chrono::milliseconds takes = 10ms) {
        now_ += takes;
        found_.tend(now_, troubled_);
        for (auto const& each : events_.wait(base::boot_clock::now() + 5ms))
            found_.take(each.about, now_);
    }
    /// Every sentinel is asked so many times more.
    bool all_are_asked(int times) {
        std::array<int, 3> before{};
        std::ranges::transform(sentinels_, before.begin(), &redis_sentinel_peer::asked);
        return until([&] {
            return std::ranges::equal(sentinels_, before, [&](auto const& each, int then) {
                return each.asked() >= then + times;
            });
        });
    }
    /// Nothing is asked and nothing goes wrong until the next question of those that are asked slowly.
    bool is_calm() {
        return until([&] {
            return found_.next_due(false) > now_ + 4s && found_.next_due(false) < base::never;
        });
    }
    [[nodiscard]] std::uint16_t master() const { return master_; }

    std::array<redis_sentinel_peer, 3> sentinels_;
    std::vector<std::string> trouble_;  ///< that was told
    std::vector<std::string> remarks_;
    bool troubled_{false};

private:
    void on_topology(topology const& found) override {
        ASSERT_EQ(found.masters.size(), 1U);
        master_ = found.masters.front().address.port;
        if (!found.remark.empty()) remarks_.push_back(found.remark);
    }
    void on_no_topology(base::error const& why) override { trouble_.push_back(why.text); }

    [[nodiscard]] std::shared_ptr<settings const> target() const {
        return std::make_shared<settings const>(settings::parse(
            base::url::parse("redis+sentinel://127.0.0.1:" + std::to_string(sentinels_[0].port()) +
                             "/main?timeout=15s")));
    }

    std::uint16_t master_{0};
    base::instant now_{base::boot_clock::now()};
    net::poller events_;
    discovery found_{target(), "test", static_cast<discovery::listener&>(*this), events_, {1, 2}};

protected:
    [[nodiscard]] base::instant now() const noexcept { return now_; }
    [[nodiscard]] base::instant next_question() const noexcept { return found_.next_due(false); }
};

TEST_F(redis_discovery, asks_at_once_when_a_switch_of_its_master_is_published) {
    ASSERT_TRUE(is_calm());
    auto const publish = [&](std::string const& name) {
        for (auto& each : sentinels_)
            each.publish(name + " 127.0.0.1 7005 127.0.0.1 7006");
    };
    all_tell(6, 7006);
    publish("another");
    for (int i = 0; i < 20; ++i)
        turn(0ms);
    EXPECT_GT(next_question(), now() + 4s) << "of a master that is not its own";
    publish("main");
    ASSERT_TRUE(until([&] { return next_question() < now() + 1s; }, 0ms));
    EXPECT_TRUE(until([&] { return master() == 7006; }, 1ms));
}

TEST_F(redis_discovery, follows_sentinels_that_were_made_anew_and_says_so) {
    troubled_ = true;
    all_tell(0, 7000);
    ASSERT_TRUE(until([&] { return master() == 7000; }));
    ASSERT_EQ(remarks_.size(), 1U);
    EXPECT_NE(remarks_[0].find("made anew"), std::string::npos) << remarks_[0];
    all_tell(1, 7001);
    EXPECT_TRUE(until([&] { return master() == 7001; })) << "and what they do from then on";
}

TEST_F(redis_discovery, does_not_follow_an_older_answer_while_one_that_is_named_is_silent) {
    troubled_ = true;
    tells(0, 4, 7004);
    tells(1, 4, 7004);
    sentinels_[2].be_gone();
    ASSERT_TRUE(until([&] { return trouble_.size() >= 6; })) << "it is told while it lasts";
    EXPECT_EQ(master(), 7005);
    tells(2, 6, 7006);
    EXPECT_TRUE(until([&] { return master() == 7006; }));
}

TEST_F(redis_discovery, does_not_follow_one_that_has_forgotten_the_others) {
    troubled_ = true;
    sentinels_[0].tell(0, 7000, {});
    sentinels_[1].be_gone();
    sentinels_[2].be_gone();
    ASSERT_TRUE(until([&] { return trouble_.size() >= 6; }));
    EXPECT_EQ(master(), 7005);
}

TEST_F(redis_discovery, one_that_was_cut_off_misleads_nobody) {
    troubled_ = true;
    tells(1, 4, 7004);
    EXPECT_TRUE(all_are_asked(3));
    EXPECT_EQ(master(), 7005);
    EXPECT_TRUE(trouble_.empty());
}

}  // namespace
}  // namespace holdfast::stores::redis
