// The contract of drivers: sessions, their generations and their deaths.
#include <algorithm>

#include "base/clock.hpp"
#include "compare/contract.hpp"

namespace holdfast::driver_tests {

using namespace stores::compare;
using namespace std::chrono_literals;

namespace {

session_state state_of(client& witness, session_id id, bool bodies = false) {
    name_query what;
    what.key.name = "a name that nobody has";
    what.sessions = {id};
    what.bodies = bodies;
    view const found = witness.look(std::move(what));
    auto const state = std::ranges::find(found.sessions, id, &session_state::id);
    if (state != found.sessions.end()) return *state;
    ADD_FAILURE() << "a session that was asked for is not told";
    return {};
}

}  // namespace

TEST_P(driver_contract, open_gives_a_generation_and_no_shorter_lease_than_was_asked_for) {
    member one = join();
    (void)alive(*one, one.session);
    reading const before = one->when();
    session_id const id = new_session();
    opened const made = expect<opened>(one->open(id, 3'300ms));
    EXPECT_NE(made.current, generation{});
    EXPECT_GE(made.lease, 3'300ms);
    EXPECT_LE(made.began, one->when().now) << "counted from later than the store may have begun to";
    EXPECT_GE(made.began, before.now - 5s) << "so much of the lease is given away";
    EXPECT_TRUE(alive(*one, id));
    one->driver().close(id);
}

TEST_P(driver_contract, open_asked_twice_answers_as_the_first_time) {
    member one = join();
    session_id const id = new_session();
    opened const first = expect<opened>(one->open(id, 60s));
    opened const second = expect<opened>(one->open(id, 60s));
    EXPECT_EQ(second.current, first.current);
    EXPECT_EQ(second.lease, first.lease);
    one->driver().close(id);
}

TEST_P(driver_contract, readings_of_one_clock_do_not_go_back) {
    member one = join();
    reading last{};
    for (int round = 0; round < 10; ++round) {
        EXPECT_TRUE(alive(*one, one.session));
        EXPECT_EQ(one->when().clock, round == 0 ? one->when().clock : last.clock);
        EXPECT_GE(one->when().now, last.now);
        last = one->when();
    }
}

TEST_P(driver_contract, a_session_that_nobody_opened_is_dead) {
    member one = join();
    session_id const nobody = new_session();
    EXPECT_FALSE(alive(*one, nobody));
    auto const told = expect<std::vector<kept>>(one->keep({nobody}));
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].found, kept::state::dead);
    (void)expect<fenced>(one->raise(nobody));
    step what = one.on(new_key());
    what.self = nobody;
    what.head = head_of("a head");
    (void)expect<fenced>(one->commit(what));
}

TEST_P(driver_contract, keep_tells_of_each_session_in_order) {
    member one = join();
    own_session const mortal = open_mortal(*one);
    session_id const other = new_session();
    opened const made = expect<opened>(one->open(other, 60s));
    end(mortal.id, *one);
    auto const told = expect<std::vector<kept>>(one->keep({one.session, mortal.id, other}));
    ASSERT_EQ(told.size(), 3U);
    EXPECT_EQ(told[0].id, one.session);
    EXPECT_EQ(told[1].id, mortal.id);
    EXPECT_EQ(told[2].id, other);
    EXPECT_EQ(told[0].found, kept::state::alive);
    EXPECT_EQ(told[1].found, kept::state::dead);
    EXPECT_EQ(told[2].found, kept::state::alive);
    EXPECT_GE(told[2].began, made.began) << "a sign of life begins the lease anew";
    EXPECT_LE(told[2].began, one->when().now);
    one->driver().close(other);
}

TEST_P(driver_contract, a_session_that_is_kept_outlives_its_lease) {
    member one = join();
    session_id const id = new_session();
    auto const lease = std::max(store().short_lease() * 2, 1'000ms);
    opened made = expect<opened>(one->open(id, lease));
    seam::store_time const first_end = made.began + made.lease;
    while (one->when().now < first_end + made.lease / 2) {
        auto const told = expect<std::vector<kept>>(one->keep({id}));
        ASSERT_EQ(told.size(), 1U);
        // Who cannot keep it in time has no word on it: the machine is too busy.
        if (one->when().now < made.began + made.lease) {
            ASSERT_EQ(told[0].found, kept::state::alive);
        }
        if (told[0].found == kept::state::dead) return;
        made.began = told[0].began;
        one->drive_for(lease / 10);
    }
    if (one->when().now < made.began + made.lease) {
        EXPECT_TRUE(alive(*one, id));
    }
}

TEST_P(driver_contract, a_session_that_nobody_keeps_ends_and_not_before_its_lease) {
    member one = join();
    session_id const id = new_session();
    opened const made = expect<opened>(one->open(id, store().short_lease()));
    while (alive(*one, id)) {
        ASSERT_LT(one->when().now, made.began + made.lease + patience) << "it does not end";
        one->drive_for(10ms);
    }
    // A tenth for the rates of clocks, where the store's is another one than the reading's.
    EXPECT_GE(one->when().now, made.began + made.lease - made.lease / 10) << "it ended too early";
}

/// They may be carried out in another order than they were sent in.
TEST_P(driver_contract, signs_of_life_at_once_all_count) {
    member one = join();
    session_id const id = new_session();
    opened const made = expect<opened>(one->open(id, 60s));
    for (int round = 0; round < store().rounds(); ++round) {
        std::vector<ticket> sent;
        for (int count = 0; count < 8; ++count) {
            sent.push_back(one->next_ticket());
            one->driver().keep(sent.back(), {id});
        }
        seam::store_time latest{};
        for (ticket const which : sent) {
            auto const told = expect<std::vector<kept>>(one->outcome_of(which));
            ASSERT_EQ(told.at(0).found, kept::state::alive);
            latest = std::max(latest, told[0].began);
        }
        session_state const found = state_of(*one, id);
        ASSERT_TRUE(found.alive);
        if (one->driver().traits().clock) {
            ASSERT_GE(found.expires, latest + made.lease) << "one of them was taken back";
        }
    }
    one->driver().close(id);
}

TEST_P(driver_contract, death_is_for_ever) {
    member one = join();
    name_key const key = new_key();
    own_session const mortal = open_mortal(*one);
    step what = one.on(key);
    what.self = mortal.id;
    what.of = mortal.current;
    what.head = head_of("a head");
    what.append_otherwise = {one.claim()};
    end(mortal.id, *one);

    EXPECT_EQ(expect<std::vector<kept>>(one->keep({mortal.id})).at(0).found, kept::state::dead);
    (void)expect<fenced>(one->raise(mortal.id));
    (void)one->open(mortal.id, 60s);  // whatever it says
    (void)expect<fenced>(one->commit(what));
    what.expected = stamp{1};
    (void)expect<fenced>(one->commit(what));
    view const found = look(one, key);
    EXPECT_EQ(found.written, stamp{});
    EXPECT_TRUE(found.line.empty());
}

TEST_P(driver_contract, a_dead_session_is_told_as_dead_to_others) {
    member one = join();
    member other = join();
    own_session const mortal = open_mortal(*one);
    EXPECT_TRUE(alive(*other, mortal.id));
    end(mortal.id, *one);
    EXPECT_FALSE(alive(*other, mortal.id));
}

TEST_P(driver_contract, one_of_two_sessions_of_a_client_ends_alone) {
    member one = join();
    own_session const mortal = open_mortal(*one);
    end(mortal.id, *one);
    EXPECT_TRUE(alive(*one, one.session));
    EXPECT_NE(write_head(one, new_key(), "a head"), stamp{});
}

TEST_P(driver_contract, a_closed_session_ends_soon) {
    member one = join();
    session_id const id = new_session();
    (void)expect<opened>(one->open(id, 120s));
    one->driver().close(id);
    base::instant const limit = base::after(base::boot_clock::now(), patience);
    while (alive(*one, id) && base::boot_clock::now() < limit)
        one->drive_for(10ms);
    EXPECT_FALSE(alive(*one, id));
    EXPECT_TRUE(alive(*one, one.session));
}

TEST_P(driver_contract, the_end_of_a_session_is_told_where_there_is_a_clock) {
    member one = join();
    session_id const id = new_session();
    opened const made = expect<opened>(one->open(id, 60s));
    session_state const first = state_of(*one, id);
    if (!one->driver().traits().clock) {
        EXPECT_EQ(first.expires, seam::store_time{});
        return;
    }
    EXPECT_GE(first.expires, made.began + made.lease);
    EXPECT_LE(first.expires, one->when().now + made.lease);
    auto const told = expect<std::vector<kept>>(one->keep({id}));
    EXPECT_GE(state_of(*one, id).expires, told.at(0).began + made.lease);
    one->driver().close(id);
}

TEST_P(driver_contract, what_a_client_says_of_itself_is_told_when_it_is_asked_for) {
    member one = join();
    std::string const body{"host 7\0\xff{}'\"\\ %", 16};
    session_id const id = new_session();
    (void)expect<opened>(one->open(id, 60s, body));
    EXPECT_EQ(state_of(*one, id).body, "");
    EXPECT_EQ(state_of(*one, id, true).body, body);
    one->driver().close(id);
}

TEST_P(driver_contract, raising_a_generation_ends_the_one_before) {
    member one = join();
    name_key const key = new_key();
    generation const old = one.current;
    one.current = expect<raised>(one->raise(one.session)).current;
    EXPECT_GT(one.current, old);

    step late = one.on(key);
    late.of = old;
    late.head = head_of("late");
    late.append_otherwise = {one.claim()};
    (void)expect<fenced>(one->commit(late));
    late.expected = stamp{1};
    EXPECT_FALSE(expect<fenced>(one->commit(late)).too_late);
    EXPECT_EQ(look(one, key).written, stamp{});
    EXPECT_TRUE(look(one, key).line.empty());

    EXPECT_EQ(look(one, key).written, stamp{});
    EXPECT_NE(write_head(one, key, "of the new generation"), stamp{});
}

TEST_P(driver_contract, a_generation_that_is_yet_to_come_is_another_one_too) {
    member one = join();
    step what = one.on(new_key());
    what.of = stamp{static_cast<std::uint64_t>(one.current) + 1'000'000};
    what.head = head_of("a head");
    (void)expect<fenced>(one->commit(what));
}

TEST_P(driver_contract, keeping_a_session_does_not_change_its_generation) {
    member one = join();
    (void)expect<std::vector<kept>>(one->keep({one.session}));
    step what = one.on(new_key());
    what.head = head_of("a head");
    (void)expect<committed>(one->commit(what));
}

}  // namespace holdfast::driver_tests
