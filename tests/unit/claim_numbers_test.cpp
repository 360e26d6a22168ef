// The numbers of claims, of which the lowest bits are used again.
#include "core/claim_numbers.hpp"

#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::core {
namespace {

seam::claim_id id_of(std::uint64_t number) { return {seam::client_id{1}, number}; }

TEST(claim_numbers, rise_with_age) {
    claim_numbers numbers;
    std::uint64_t last = 0;
    for (int i = 0; i < 100; ++i) {
        auto const made = i % 3 == 0 ? numbers.next() : numbers.next_with_index();
        EXPECT_GT(made, last);
        last = made;
        if (i % 5 == 0) numbers.give_back(id_of(made));
    }
}

TEST(claim_numbers, an_index_belongs_to_one_at_a_time_and_is_used_again) {
    claim_numbers numbers;
    std::vector<seam::claim_id> living;
    std::set<std::uint16_t> taken;
    for (int i = 0; i < 1000; ++i) {
        living.push_back(id_of(numbers.next_with_index()));
        EXPECT_NE(living.back().index(), 0);
        EXPECT_TRUE(taken.insert(living.back().index()).second);
        if (living.size() < 8) continue;
        auto const gone = living.begin() + i % 8;
        taken.erase(gone->index());
        numbers.give_back(*gone);
        living.erase(gone);
    }
    EXPECT_LE(*taken.rbegin(), 8) << "as many as live at one time";
}

TEST(claim_numbers, those_for_whom_none_is_left_have_none) {
    claim_numbers numbers;
    for (std::uint64_t i = 0; i < seam::claim_id::most_indexes; ++i)
        ASSERT_NE(id_of(numbers.next_with_index()).index(), 0);
    auto const without = id_of(numbers.next_with_index());
    EXPECT_EQ(without.index(), 0);
    numbers.give_back(without);
    EXPECT_EQ(id_of(numbers.next_with_index()).index(), 0) << "nothing was given back";
    numbers.give_back(id_of(7));
    EXPECT_EQ(id_of(numbers.next_with_index()).index(), 7);
}

TEST(claim_numbers, of_swaps_have_no_index) {
    claim_numbers numbers;
    auto const made = id_of(numbers.next());
    EXPECT_EQ(made.index(), 0);
    EXPECT_NE(made.number, id_of(numbers.next()).number);
}

}  // namespace
}  // namespace holdfast::core
