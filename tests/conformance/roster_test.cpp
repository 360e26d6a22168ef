// No store, row or synchronizer and no pair of them goes without its tests. That each row has its ctest
// entries is the matter of tests/roster.
#include "conformance/roster.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "conformance/context.hpp"

namespace holdfast::conformance {

namespace {

std::set<std::string> words(char const* text) {
    std::istringstream in{text};
    return {std::istream_iterator<std::string>{in}, {}};
}

/// How many tests of `suite` run over `row` in this program; of one name only, where it is given.
int tests_of(std::string_view suite, std::string_view row, std::string_view only = {}) {
    auto const& all = *testing::UnitTest::GetInstance();
    auto const full = "stores/" + std::string{suite};
    auto const end = "/" + std::string{row};
    int count = 0;
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        auto const& candidate = *all.GetTestSuite(i);
        if (candidate.name() != full) continue;
        for (int j = 0; j < candidate.total_test_count(); ++j) {
            std::string_view const name{candidate.GetTestInfo(j)->name()};
            if (name.ends_with(end) && (only.empty() || name == std::string{only} + end)) ++count;
        }
    }
    return count;
}

TEST(roster_test, every_row_of_the_build_has_a_context) {
    std::set<std::string> known;
    for (auto const& row : rows())
        EXPECT_TRUE(known.insert(row.name).second) << row.name << " is registered twice";
    EXPECT_EQ(known, words(HOLDFAST_TEST_ROWS));
}

TEST(roster_test, every_store_of_the_build_has_a_row_that_make_test_runs_whole) {
    std::set<std::string> known;
    for (auto const& row : rows())
        if (words(HOLDFAST_TEST_FULL_ROWS).contains(row.name)) known.insert(row.store);
    EXPECT_EQ(known, words(HOLDFAST_TEST_STORES));
}

TEST(roster_test, every_public_header_has_a_line) {
    std::set<std::string> headers;
    for (auto const& line : roster)
        EXPECT_TRUE(headers.insert(std::string{line.header}).second)
            << line.header << " stands twice";
    EXPECT_EQ(headers, words(HOLDFAST_TEST_HEADERS));
}

TEST(roster_test, every_suite_runs_over_every_row_that_can) {
    for (auto const& line : roster)
        for (auto const& suite : line.suites)
            for (auto const& row : rows())
                EXPECT_EQ(tests_of(suite.name, row.name) > 0, row.can_all(suite.needs))
                    << suite.name << " over " << row.name;
}

TEST(roster_test, every_ability_is_probed_on_every_row) {
    for (auto const& row : rows())
        for (auto const which : all_abilities)
            EXPECT_EQ(tests_of("abilities_test", row.name, to_string(which)), 1)
                << to_string(which) << " on " << row.name;
}

TEST(roster_test, every_suite_has_a_line) {
    auto const& all = *testing::UnitTest::GetInstance();
    constexpr std::string_view over_rows = "stores/";
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        std::string_view name = all.GetTestSuite(i)->name();
        if (!name.starts_with(over_rows)) continue;
        name.remove_prefix(over_rows.size());
        EXPECT_TRUE(std::ranges::any_of(roster, [&](auto const& line) {
            return std::ranges::count(line.suites, name, &roster_suite::name) == 1;
        })) << name;
    }
}

}  // namespace

}  // namespace holdfast::conformance
