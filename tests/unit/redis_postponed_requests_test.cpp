// What was sent away for now: when it is sent again, and in which order.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stores/redis/postponed_requests.hpp"

namespace holdfast::stores::redis {
namespace {

using namespace std::chrono_literals;

class redis_postponed : public testing::Test {
protected:
    /// One that has 100 s; of no name where that is 0.
    static question make(std::uint64_t turn, std::size_t name, std::chrono::seconds within = 100s) {
        question out{.what = command{"TIME"}, .give_up = base::instant{within}, .turn = turn};
        if (name != 0) out.what.concerns(name);
        return out;
    }
    void add(std::uint64_t turn, std::size_t name, std::chrono::seconds due) {
        all_.add(make(turn, name), base::instant{due}, "TRYAGAIN");
    }
    bool keeps_behind(std::uint64_t turn, std::size_t name) {
        auto what = make(turn, name);
        return all_.keep_behind(what);
    }
    std::vector<std::uint64_t> take(std::chrono::seconds now) {
        std::vector<std::uint64_t> out;
        all_.take_due(base::instant{now}, [&](postponed_requests::request each) {
            EXPECT_EQ(each.words, "TRYAGAIN");
            out.push_back(each.what.turn);
        });
        return out;
    }
    using turns = std::vector<std::uint64_t>;

    postponed_requests all_;
};

TEST_F(redis_postponed, each_name_has_its_moment) {
    add(1, 7, 5s);
    add(2, 8, 3s);
    add(3, 0, 4s);
    EXPECT_EQ(all_.next_due(), base::instant{3s});
    EXPECT_EQ(take(2s), turns{});
    EXPECT_EQ(take(4s), (turns{2, 3}));
    EXPECT_EQ(all_.next_due(), base::instant{5s});
    EXPECT_EQ(take(5s), turns{1});
    EXPECT_EQ(all_.next_due(), base::never);
}

TEST_F(redis_postponed, what_is_asked_later_for_the_name_waits_with_it) {
    EXPECT_FALSE(keeps_behind(1, 7)) << "nobody waits";
    add(2, 7, 5s);
    EXPECT_TRUE(keeps_behind(3, 7));
    EXPECT_FALSE(keeps_behind(4, 8)) << "another name";
    EXPECT_FALSE(keeps_behind(5, 0)) << "none";
    EXPECT_FALSE(keeps_behind(1, 7)) << "it came first";
    EXPECT_EQ(take(5s), (turns{2, 3}));
    EXPECT_FALSE(keeps_behind(6, 7)) << "nobody waits any more";
}

TEST_F(redis_postponed, those_of_one_name_go_together_in_the_order_in_which_they_were_asked) {
    add(1, 7, 5s);
    EXPECT_TRUE(keeps_behind(3, 7));
    add(2, 7, 3s);  // was on its way behind the first
    add(4, 7, 9s);
    EXPECT_EQ(take(4s), turns{}) << "none before the first";
    EXPECT_EQ(take(5s), (turns{1, 2, 3, 4})) << "and none after it, which may come back";
}

TEST_F(redis_postponed, one_that_comes_back_while_others_wait_goes_before_them) {
    add(2, 7, 5s);
    add(1, 7, 8s);
    EXPECT_EQ(take(5s), turns{}) << "the first one says when";
    EXPECT_EQ(take(8s), (turns{1, 2}));
}

TEST_F(redis_postponed, what_is_sent_away_again_keeps_those_behind_it) {
    add(1, 7, 5s);
    EXPECT_TRUE(keeps_behind(2, 7));
    turns taken;
    all_.take_due(base::instant{5s}, [&](postponed_requests::request each) {
        taken.push_back(each.what.turn);
        EXPECT_FALSE(all_.keep_behind(each.what)) << "not behind those that came later";
        all_.add(std::move(each.what), base::instant{6s}, "TRYAGAIN");
        EXPECT_TRUE(keeps_behind(3, 7));
    });
    EXPECT_EQ(taken, turns{1});
    EXPECT_EQ(take(6s), (turns{1, 2, 3}));
}

TEST_F(redis_postponed, what_is_asked_meanwhile_does_not_overtake_those_that_are_due) {
    add(1, 7, 5s);
    add(2, 7, 5s);
    turns taken;
    all_.take_due(base::instant{5s}, [&](postponed_requests::request each) {
        taken.push_back(each.what.turn);
        if (each.what.turn > 1) return;
        EXPECT_TRUE(keeps_behind(3, 7));
    });
    EXPECT_EQ(taken, (turns{1, 2, 3}));
}

TEST_F(redis_postponed, nothing_waits_beyond_its_time) {
    all_.add(make(1, 7, 4s), base::instant{9s}, "TRYAGAIN");
    EXPECT_EQ(all_.next_due(), base::instant{4s});
    all_.take_due(base::instant{4s}, [](postponed_requests::request const& each) {
        EXPECT_EQ(each.what.travels_until, base::instant{4s});
    });
    EXPECT_EQ(all_.next_due(), base::never);
}

}  // namespace
}  // namespace holdfast::stores::redis
