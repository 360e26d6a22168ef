// No store, synchronizer or pair of them goes without its tests.
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

/// How many tests of `suite` run over `store` in this program.
int tests_of(std::string_view suite, std::string_view store) {
    auto const& all = *testing::UnitTest::GetInstance();
    auto const full = "stores/" + std::string{suite};
    auto const end = "/" + std::string{store};
    int count = 0;
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        auto const& it = *all.GetTestSuite(i);
        if (it.name() != full) continue;
        for (int j = 0; j < it.total_test_count(); ++j)
            count += std::string_view{it.GetTestInfo(j)->name()}.ends_with(end) ? 1 : 0;
    }
    return count;
}

TEST(roster_test, every_store_of_the_build_has_a_context) {
    std::set<std::string> known;
    for (auto const& store : stores())
        EXPECT_TRUE(known.insert(store.name).second) << store.name << " is registered twice";
    EXPECT_EQ(known, words(HOLDFAST_TEST_STORES));
}

TEST(roster_test, every_public_header_has_a_row) {
    std::set<std::string> rows;
    for (auto const& row : roster)
        EXPECT_TRUE(rows.insert(std::string{row.header}).second) << row.header << " stands twice";
    EXPECT_EQ(rows, words(HOLDFAST_TEST_HEADERS));
}

TEST(roster_test, every_suite_runs_over_every_store) {
    for (auto const& row : roster)
        for (auto const suite : row.suites)
            for (auto const& store : words(HOLDFAST_TEST_STORES))
                EXPECT_GT(tests_of(suite, store), 0) << suite << " over " << store;
}

TEST(roster_test, every_suite_has_a_row) {
    auto const& all = *testing::UnitTest::GetInstance();
    constexpr std::string_view over_stores = "stores/";
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        std::string_view name = all.GetTestSuite(i)->name();
        if (!name.starts_with(over_stores)) continue;
        name.remove_prefix(over_stores.size());
        EXPECT_TRUE(std::ranges::any_of(roster, [&](auto const& row) {
            return std::ranges::count(row.suites, name) == 1;
        })) << name;
    }
}

// A store of this build that can do less than others says so in its context, and its rows assert it.
TEST(roster_test, every_context_tells_the_truth_about_itself) {
    for (auto const& store : stores()) {
        auto const it = store.make();
        auto const code_of = [](auto call) {
            try {
                call();
            } catch (std::system_error const& error) {
                return error.code();
            }
            return std::error_code{};
        };
        auto const silence = code_of([&] { it->silence(); });
        EXPECT_EQ(silence == errc::unsupported, !it->can().outage) << store.name;
        if (it->can().outage) it->restore();
        auto const death = code_of([&] { it->kill_holder("name", std::chrono::seconds{2}); });
        EXPECT_EQ(death == errc::unsupported, !it->can().processes) << store.name;
    }
}

}  // namespace

}  // namespace holdfast::conformance
