// Sentinels that tell of an older configuration: when nobody is left who might know better.
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "stores/redis/older_answers.hpp"

namespace holdfast::stores::redis {
namespace {

server_address at(std::uint16_t port) { return {"s", port}; }

topology told(std::uint64_t epoch, std::vector<std::uint16_t> const& sentinels) {
    topology out{.masters = {{.address = {"m", static_cast<std::uint16_t>(epoch)}, .slots = {}}},
                 .guides = {},
                 .epoch = epoch};
    for (auto const port : sentinels)
        out.guides.push_back(at(port));
    return out;
}

class redis_older_answers : public testing::Test {
protected:
    /// The one at a port tells of an epoch, and names these, itself among them.
    void tells(std::uint16_t port, std::uint64_t epoch, std::vector<std::uint16_t> const& names) {
        all_.add(at(port), told(epoch, names));
    }
    [[nodiscard]] bool agree_on(std::uint64_t epoch, std::size_t count) const {
        auto const* const found = all_.agreed(count);
        return found != nullptr && found->epoch == epoch;
    }
    [[nodiscard]] bool agree(std::size_t count) const { return all_.agreed(count) != nullptr; }

    older_answers all_;
};

TEST_F(redis_older_answers, of_all_are_agreed_on_and_the_newest_counts) {
    EXPECT_FALSE(agree(3));
    tells(1, 0, {1, 2, 3});
    tells(2, 2, {1, 2, 3});
    EXPECT_FALSE(agree(3)) << "the third may know better";
    tells(3, 1, {1, 2, 3});
    EXPECT_TRUE(agree_on(2, 3));
}

TEST_F(redis_older_answers, of_one_that_does_not_answer_any_more_count_no_more) {
    tells(1, 0, {1, 2, 3});
    tells(2, 0, {1, 2, 3});
    tells(3, 0, {1, 2, 3});
    all_.forget(at(2));
    EXPECT_FALSE(agree(3));
    tells(2, 0, {1, 2, 3});
    EXPECT_TRUE(agree(3));
    all_.clear();
    EXPECT_FALSE(agree(3));
}

// As many as are on the smaller side of a partition, whomever they have forgotten there.
TEST_F(redis_older_answers, of_half_of_those_there_were_are_too_few) {
    tells(1, 0, {1});
    EXPECT_FALSE(agree(2));
    EXPECT_TRUE(agree(1));
    tells(1, 0, {1, 2});
    tells(2, 0, {1, 2});
    EXPECT_FALSE(agree(4));
    EXPECT_TRUE(agree(3));
}

// One by two names, which does not know the others, is one.
TEST_F(redis_older_answers, of_one_sentinel_by_several_names_count_once) {
    tells(1, 0, {1});
    tells(11, 0, {11});
    EXPECT_FALSE(agree(3));
}

TEST_F(redis_older_answers, of_others_at_other_places_are_agreed_on) {
    tells(4, 0, {4, 5, 6});
    tells(5, 0, {4, 5, 6});
    EXPECT_EQ(all_.guides(), (std::vector{at(4), at(5), at(6)}));
    EXPECT_FALSE(agree(3));
    tells(6, 0, {4, 5, 6});
    EXPECT_TRUE(agree(3));
}

}  // namespace
}  // namespace holdfast::stores::redis
