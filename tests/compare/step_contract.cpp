// The contract of drivers: steps on the head of a name, their guard, their conditions and both of their branches.
#include <algorithm>

#include "compare/contract.hpp"

namespace holdfast::driver_tests {

using namespace stores::compare;
using namespace std::chrono_literals;

TEST_P(driver_contract, a_head_is_written_and_found_with_the_stamp_of_its_step) {
    member one = join();
    member other = join();
    name_key const key = new_key();
    EXPECT_EQ(look(other, key).written, stamp{});
    step what = one.on(key);
    what.head = head_of("who holds");
    committed const done = expect<committed>(one->commit(what));
    EXPECT_NE(done.written, stamp{});
    EXPECT_FALSE(done.behind);
    view const found = look(other, key);
    EXPECT_EQ(found.written, done.written);
    EXPECT_EQ(found.body, "who holds");
    EXPECT_TRUE(found.line.empty());
    EXPECT_FALSE(found.more);
}

TEST_P(driver_contract, a_head_that_is_expected_not_to_be_there_is_in_the_way) {
    member one = join();
    name_key const key = new_key();
    stamp const written = write_head(one, key, "the first");
    step what = one.on(key);
    what.head = head_of("the second");
    view const found = expect<missed>(one->commit(what)).found;
    EXPECT_EQ(found.key, key);
    EXPECT_EQ(found.written, written);
    EXPECT_EQ(found.body, "the first");
    EXPECT_EQ(look(one, key).body, "the first");
}

TEST_P(driver_contract, a_head_changes_only_from_the_stamp_that_is_expected) {
    member one = join();
    name_key const key = new_key();
    stamp const first = write_head(one, key, "the first");
    stamp const second = write_head(one, key, "the second");
    EXPECT_GT(second, first);
    step what = one.on(key);
    what.expected = first;
    what.head = head_of("the third");
    EXPECT_EQ(expect<missed>(one->commit(what)).found.written, second);
    EXPECT_EQ(look(one, key).body, "the second");
    what.expected = second;
    EXPECT_GT(expect<committed>(one->commit(what)).written, second);
    EXPECT_EQ(look(one, key).body, "the third");
}

TEST_P(driver_contract, an_erased_head_is_gone_and_its_stamp_does_not_come_back) {
    member one = join();
    name_key const key = new_key();
    stamp const first = write_head(one, key, "the first");
    step what = one.on(key);
    what.expected = first;
    what.head = head_write{};
    what.head->erase = true;
    stamp const erased = expect<committed>(one->commit(what)).written;
    EXPECT_GT(erased, first);
    view const found = look(one, key);
    EXPECT_EQ(found.written, stamp{});
    EXPECT_EQ(found.body, "");
    EXPECT_EQ(expect<missed>(one->commit(what)).found.written, stamp{});
    EXPECT_GT(write_head(one, key, "again"), erased);
}

TEST_P(driver_contract, stamps_rise_over_all_names_and_clients) {
    member one = join();
    member other = join();
    stamp last{};
    for (int round = 0; round < 5; ++round) {
        stamp const mine = write_head(one, new_key(), "mine");
        EXPECT_GT(mine, last);
        last = write_head(other, new_key(), "yours");
        EXPECT_GT(last, mine);
        other.current = expect<raised>(other->raise(other.session)).current;
        EXPECT_GT(other.current, last);
        last = other.current;
    }
    EXPECT_LT(static_cast<std::uint64_t>(last), std::uint64_t{1} << 51U)
        << "32 tokens of each fit into 56 bits";
}

TEST_P(driver_contract, a_step_that_leaves_the_head_alone_leaves_its_stamp_alone) {
    member one = join();
    name_key const key = new_key();
    stamp const written = write_head(one, key, "a head");
    step what = one.on(key);
    what.expected = written;
    what.append = {one.claim()};
    EXPECT_GT(expect<committed>(one->commit(what)).written, written);
    view const found = look(one, key);
    EXPECT_EQ(found.written, written);
    EXPECT_EQ(found.body, "a head");
    EXPECT_EQ(found.line.size(), 1U);
}

TEST_P(driver_contract, the_first_branch_is_carried_out_as_a_whole) {
    member one = join();
    member other = join();
    name_key const key = new_key();
    line_item const leaving = wait_in_line(other, key);
    line_item const staying = one.claim("stays");
    step what = one.on(key);
    what.head = head_of("a head");
    let_leave(what, leaving);
    what.append = {staying};
    what.letters = {{other.session, "it is yours"}};
    what.append_otherwise = {one.claim("never")};
    committed const done = expect<committed>(one->commit(what));
    view const found = look(one, key);
    EXPECT_EQ(found.body, "a head");
    ASSERT_EQ(claims_of(found), std::vector{staying.id});
    EXPECT_EQ(found.line[0].body, "stays");
    EXPECT_EQ(found.line[0].session, one.session);
    EXPECT_GT(found.line[0].place, leaving.place);
    if (!done.places.empty()) {
        EXPECT_EQ(done.places, std::vector{found.line[0].place});
    }
    if (!store().pushes()) return;
    ASSERT_TRUE(other->drive_until([&] { return !other->letters.empty(); }));
    EXPECT_EQ(other->letters[0].body, "it is yours");
    EXPECT_EQ(other->letters[0].written, done.written);
}

TEST_P(driver_contract, without_its_conditions_nothing_of_the_first_branch_happens) {
    member one = join();
    member other = join();
    name_key const key = new_key();
    stamp const written = write_head(one, key, "a head");
    line_item const standing = wait_in_line(other, key);
    step what = one.on(key);
    what.expected = stamp{static_cast<std::uint64_t>(written) - 1};
    what.head = head_of("another head");
    let_leave(what, standing);
    what.append = {one.claim()};
    what.letters = {{other.session, "it is yours"}};
    (void)expect<missed>(one->commit(what));
    view const found = look(one, key);
    EXPECT_EQ(found.written, written);
    EXPECT_EQ(found.body, "a head");
    EXPECT_EQ(claims_of(found), std::vector{standing.id});
    // A letter that is sent afterwards arrives alone.
    step after = one.on(new_key());
    after.head = head_of("a head");
    after.letters = {{other.session, "the only one"}};
    (void)expect<committed>(one->commit(after));
    if (!store().pushes()) return;
    ASSERT_TRUE(other->drive_until([&] { return !other->letters.empty(); }));
    EXPECT_EQ(other->letters[0].body, "the only one");
}

TEST_P(driver_contract, without_its_guard_nothing_of_either_branch_happens) {
    member one = join();
    member other = join();
    name_key const key = new_key();
    line_item const standing = wait_in_line(other, key);
    step what = one.on(key);
    what.of = stamp{static_cast<std::uint64_t>(one.current) + 1};
    what.head = head_of("a head");
    let_leave(what, standing);
    what.letters = {{other.session, "it is yours"}};
    what.append_otherwise = {one.claim()};
    (void)expect<fenced>(one->commit(what));
    what.expected = stamp{1};
    (void)expect<fenced>(one->commit(what));
    view const found = look(one, key);
    EXPECT_EQ(found.written, stamp{});
    EXPECT_EQ(claims_of(found), std::vector{standing.id});
    other->drive_for(50ms);
    EXPECT_TRUE(other->letters.empty());
}

TEST_P(driver_contract, the_second_branch_looks_from_after_it_joined_the_line) {
    member one = join();
    member other = join();
    name_key const key = new_key();
    stamp const written = write_head(one, key, "a head");
    line_item const first = wait_in_line(other, key, "the first");
    line_item const second = one.claim("the second");
    step what = one.on(key);
    what.head = head_of("mine");
    what.append_otherwise = {second};
    what.otherwise.sessions = {other.session};
    view const found = expect<missed>(one->commit(what)).found;
    EXPECT_EQ(found.key, key);
    EXPECT_EQ(found.written, written);
    EXPECT_EQ(found.body, "a head");
    EXPECT_EQ(claims_of(found), (std::vector{first.id, second.id}));
    auto const state = std::ranges::find(found.sessions, other.session, &session_state::id);
    ASSERT_NE(state, found.sessions.end()) << "a session that was asked for is not told";
    EXPECT_TRUE(state->alive);
    EXPECT_EQ(claims_of(look(other, key)), (std::vector{first.id, second.id}));
}

TEST_P(driver_contract, the_second_branch_may_only_look) {
    member one = join();
    name_key const key = new_key();
    stamp const written = write_head(one, key, "a head");
    (void)wait_in_line(one, key);
    step what = one.on(key);
    what.head = head_of("mine");
    what.otherwise.line = 0;
    view const found = expect<missed>(one->commit(what)).found;
    EXPECT_EQ(found.written, written);
    EXPECT_TRUE(found.line.empty());
    EXPECT_TRUE(found.more);
    EXPECT_EQ(look(one, key).line.size(), 1U);
}

/// As many may hold one name as like, and whoever finds it held asks whether they live.
TEST_P(driver_contract, the_second_branch_tells_of_as_many_sessions_as_it_is_asked_for) {
    member one = join();
    member other = join();
    name_key const key = new_key();
    step what = one.on(key);
    what.expected = stamp{1};
    for (std::uint32_t count = 0; count < one->driver().traits().writes; ++count)
        what.append.push_back(one.claim());
    what.append_otherwise = {one.claim()};
    for (int count = 0; count < 499; ++count)
        what.otherwise.sessions.push_back(new_session());
    what.otherwise.sessions.push_back(other.session);
    for (bool const bodies : {false, true}) {
        what.otherwise.bodies = bodies;
        view const found = expect<missed>(one->commit(what)).found;
        EXPECT_EQ(claims_of(found), std::vector{what.append_otherwise[0].id});
        for (session_id const id : what.otherwise.sessions) {
            auto const state = std::ranges::find(found.sessions, id, &session_state::id);
            ASSERT_NE(state, found.sessions.end());
            ASSERT_EQ(state->alive, id == other.session);
            ASSERT_EQ(state->body.empty(), !bodies || id != other.session);
        }
    }
}

TEST_P(driver_contract, a_step_after_its_time_takes_no_effect_where_there_is_a_clock) {
    member one = join();
    name_key const key = new_key();
    (void)alive(*one, one.session);
    step what = one.on(key);
    what.head = head_of("late");
    what.append_otherwise = {one.claim()};
    what.not_after = one->when().now - 1'000us;
    if (!one->driver().traits().clock) {
        (void)expect<committed>(one->commit(what));
        return;
    }
    EXPECT_TRUE(expect<fenced>(one->commit(what)).too_late);
    what.expected = stamp{1};
    EXPECT_TRUE(expect<fenced>(one->commit(what)).too_late);
    EXPECT_EQ(look(one, key).written, stamp{});
    EXPECT_TRUE(look(one, key).line.empty());
    what.expected = {};
    what.not_after = one->when().now + 60s;
    (void)expect<committed>(one->commit(what));
}

TEST_P(driver_contract, a_condition_is_another_thing_than_a_lock_of_its_name) {
    member one = join();
    name_key const lock = new_key();
    name_key const condition{lock.name, true};
    stamp const written = write_head(one, lock, "a lock");
    (void)wait_in_line(one, condition);
    EXPECT_EQ(look(one, condition).written, stamp{});
    EXPECT_TRUE(look(one, lock).line.empty());
    stamp const other = write_head(one, condition, "a condition");
    EXPECT_EQ(look(one, lock).written, written);
    EXPECT_EQ(look(one, lock).body, "a lock");
    EXPECT_EQ(look(one, condition).written, other);
    EXPECT_EQ(look(one, condition).body, "a condition");
}

TEST_P(driver_contract, several_names_are_told_in_the_order_in_which_they_were_asked_for) {
    member one = join();
    name_key const first = new_key();
    name_key const second = new_key();
    name_key const nobody = new_key();
    (void)write_head(one, first, "the first");
    (void)write_head(one, second, "the second");
    query what;
    for (name_key const& key : {second, nobody, first, second}) {
        name_query one_name;
        one_name.key = key;
        what.names.push_back(one_name);
    }
    auto const found = expect<views>(one->fetch(what)).found;
    ASSERT_EQ(found.size(), 4U);
    EXPECT_EQ(found[0].body, "the second");
    EXPECT_EQ(found[1].key, nobody);
    EXPECT_EQ(found[1].written, stamp{});
    EXPECT_EQ(found[2].body, "the first");
    EXPECT_EQ(found[3].body, "the second");
}

TEST_P(driver_contract, bodies_are_bytes) {
    member one = join();
    name_key const key = new_key();
    std::string every;
    for (int byte = 0; byte < 256; ++byte)
        every.push_back(static_cast<char>(byte));
    (void)write_head(one, key, every);
    (void)wait_in_line(one, key, every + every);
    view const found = look(one, key);
    EXPECT_EQ(found.body, every);
    ASSERT_EQ(found.line.size(), 1U);
    EXPECT_EQ(found.line[0].body, every + every);
    (void)write_head(one, key, std::string(70'000, '\0'));
    EXPECT_EQ(look(one, key).body, std::string(70'000, '\0'));
    (void)write_head(one, key, "");
    EXPECT_EQ(look(one, key).body, "");
    EXPECT_NE(look(one, key).written, stamp{});
}

TEST_P(driver_contract, a_step_may_change_as_many_things_as_the_traits_say) {
    member one = join();
    name_key const key = new_key();
    step what = one.on(key);
    what.head = head_of("a head");
    std::vector<session_id> sessions;
    for (std::uint32_t count = 1; count < one->driver().traits().writes; ++count) {
        if (count % 2 == 0) {
            what.append.push_back(one.claim());
            continue;
        }
        sessions.push_back(new_session());
        (void)expect<opened>(one->open(sessions.back(), 60s));
        what.letters.push_back({sessions.back(), "a letter"});
    }
    (void)expect<committed>(one->commit(what));
    EXPECT_EQ(look(one, key).line.size(), what.append.size());
    if (store().pushes()) {
        EXPECT_TRUE(one->drive_until([&] { return one->letters.size() == what.letters.size(); }));
    }
    for (session_id const id : sessions)
        one->driver().close(id);
}

TEST_P(driver_contract, what_a_head_says_of_sessions_is_true_or_not_told) {
    member one = join();
    name_key const key = new_key();
    own_session const mortal = open_mortal(*one);
    step what = one.on(key);
    what.head = head_of("two hold");
    what.head->sessions = {one.session, mortal.id};
    (void)expect<committed>(one->commit(what));
    end(mortal.id, *one);
    view const found = look(one, key, {mortal.id});
    EXPECT_EQ(found.body, "two hold");
    bool told = false;
    for (session_state const& state : found.sessions) {
        EXPECT_EQ(state.alive, state.id == one.session);
        told = told || state.id == mortal.id;
    }
    EXPECT_TRUE(told) << "a session that was asked for is not told";
}

TEST_P(driver_contract, a_bound_head_ends_with_its_session_or_the_session_is_told_as_dead) {
    member one = join();
    member other = join();
    name_key const key = new_key();
    own_session const mortal = open_mortal(*one);
    step what = one.on(key);
    what.self = mortal.id;
    what.of = mortal.current;
    what.head = head_of("it holds");
    what.head->sessions = {mortal.id};
    what.head->bound = mortal.id;
    stamp const written = expect<committed>(one->commit(what)).written;
    EXPECT_EQ(look(other, key).written, written);
    end(mortal.id, *other);
    view const found = look(other, key, {mortal.id});
    if (found.written != stamp{}) {
        EXPECT_EQ(found.written, written);
        auto const state = std::ranges::find(found.sessions, mortal.id, &session_state::id);
        ASSERT_NE(state, found.sessions.end());
        EXPECT_FALSE(state->alive);
    }
    EXPECT_GT(write_head(other, key, "the next one"), written);
}

TEST_P(driver_contract, a_head_that_is_written_without_a_bond_outlives_its_session) {
    member one = join();
    name_key const key = new_key();
    own_session const mortal = open_mortal(*one);
    step what = one.on(key);
    what.head = head_of("bound");
    what.head->sessions = {mortal.id};
    what.head->bound = mortal.id;
    what.expected = expect<committed>(one->commit(what)).written;
    what.head = head_of("not bound");
    stamp const written = expect<committed>(one->commit(what)).written;
    end(mortal.id, *one);
    one->drive_for(50ms);
    EXPECT_EQ(look(one, key).written, written);
    EXPECT_EQ(look(one, key).body, "not bound");
}

}  // namespace holdfast::driver_tests
