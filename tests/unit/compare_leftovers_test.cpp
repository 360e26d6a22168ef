// What a dead session has left of a claim, beside the same claim as its client has submitted it anew: whatever is told
// about the one is not about the other.
#include "stores/compare/message.hpp"
#include "stores/compare/name_operation.hpp"
#include "unit/compare_fixture.hpp"

namespace holdfast::stores::compare {
namespace {

constexpr session_id died{71};
constexpr session_id lives{72};
constexpr session_id asks{73};

/// One of two permits.
[[nodiscard]] seam::claim permit(std::uint64_t client, std::uint64_t number,
                                 std::chrono::seconds lease = 30s) {
    auto spec = std::make_shared<seam::claim_spec>();
    spec->name = "n";
    spec->kind = lock_kind::semaphore;
    spec->mode = claim_mode::permits;
    spec->limit = 2;
    spec->lease = lease;
    return {.spec = spec, .id = {seam::client_id{client}, number}, .actor = seam::actor_id{9}};
}

/// Somebody else's judgement of the name.
class compare_leftovers : public testing::Test {
protected:
    [[nodiscard]] static claim_record record(seam::claim subject, session_id session,
                                             std::uint64_t secret) {
        claim_record out;
        out.mode = subject.spec->mode;
        out.permits = subject.spec->permits;
        out.subject = std::move(subject);
        out.session = session;
        out.secret = secret;
        return out;
    }

    [[nodiscard]] line_item waiting(claim_record const& claim, std::uint64_t place) const {
        return {.id = claim.subject.id,
                .session = claim.session,
                .place = place,
                .body = write_waiter(claim, context_.when)};
    }

    [[nodiscard]] view held_by(std::vector<claim_record> holders) const {
        head_state head;
        head.record.kind = lock_kind::semaphore;
        head.record.declared = head.record.current = 2;
        std::uint64_t number = 100;
        for (auto& each : holders) {
            each.held = true;
            each.number = seam::sequence{++number};
            head.holders.push_back(std::move(each));
        }
        view out{.key = {"n"}, .written = stamp{50}};
        out.body = write_head(head, context_.when);
        out.sessions = {{.id = died, .alive = false}, {.id = lives, .alive = true}};
        return out;
    }

    [[nodiscard]] verdict judged(view const& seen, seam::request const* what,
                                 std::vector<seam::claim_id> const& asked = {}) const {
        auto decided = judge(seen, what, asked, context_);
        EXPECT_TRUE(std::holds_alternative<verdict>(decided));
        return std::get<verdict>(std::move(decided));
    }

