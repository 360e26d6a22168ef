// The product's quorum over simulated members, each with its clock, and with faults of all kinds; and the same with a
// fault in the quorum itself, which must be found.
#include <cstdlib>
#include <iostream>
#include <string>

#include <gtest/gtest.h>

#include "quorum/world.hpp"
#include "support/counts.hpp"

namespace holdfast::quorum_tests {
namespace {

plan draw(std::uint64_t seed) {
    base::random draws{seed};
    plan out{.seed = seed};
    constexpr std::size_t sizes[] = {3, 3, 5, 5, 7};
    out.members = sizes[draws.below(std::size(sizes))];
    out.clients = 2 + draws.below(9);
    out.names = 1 + draws.below(3);
    out.wipes = !draws.one_in(3);
    if (draws.one_in(4)) out.slow_answers = 80ms;
    for (auto* const each : {&out.same_clocks, &out.partitions, &out.hours_apart, &out.evicts,
                             &out.downgrades, &out.keeps, &out.joins})
        *each = draws.one_in(2);
    return out;
}

// A tenth of the seeds that a run has for everything else: one of these takes ten times as long.
std::uint64_t seeds() {
    auto const* const asked = std::getenv("HOLDFAST_SEEDS");
    return asked != nullptr ? std::stoull(asked) / 10 : support::large_count(std::uint64_t{6'000});
}

TEST(quorum_simulation, keeps_its_promises) {
    auto const* const given = std::getenv("HOLDFAST_SEED");
    std::uint64_t const first = given != nullptr ? std::stoull(given) : 1;
    std::uint64_t const count = given != nullptr ? 1 : seeds();
    outcome all;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        auto const result = world{draw(seed)}.run();
        ASSERT_EQ(result.violation, "") << "HOLDFAST_SEED=" << seed;
        all.grants += result.grants;
        all.lost += result.lost;
        all.wipes += result.wipes;
    }
    std::cout << all.grants << " grants, " << all.lost << " lost early, " << all.wipes
              << " members wiped in " << count << " runs\n";
    EXPECT_GT(all.grants, 20 * count);
}

TEST(quorum_simulation, serves_twenty_contenders_on_any_size) {
    for (std::size_t const members : {3U, 5U, 7U}) {
        plan how{.seed = members, .members = members, .clients = 20, .names = 1, .faults = false};
        auto const result = world{how}.run();
        EXPECT_EQ(result.violation, "") << members;
        std::cout << members << " members: " << result.grants / 40 << " grants a second\n";
    }
}

TEST(quorum_simulation, different_names_do_not_vote_each_other_out) {
    plan how{.members = 5, .clients = 64, .names = 1'000'000, .faults = false};
    how.length = 20s;
    auto const result = world{how}.run();
    EXPECT_EQ(result.violation, "");
    EXPECT_GT(result.votes, 10'000U);
    EXPECT_LT(result.outvoted, result.votes / 50);
}

void stay_taken(plan& how) {
    how.longest_lease = 300s;
    how.wipes = how.restarts = false;  // after those it takes as long as the leases
    how.leaves_nothing = true;
    how.keeps = false;
}

TEST(quorum_simulation, leaves_nothing_behind_that_nobody_holds) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        auto how = draw(seed);
        stay_taken(how);
        ASSERT_EQ(world{how}.run().violation, "") << seed;
    }
}

// --- what must be found --------------------------------------------------------------------------

using stores::quorum::judgement;

/// Runs seeds until something is found that is wrong; the words, or nothing.
std::string found_with(void (*spoil)(plan&)) {
    constexpr std::uint64_t enough = 300;
    for (std::uint64_t seed = 1; seed <= enough; ++seed) {
        auto how = draw(seed);
        spoil(how);
        auto const result = world{how}.run();
        if (result.violation.empty() || result.violation.find("served") != std::string::npos)
            continue;
        return result.violation;
    }
    return {};
}

TEST(quorum_variants, clocks_that_run_too_differently) {
    EXPECT_NE(found_with([](plan& how) { how.drift = 0.08; }), "");
}

TEST(quorum_variants, a_member_without_its_data_votes_at_once) {
    struct hasty : judgement {
        bool sits_out() const override { return false; }
    };
    static hasty const wrong;
    EXPECT_NE(found_with([](plan& how) { how.judge = &wrong; }), "");
}

// Its record tells that it has lost its data, and nothing else does.
TEST(quorum_variants, a_member_with_the_clock_that_it_had_is_believed_without_its_record) {
    EXPECT_NE(found_with([](plan& how) {
                  how.wipes = how.same_clocks = true;
                  how.unseen = true;
              }),
              "");
}

// With one member away during the hold, and another that has lost what it kept, two that know nothing are a majority.
TEST(quorum_variants, a_name_is_kept_for_longer_than_members_sit_out) {
    struct generous : judgement {
        std::chrono::milliseconds longest_kept(std::chrono::milliseconds) const override {
            return std::chrono::hours{1};
        }
    };
    static generous const wrong;
    auto const found = found_with([](plan& how) {
        how.judge = &wrong;
        how.members = 3;
        how.wipes = how.keeps = true;
        how.evicts = false;
        how.longest_keep = 5;
    });
    EXPECT_NE(found.find("keeps it taken"), std::string::npos) << found;
}

TEST(quorum_variants, members_take_any_ballot) {
    auto const found = found_with([](plan& how) {
        how.any_ballot = true;
        how.hours_apart = false;
        how.joins = false;
    });
    EXPECT_NE(found.find("token"), std::string::npos) << found;
}

TEST(quorum_variants, validity_counts_from_the_last_answer) {
    struct late : judgement {
        base::instant began(base::instant, base::instant last) const override { return last; }
    };
    static late const wrong;
    EXPECT_NE(found_with([](plan& how) {
                  how.judge = &wrong;
                  how.slow_answers = 80ms;
              }),
              "");
}

TEST(quorum_variants, only_those_that_answered_are_released) {
    struct forgetful : judgement {
        bool gives_back_unanswered() const override { return false; }
    };
    static forgetful const wrong;
    auto const found = found_with([](plan& how) {
        stay_taken(how);
        how.judge = &wrong;
    });
    EXPECT_NE(found.find("behind"), std::string::npos) << found;
}

TEST(quorum_variants, a_majority_of_those_that_answer) {
    struct few : judgement {
        std::size_t majority(std::size_t members) const override { return members / 2; }
    };
    static few const wrong;
    EXPECT_NE(found_with([](plan& how) {
                  how.judge = &wrong;
                  how.members = 5;
              }),
              "");
}

}  // namespace
}  // namespace holdfast::quorum_tests
