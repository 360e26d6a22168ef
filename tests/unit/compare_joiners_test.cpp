// Claims of one owner that join, where a line is joined without being seen: none of them may be overlooked.
#include <gtest/gtest.h>

#include "stores/compare/name_operation.hpp"
#include "unit/compare_fixture.hpp"

namespace holdfast::stores::compare {
namespace {

using namespace std::chrono_literals;

class compare_joiners : public testing::Test {
protected:
    [[nodiscard]] static seam::claim claim(std::string owner, std::uint64_t number) {
        auto spec = std::make_shared<seam::claim_spec>();
        spec->name = "n";
        spec->owner = std::move(owner);
        spec->lease = 30s;
        spec->joins = true;
        return {.spec = spec, .id = {seam::client_id{7}, number}, .actor = seam::actor_id{9}};
    }

    [[nodiscard]] line_item waiting(seam::claim const& subject, std::uint64_t place) const {
        auto out = waiter_of({.subject = subject, .queue = true}, context_);
        out.place = place;
        return out;
    }

    /// The name, held by the claim, with these in its line.
    [[nodiscard]] view held_by(seam::claim const& subject, std::vector<line_item> line) const {
        view out{.key = {"n"}};
        seam::request const taking =
            seam::submit{.subject = subject, .not_after = seam::store_time::max()};
        auto const taken = judged(out, &taking, {subject.id});
        out.written = stamp{5};
        out.body = taken.next->head->body;
        out.line = std::move(line);
        return out;
    }

    [[nodiscard]] verdict judged(view const& seen, seam::request const* what,
                                 std::vector<seam::claim_id> const& asked) const {
        auto decided = judge(seen, what, asked, context_);
        EXPECT_TRUE(std::holds_alternative<verdict>(decided));
        return std::get<verdict>(std::move(decided));
    }

    judging context_ = [] {
        judging out{.when = {.now = seam::store_time{100s}, .shown = seam::store_time{100s}}};
        auto self = std::make_shared<seam::identity>();
        self->id = seam::client_id{7};
        out.self = std::move(self);
        out.session = {.id = session_id{77}, .lease = 30s, .began = out.when.now};
        out.traits.clock = true;
        return out;
    }();
};

TEST_F(compare_joiners, who_was_not_seen_makes_the_step_fail_that_lets_the_others_in) {
    auto const first = claim("a", 1);
    auto const seen = held_by(first, {waiting(claim("b", 2), 11), waiting(claim("c", 3), 12),
                                      waiting(claim("b", 4), 13)});
    seam::request const release = seam::settle{.subject = first};
    auto const decided = judged(seen, &release, {first.id});
    ASSERT_TRUE(decided.next);
    EXPECT_EQ(decided.next->leave.size(), 2U) << "both of one owner";
    EXPECT_EQ(decided.next->nobody_behind, 13U) << "a third may have joined since";
    EXPECT_EQ(decided.next->seen_places, (std::vector<std::uint64_t>{11, 12, 13}));
}

TEST_F(compare_joiners, who_was_overlooked_comes_in_afterwards) {
    auto const joiner = claim("a", 2);
    auto const seen = held_by(claim("a", 1), {waiting(claim("b", 3), 11), waiting(joiner, 12)});
    auto const decided = judged(seen, nullptr, {});
    ASSERT_TRUE(decided.next);
    ASSERT_EQ(decided.next->leave.size(), 1U);
    EXPECT_EQ(decided.next->leave.front().id, joiner.id);
    ASSERT_EQ(decided.own.size(), 1U);
    EXPECT_EQ(std::get<seam::claim_granted>(decided.own.front().what).id, joiner.id);
}

TEST_F(compare_joiners, more_than_one_step_takes_come_in_one_after_the_other) {
    auto seen = held_by(claim("a", 1), {});
    for (std::uint64_t number = 2; number < 102; ++number)
        seen.line.push_back(waiting(claim("a", number), number));
    std::size_t let_in = 0;
    for (bool more = true; more;) {
        auto const decided = judged(seen, nullptr, {});
        ASSERT_TRUE(decided.next);
        auto const left = decided.next->leave.size();
        ASSERT_LE(2 * left, context_.traits.writes);
        let_in += left;
        auto const written = static_cast<std::uint64_t>(seen.written) + 1;
        seen = decided.after;
        seen.written = stamp{written};
        more = decided.full;
    }
    EXPECT_EQ(let_in, 100U);
}

class compare_joining : public machine_fixture {
protected:
    /// Of how many in the line a claim is told that joins it.
    [[nodiscard]] std::uint32_t seen_by(seam::claim const& subject) {
        driver_.has.seen_by_joiners = 1;
        submit(subject);
        open_session();
        return next("commit").what.otherwise.line;
    }
};

TEST_F(compare_joining, is_told_of_as_many_as_the_driver_shows_without_effort) {
    EXPECT_EQ(seen_by(claim(1, 30s)), 1U);
}

TEST_F(compare_joining, for_permits_sees_whom_it_may_pass) {
    auto subject = claim(1, 30s);
    auto spec = std::make_shared<seam::claim_spec>(*subject.spec);
    spec->kind = lock_kind::semaphore;
    spec->mode = claim_mode::permits;
    spec->limit = 3;
    subject.spec = spec;
    EXPECT_EQ(seen_by(subject), 8U);
}

}  // namespace
}  // namespace holdfast::stores::compare
