// Members that die, stand still and come back without their data, one by one and in pairs.
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>

#include "quorum/members_fixture.hpp"
#include "support/failure.hpp"
#include "support/proxy.hpp"

namespace holdfast::quorum_faults {
namespace {

using support::failure_of;
using support::patience;
using support::stopwatch;
using support::words_of;

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

// A member that has lost its data sits out for so long.
TEST_P(quorum_members, nothing_is_kept_for_longer_than_the_longest_lease) {
    auto const user = connect();
    // Members that were slower than the others to answer at all may sit out at first.
    ASSERT_TRUE(eventually([&] { return token_of_try(user) != 0; }));
    auto const longer = longest_lease + 1ms;
    lock_options const keeps{.lease = 1500ms, .min_hold = longer};
    EXPECT_EQ(failure_of([&] { mutex{user, "q", keeps}; }), errc::bad_option);
    EXPECT_EQ(failure_of([&] { recursive_mutex{user, "q", keeps}; }), errc::bad_option);
    EXPECT_EQ(failure_of([&] { shared_mutex{user, "q", keeps}; }), errc::bad_option);
    EXPECT_EQ(failure_of([&] {
                  return mutex{user, "q", {.lease = longer}}.try_acquire();
              }),
              errc::bad_option);
    auto held = mutex{user, "q", {.lease = longest_lease, .min_hold = longest_lease}}.acquire();
    EXPECT_EQ(failure_of([&] { return held.renew(longer); }), errc::bad_option);
    EXPECT_TRUE(held.held());
    EXPECT_EQ(held.renew(longest_lease), lease_state::held);
    EXPECT_EQ(held.release(), release_outcome::released);
}

// The URL does not show it.
TEST_P(quorum_members, one_server_under_two_names_is_refused) {
    redis_faults::proxy const second_name{server(0).port(), 1};
    client const user{url_of({server(0).port(), second_name.port(), server(1).port()})};
    mutex wanted{user, "q", options()};
    auto const words = words_of([&] { return wanted.try_acquire(); });
    EXPECT_NE(words.find("one server"), std::string::npos) << words;
    EXPECT_NE(words.find(std::to_string(second_name.port())), std::string::npos) << words;
    EXPECT_EQ(failure_of([&] { return wanted.try_acquire(); }), errc::bad_url);
    auto const right = connect();
    EXPECT_TRUE((mutex{right, "q", options()}.try_acquire_for(patience)))
        << "the mistake has made members";
}

INSTANTIATE_TEST_SUITE_P(kinds, quorum_members, testing::ValuesIn(member_kinds()), name_of);

}  // namespace
}  // namespace holdfast::quorum_faults