    judging context_ = [] {
        judging out{.when = {.now = at(100s), .shown = at(100s)}};
        auto self = std::make_shared<seam::identity>();
        self->id = seam::client_id{5};
        out.self = std::move(self);
        out.session = {.id = asks, .lease = 30s, .began = out.when.now};
        return out;
    }();
    seam::claim const mine_ = permit(5, 1);   ///< of who judges
    seam::claim const other_ = permit(6, 2);  ///< in the head by the session that died
    std::uint64_t const secret_before_{0xbef};
    std::uint64_t const secret_now_{0xeee};
};

TEST_F(compare_leftovers, are_not_what_the_claim_is_told_of) {
    auto seen = held_by({record(mine_, asks, 1), record(other_, died, secret_before_)});
    seen.line = {waiting(record(other_, lives, secret_now_), 11)};
    auto const decided = judged(seen, nullptr);
    ASSERT_TRUE(decided.next);
    ASSERT_EQ(decided.next->letters.size(), 1U) << "nobody reads what is sent to the dead";
    EXPECT_EQ(decided.next->letters.front().to, lives);
    auto const told = read_messages(decided.next->letters.front().body, stamp{60});
    ASSERT_EQ(told.size(), 1U)
        << "it would be gone, and hold at the store for as long as its session lives";
    auto const* const granted = std::get_if<granted_message>(&told.front());
    ASSERT_NE(granted, nullptr);
    EXPECT_EQ(granted->id, other_.id);
    EXPECT_EQ(granted->secret, secret_now_);
}

TEST_F(compare_leftovers, do_not_hide_from_a_holder_that_somebody_waits) {
    auto const late = permit(5, 3);
    auto seen = held_by({record(other_, lives, secret_now_), record(permit(6, 4), lives, 2)});
    seen.line = {waiting(record(other_, died, secret_before_), 11)};
    seam::request const wanted =
        seam::submit{.subject = late, .queue = true, .not_after = seam::store_time::max()};
    auto const decided = judged(seen, &wanted, {late.id});
    ASSERT_TRUE(std::holds_alternative<seam::queued>(decided.bodies.front()));
    ASSERT_TRUE(decided.next);
    ASSERT_EQ(decided.next->letters.size(), 1U);
    EXPECT_EQ(decided.next->letters.front().to, lives);
    auto const told = read_messages(decided.next->letters.front().body, stamp{60});
    ASSERT_EQ(told.size(), 1U);
    EXPECT_TRUE(std::holds_alternative<contended_message>(told.front()));
}

TEST_F(compare_leftovers, are_evicted_without_the_claim_that_waits) {
    auto seen = held_by({record(mine_, asks, 1), record(other_, died, secret_before_)});
    seen.sessions = {{.id = lives, .alive = true}};  // nobody has looked whether the other one died
    seen.line = {waiting(record(other_, lives, secret_now_), 11)};
    seam::request const all = seam::evict{.name = "n"};
    auto const decided = judged(seen, &all);
    ASSERT_TRUE(decided.next);
    for (auto const& letter : decided.next->letters)
        for (auto const& told : read_messages(letter.body, stamp{60}))
            EXPECT_EQ(std::holds_alternative<gone_message>(told), letter.to == died);
}

/// Its own client's: the machine does not take the one for the other either.
class compare_own_leftovers : public machine_fixture {};

TEST_F(compare_own_leftovers, are_not_what_the_claim_is_told_of) {
    auto const held = permit(7, 1, 5s);
    auto const mine = permit(7, 2);
    hold(held, true);
    submit(mine);
    open_session();
    auto const first =
        next("commit");  // carried out, but the answer is lost, and so is the session
    answer(first, unknown{});
    EXPECT_TRUE(std::holds_alternative<seam::failure>(reply().body));
    ASSERT_TRUE(first.what.head);

    submit(claim(3, 30s, "m"));  // another one finds that the session is dead
    answer(next("raise"), fenced{});
    open_session();
    answer(next("commit"), committed{.written = stamp{++stamps_}});
    EXPECT_TRUE(std::holds_alternative<seam::granted>(reply().body));

    submit(mine);
    auto const second = next("commit");
    EXPECT_NE(second.session, first.session);
    ASSERT_EQ(second.what.append_otherwise.size(), 1U);
    view seen{.key = {"n"}, .written = stamp{40}, .body = first.what.head->body};
    seen.line = {second.what.append_otherwise.front()};
    seen.line.front().place = 41;
    answer(second, missed{.found = seen});
    answer(next("commit"), unknown{});  // this one was not carried out
    EXPECT_TRUE(std::holds_alternative<seam::failure>(reply().body));

    ask(seam::settle{.subject = held});
    answer(next("fetch"), views{.found = {seen}});
    auto const last = next("commit");
    EXPECT_EQ(last.what.leave.size(), 1U) << "the claim is let in";
    answer(last, committed{.written = stamp{50}});
    EXPECT_TRUE(std::holds_alternative<seam::settled>(reply().body));
    ASSERT_EQ(told_.size(), 1U);
    auto const* const granted = std::get_if<seam::claim_granted>(&told_.front());
    ASSERT_NE(granted, nullptr) << "what ended was told as the claim itself";
    EXPECT_EQ(granted->id, mine.id);
}

}  // namespace
}  // namespace holdfast::stores::compare
