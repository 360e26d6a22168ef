// The contract of drivers: the line of a name, its order, and what a step can ask of it.
#include <algorithm>

#include "compare/contract.hpp"

namespace holdfast::driver_tests {

using namespace stores::compare;

TEST_P(driver_contract, the_line_is_in_the_order_of_arrival) {
    member one = join();
    member other = join();
    name_key const key = new_key();
    std::vector<seam::claim_id> arrived;
    std::uint64_t last = 0;
    for (int round = 0; round < 6; ++round) {
        line_item const item = wait_in_line(round % 2 == 0 ? one : other, key);
        EXPECT_GT(item.place, last);
        last = item.place;
        arrived.push_back(item.id);
    }
    view const found = look(one, key);
    EXPECT_EQ(claims_of(found), arrived);
    EXPECT_TRUE(std::ranges::is_sorted(found.line, {}, &line_item::place));
    EXPECT_EQ(found.written, stamp{}) << "joining the line does not touch the head";
}

TEST_P(driver_contract, a_claim_is_found_wherever_it_stands) {
    member one = join();
    name_key const key = new_key();
    std::vector<line_item> items;
    for (int i = 0; i < 5; ++i)
        items.push_back(wait_in_line(one, key));
    auto const nobody = one.claim();
    name_query what{.key = key, .claims = {items[3].id, items[0].id, nobody.id}, .line = 2};
    auto const views = expect<stores::compare::views>(one->fetch({.names = {what}})).found;
    ASSERT_EQ(views.size(), 1U);
    EXPECT_EQ(claims_of(views[0]), (std::vector{items[0].id, items[1].id}));
    EXPECT_TRUE(views[0].more);
    ASSERT_EQ(views[0].others.size(), 1U) << "of those behind the first ones, what was asked for";
    EXPECT_EQ(views[0].others[0].id, items[3].id);
    EXPECT_EQ(views[0].others[0].place, items[3].place);
    what.line = 5;
    auto const all = expect<stores::compare::views>(one->fetch({.names = {what}})).found;
    EXPECT_FALSE(all.at(0).more);
    EXPECT_TRUE(all.at(0).others.empty()) << "each is told once";
}

TEST_P(driver_contract, who_stands_in_the_line_joins_it_only_once) {
    member one = join();
    name_key const key = new_key();
    line_item const item = wait_in_line(one, key);
    line_item const behind = wait_in_line(one, key);
    step again = one.on(key);
    again.expected = stamp{1};
    line_item same = item;
    same.place = 0;
    again.append_otherwise = {same};
    view const found = expect<missed>(one->commit(again)).found;
    EXPECT_EQ(claims_of(found), (std::vector{item.id, behind.id}));
    EXPECT_EQ(found.line.at(0).place, item.place);
}

TEST_P(driver_contract, several_join_at_once) {
    member one = join();
    name_key const key = new_key();
    line_item const before = wait_in_line(one, key);
    step what = one.on(key);
    what.append = {one.claim("a"), one.claim("b"), one.claim("c")};
    committed const done = expect<committed>(one->commit(what));
    line_item const after = wait_in_line(one, key);
    view const found = look(one, key);
    ASSERT_EQ(found.line.size(), 5U);
    EXPECT_EQ(found.line[0].id, before.id);
    EXPECT_EQ(found.line[4].id, after.id);
    for (line_item const& item : what.append) {
        auto const standing = std::ranges::find(found.line, item.id, &line_item::id);
        ASSERT_NE(standing, found.line.end());
        EXPECT_EQ(standing->body, item.body);
        if (done.places.empty()) continue;
        ASSERT_EQ(done.places.size(), 3U);
        EXPECT_EQ(done.places[static_cast<std::size_t>(&item - what.append.data())],
                  standing->place);
    }
}

TEST_P(driver_contract, the_beginning_of_a_line_is_told_and_whether_there_is_more) {
    member one = join();
    name_key const key = new_key();
    std::vector<seam::claim_id> all;
    for (int count = 0; count < 5; ++count)
        all.push_back(wait_in_line(one, key).id);
    name_query what;
    what.key = key;
    what.line = 3;
    view found = one->look(what);
    EXPECT_EQ(claims_of(found), std::vector(all.begin(), all.begin() + 3));
    EXPECT_TRUE(found.more);
    what.line = 5;
    found = one->look(what);
    EXPECT_EQ(claims_of(found), all);
    EXPECT_FALSE(found.more);
    what.line = 0;
    found = one->look(what);
    EXPECT_TRUE(found.line.empty());
    EXPECT_TRUE(found.more);
    what.line = name_query::whole_line;
    found = one->look(what);
    EXPECT_EQ(claims_of(found), all);
    EXPECT_FALSE(found.more);
}

TEST_P(driver_contract, claims_that_are_asked_for_are_told_wherever_they_stand) {
    member one = join();
    member other = join();
    name_key const key = new_key();
    std::vector<line_item> all;
    for (int count = 0; count < 6; ++count)
        all.push_back(
            wait_in_line(count % 2 == 0 ? one : other, key, "claim " + std::to_string(count)));
    name_query what;
    what.key = key;
    what.line = 2;
    what.claims = {all[4].id, all[1].id, one.claim().id};
    view const found = one->look(what);
    EXPECT_EQ(claims_of(found), (std::vector{all[0].id, all[1].id}));
    EXPECT_TRUE(found.more);
    ASSERT_EQ(found.others.size(), 1U)
        << "those at the beginning are not told twice, and nobody else is";
    EXPECT_EQ(found.others[0].id, all[4].id);
    EXPECT_EQ(found.others[0].place, all[4].place);
    EXPECT_EQ(found.others[0].session, one.session);
    EXPECT_EQ(found.others[0].body, "claim 4");
    // The same where a step has missed.
    step miss = one.on(key);
    miss.expected = stamp{1};
    miss.otherwise = what;
    view const seen = expect<missed>(one->commit(miss)).found;
    EXPECT_EQ(claims_of(seen), claims_of(found));
    ASSERT_EQ(seen.others.size(), 1U);
    EXPECT_EQ(seen.others[0].id, all[4].id);
}

TEST_P(driver_contract, who_leaves_the_line_leaves_it_alone) {
    member one = join();
    name_key const key = new_key();
    line_item const first = wait_in_line(one, key);
    line_item const second = wait_in_line(one, key);
    line_item const third = wait_in_line(one, key);
    step what = one.on(key);
    let_leave(what, second);
    (void)expect<committed>(one->commit(what));
    EXPECT_EQ(claims_of(look(one, key)), (std::vector{first.id, third.id}));
    // Once it has left, it cannot do so again.
    view const found = expect<missed>(one->commit(what)).found;
    EXPECT_EQ(claims_of(found), (std::vector{first.id, third.id}));
}

TEST_P(driver_contract, who_is_gone_from_the_line_fails_the_step_as_a_whole) {
    member one = join();
    name_key const key = new_key();
    line_item const first = wait_in_line(one, key);
    line_item const second = wait_in_line(one, key);
    step what = one.on(key);
    let_leave(what, first);
    (void)expect<committed>(one->commit(what));
    step both = one.on(key);
    both.head = head_of("a head");
    let_leave(both, second);
    let_leave(both, first);
    (void)expect<missed>(one->commit(both));
    view const found = look(one, key);
    EXPECT_EQ(found.written, stamp{});
    EXPECT_EQ(claims_of(found), std::vector{second.id});
}

TEST_P(driver_contract, a_claim_that_came_back_stands_at_another_place) {
    member one = join();
    name_key const key = new_key();
    line_item const before = wait_in_line(one, key);
    step what = one.on(key);
    let_leave(what, before);
    (void)expect<committed>(one->commit(what));
    step again = one.on(key);
    again.append = {before};
    (void)expect<committed>(one->commit(again));
    view const found = look(one, key);
    ASSERT_EQ(claims_of(found), std::vector{before.id});
    EXPECT_GT(found.line[0].place, before.place);
    (void)expect<missed>(one->commit(what));
    EXPECT_EQ(claims_of(look(one, key)), std::vector{before.id});
}

TEST_P(driver_contract, a_claim_may_have_to_stand_in_the_line_without_leaving_it) {
    member one = join();
    name_key const key = new_key();
    line_item const item = wait_in_line(one, key);
    step what = one.on(key);
    what.present = {item};
    what.head = head_of("a head");
    what.expected = expect<committed>(one->commit(what)).written;
    EXPECT_EQ(claims_of(look(one, key)), std::vector{item.id});
    let_leave(what, item);
    what.present = {item};
    what.expected = expect<committed>(one->commit(what)).written;
    what.leave.clear();
    (void)expect<missed>(one->commit(what));
}

TEST_P(driver_contract, nobody_in_the_line_at_all) {
    member one = join();
    member other = join();
    name_key const key = new_key();
    step what = one.on(key);
    what.nobody_behind = 0;
    what.head = head_of("a head");
    committed const done = expect<committed>(one->commit(what));
    EXPECT_FALSE(done.behind);
    what.expected = done.written;
    line_item const item = wait_in_line(other, key);
    view const found = expect<missed>(one->commit(what)).found;
    EXPECT_EQ(claims_of(found), std::vector{item.id});
    EXPECT_EQ(look(one, key).written, done.written);
}

TEST_P(driver_contract, nobody_behind_a_place) {
    member one = join();
    member other = join();
    name_key const key = new_key();
    line_item const first = wait_in_line(other, key);
    line_item const last = wait_in_line(other, key);
    step what = one.on(key);
    what.head = head_of("a head");
    require_nobody_but(what, {first, last});
    committed const done = expect<committed>(one->commit(what));
    EXPECT_FALSE(done.behind);
    what.expected = done.written;
    require_nobody_but(what, {first});
    (void)expect<missed>(one->commit(what));
    require_nobody_but(what, {});
    (void)expect<missed>(one->commit(what));
    EXPECT_EQ(look(one, key).written, done.written);
    // The last one of those who leave with the step.
    require_nobody_but(what, {first, last});
    let_leave(what, first);
    let_leave(what, last);
    (void)expect<committed>(one->commit(what));
    EXPECT_TRUE(look(one, key).line.empty());
}

TEST_P(driver_contract, who_joins_with_the_step_is_not_behind) {
    member one = join();
    name_key const key = new_key();
    step what = one.on(key);
    what.nobody_behind = 0;
    what.append = {one.claim()};
    EXPECT_FALSE(expect<committed>(one->commit(what)).behind);
    EXPECT_EQ(look(one, key).line.size(), 1U);
}

TEST_P(driver_contract, a_dead_claim_is_gone_from_the_line_or_told_as_dead) {
    member one = join();
    member other = join();
    name_key const key = new_key();
    own_session const mortal = open_mortal(*one);
    step what = one.on(key);
    what.self = mortal.id;
    what.of = mortal.current;
    line_item dead = one.claim("dead");
    dead.session = mortal.id;
    what.append = {dead};
    (void)expect<committed>(one->commit(what));
    line_item const living = wait_in_line(other, key);
    EXPECT_EQ(claims_of(look(other, key)), (std::vector{dead.id, living.id}));
    end(mortal.id, *other);
    view const found = look(other, key);
    for (line_item const& item : found.line) {
        if (item.id != dead.id) continue;
        auto const state = std::ranges::find(found.sessions, mortal.id, &session_state::id);
        ASSERT_NE(state, found.sessions.end()) << "it stands there as if it were alive";
        EXPECT_FALSE(state->alive);
        step clean = other.on(key);
        let_leave(clean, item);
        (void)expect<committed>(other->commit(clean));
    }
    EXPECT_EQ(claims_of(look(other, key)), std::vector{living.id});
}

/// Its client was away for longer than its lease, and asks again for what it wanted.
TEST_P(driver_contract, a_claim_whose_session_died_joins_anew_with_another) {
    member one = join();
    for (bool const leaves_with_the_step : {false, true}) {
        name_key const key = new_key();
        own_session const mortal = open_mortal(*one);
        line_item dead = one.claim("before");
        dead.session = mortal.id;
        step before = one.on(key);
        before.append = {dead};
        (void)expect<committed>(one->commit(before));
        end(mortal.id, *one);
        view const left = look(one, key);
        step again = one.on(key);
        line_item anew = dead;
        anew.session = one.session;
        if (leaves_with_the_step) {
            if (left.line.empty()) continue;  // gone with its session
            let_leave(again, left.line.at(0));
            again.append = {anew};
            (void)expect<committed>(one->commit(again));
        } else {
            again.expected = stamp{1};
            again.append_otherwise = {anew};
            (void)expect<missed>(one->commit(again));
        }
        auto line = look(one, key).line;
        std::erase_if(line, [&](line_item const& each) { return each.session == mortal.id; });
        ASSERT_EQ(line.size(), 1U);
        EXPECT_EQ(line[0].id, dead.id);
        EXPECT_EQ(line[0].session, one.session);
    }
}

TEST_P(driver_contract, a_step_that_lets_a_dead_claim_leave_has_an_answer) {
    member one = join();
    member other = join();
    name_key const key = new_key();
    own_session const mortal = open_mortal(*one);
    step join_line = one.on(key);
    line_item dead = one.claim("dead");
    dead.session = mortal.id;
    join_line.append = {dead};
    (void)expect<committed>(one->commit(join_line));
    dead = look(one, key).line.at(0);
    end(mortal.id, *one);
    // A hand-over to somebody who has just died: as a grant or as a miss, never as an error.
    step what = other.on(key);
    what.head = head_of("it holds");
    what.head->sessions = {mortal.id};
    what.head->bound = mortal.id;
    let_leave(what, dead);
    what.letters = {{mortal.id, "it is yours"}};
    outcome const told = other->commit(what);
    view const found = look(other, key, {mortal.id});
    if (std::holds_alternative<missed>(told)) {
        EXPECT_EQ(found.written, stamp{});
    } else {
        (void)expect<committed>(told);
        EXPECT_TRUE(found.line.empty());
    }
    auto const state = std::ranges::find(found.sessions, mortal.id, &session_state::id);
    ASSERT_NE(state, found.sessions.end());
    EXPECT_FALSE(state->alive);
}

}  // namespace holdfast::driver_tests
