// The contract of drivers: steps of several clients at once.
#include <algorithm>

#include "compare/contract.hpp"

namespace holdfast::driver_tests {

using namespace stores::compare;

namespace {

/// Two steps that are sent before either is answered, and what becomes of them.
std::pair<outcome, outcome> at_once(member& one, step const& mine, member& other,
                                    step const& yours) {
    ticket const first = one->next_ticket();
    ticket const second = other->next_ticket();
    one->driver().commit(first, mine);
    other->driver().commit(second, yours);
    auto told = one->outcome_of(first);
    return {std::move(told), other->outcome_of(second)};
}

bool is_committed(outcome const& what) { return std::holds_alternative<committed>(what); }

}  // namespace

TEST_P(driver_contract, of_two_steps_from_one_stamp_one_is_carried_out) {
    member one = join();
    member other = join();
    name_key const key = new_key();
    stamp written{};
    for (int round = 0; round < store().rounds(); ++round) {
        step mine = one.on(key);
        step yours = other.on(key);
        mine.expected = yours.expected = written;
        mine.head = head_of("mine");
        yours.head = head_of("yours");
        auto const [first, second] = at_once(one, mine, other, yours);
        ASSERT_NE(is_committed(first), is_committed(second))
            << words_of(first) << ", " << words_of(second);
        auto const& lost = expect<missed>(is_committed(first) ? second : first);
        written = expect<committed>(is_committed(first) ? first : second).written;
        ASSERT_EQ(lost.found.written, written);
        ASSERT_EQ(lost.found.body, is_committed(first) ? "mine" : "yours");
        ASSERT_EQ(look(one, key).written, written);
    }
}

TEST_P(driver_contract, of_two_steps_that_make_a_head_one_is_carried_out) {
    member one = join();
    member other = join();
    for (int round = 0; round < store().rounds(); ++round) {
        name_key const key = new_key();
        step mine = one.on(key);
        step yours = other.on(key);
        mine.head = head_of("mine");
        mine.append = {one.claim()};
        yours.head = head_of("yours");
        yours.append = {other.claim()};
        auto const [first, second] = at_once(one, mine, other, yours);
        ASSERT_NE(is_committed(first), is_committed(second))
            << words_of(first) << ", " << words_of(second);
        view const found = look(one, key);
        ASSERT_EQ(found.body, is_committed(first) ? "mine" : "yours");
        ASSERT_EQ(claims_of(found),
                  std::vector{is_committed(first) ? mine.append[0].id : yours.append[0].id});
    }
}

TEST_P(driver_contract, of_two_steps_that_let_one_leave_one_fails) {
    member one = join();
    member other = join();
    name_key const key = new_key();
    for (int round = 0; round < store().rounds(); ++round) {
        line_item const item = wait_in_line(one, key);
        line_item const next = wait_in_line(other, key);
        step mine = one.on(key);
        step yours = other.on(key);
        let_leave(mine, item);
        let_leave(yours, next);
        let_leave(yours, item);
        auto const [first, second] = at_once(one, mine, other, yours);
        ASSERT_NE(is_committed(first), is_committed(second))
            << words_of(first) << ", " << words_of(second);
        view const found = look(one, key);
        if (is_committed(second)) {
            ASSERT_TRUE(found.line.empty());
            continue;
        }
        ASSERT_EQ(claims_of(found), std::vector{next.id});
        step clean = one.on(key);
        let_leave(clean, next);
        (void)expect<committed>(one->commit(clean));
    }
}

/// Whoever finds the name taken joins the line and looks; whoever finds the line empty gives the name up. Neither may
/// miss the other.
TEST_P(driver_contract, who_joins_and_who_finds_nobody_do_not_miss_each_other) {
    member holder = join();
    member waiter = join();
    for (int round = 0; round < store().rounds(); ++round) {
        name_key const key = new_key();
        stamp const held = write_head(holder, key, "held");
        step release = holder.on(key);
        release.expected = held;
        release.nobody_behind = 0;
        release.head = head_of("free");
        step wait = waiter.on(key);
        wait.head = head_of("taken");
        wait.append_otherwise = {waiter.claim()};
        auto const [released, waited] = at_once(holder, release, waiter, wait);
        view const seen = expect<missed>(waited).found;
        ASSERT_EQ(claims_of(seen), std::vector{wait.append_otherwise[0].id});
        auto const* const done = std::get_if<committed>(&released);
        if (done == nullptr) {
            ASSERT_EQ(claims_of(expect<missed>(released).found), claims_of(seen))
                << "it missed for nothing";
            ASSERT_EQ(look(holder, key).written, held);
            continue;
        }
        bool const holder_knows = done->behind && claims_of(*done->behind) == claims_of(seen);
        bool const waiter_knows = seen.written == done->written;
        ASSERT_TRUE(holder_knows || waiter_knows) << "a wake-up is lost";
        if (done->behind) {
            ASSERT_EQ(done->behind->written, done->written);
        }
    }
}

/// Of two who join at once, the one who is seen later may have the lower place.
TEST_P(driver_contract, who_joins_before_those_who_were_seen_is_not_overlooked) {
    member holder = join();
    member one = join();
    member other = join();
    for (int round = 0; round < store().rounds(); ++round) {
        name_key const key = new_key();
        stamp const held = write_head(holder, key, "held");
        std::vector<ticket> sent;
        for (member* const who : {&one, &other}) {
            step wait = who->on(key);
            wait.append_otherwise = {who->claim()};
            sent.push_back((*who)->next_ticket());
            (*who)->driver().commit(sent.back(), wait);
        }
        ticket const looked = holder->next_ticket();
        holder->driver().fetch(looked,
                               {{{.key = key, .claims = {}, .line = name_query::whole_line}}});
        (void)expect<missed>(one->outcome_of(sent[0]));
        (void)expect<missed>(other->outcome_of(sent[1]));
        view const seen = expect<views>(holder->outcome_of(looked)).found.at(0);
        step release = holder.on(key);
        release.expected = held;
        release.head = head_of("free");
        require_nobody_but(release, seen.line);
        outcome const told = holder->commit(release);
        bool const overlooks = is_committed(told) && !std::get<committed>(told).behind;
        ASSERT_EQ(overlooks, seen.line.size() == 2) << words_of(told);
    }
}

TEST_P(driver_contract, once_a_raise_is_answered_no_older_step_takes_effect) {
    member one = join();
    member other = join();
    for (int round = 0; round < store().rounds(); ++round) {
        name_key const key = new_key();
        step what = one.on(key);
        what.head = head_of("sent before");
        what.append = {one.claim()};
        ticket const sent = one->next_ticket();
        one->driver().commit(sent, what);
        outcome const up = one->raise(one.session);
        view const found = look(other, key);
        one.current = expect<raised>(up).current;
        outcome const told = one->outcome_of(sent);
        bool const happened = found.written != stamp{};
        ASSERT_EQ(happened, is_committed(told)) << words_of(told);
        ASSERT_EQ(look(other, key).written, found.written) << "it took effect afterwards";
        ASSERT_EQ(found.line.size(), happened ? 1U : 0U);
    }
}

TEST_P(driver_contract, a_step_that_arrives_after_the_raise_takes_no_effect) {
    member one = join();
    member other = join();
    name_key const key = new_key();
    if (!store().hold_back_steps(one->driver())) return;
    step what = one.on(key);
    what.head = head_of("late");
    what.append_otherwise = {one.claim()};
    ticket const first = one->next_ticket();
    one->driver().commit(first, what);
    what.expected = stamp{1};
    ticket const second = one->next_ticket();
    one->driver().commit(second, what);
    (void)expect<raised>(one->raise(one.session));
    EXPECT_EQ(look(other, key).written, stamp{});
    EXPECT_FALSE(one->answered(first));
    store().let_steps_go(one->driver());
    (void)expect<fenced>(one->outcome_of(first));
    (void)expect<fenced>(one->outcome_of(second));
    EXPECT_EQ(look(other, key).written, stamp{});
    EXPECT_TRUE(look(other, key).line.empty());
}

TEST_P(driver_contract, many_calls_at_once_each_get_their_outcome) {
    member one = join();
    std::vector<std::pair<ticket, name_key>> sent;
    for (int count = 0; count < 100; ++count) {
        sent.emplace_back(one->next_ticket(), new_key());
        step what = one.on(sent.back().second);
        what.head = head_of("number " + std::to_string(count));
        one->driver().commit(sent.back().first, what);
    }
    for (auto const& [which, key] : sent) {
        stamp const written = expect<committed>(one->outcome_of(which)).written;
        EXPECT_EQ(look(one, key).written, written);
    }
}

}  // namespace holdfast::driver_tests
