// The contract of drivers: changes of names and ends of sessions, told to those who watch.
#include "base/clock.hpp"
#include "compare/contract.hpp"

namespace holdfast::driver_tests {

using namespace stores::compare;
using namespace std::chrono_literals;

TEST_P(driver_contract, a_watched_name_is_told_when_its_head_changes) {
    if (!store().pushes()) return;
    member one = join();
    member other = join();
    name_key const key = new_key();
    (void)expect<in_force>(one->watch(key));
    EXPECT_EQ(one->changes_of(key), 0);
    stamp const written = write_head(other, key, "made");
    ASSERT_TRUE(one->drive_until([&] { return one->changes_of(key) > 0; }));
    one->changes.clear();
    (void)write_head(other, key, "changed");
    ASSERT_TRUE(one->drive_until([&] { return one->changes_of(key) > 0; }));
    one->changes.clear();
    step what = other.on(key);
    what.expected = look(other, key).written;
    EXPECT_GT(what.expected, written);
    what.head = head_write{};
    what.head->erase = true;
    (void)expect<committed>(other->commit(what));
    ASSERT_TRUE(one->drive_until([&] { return one->changes_of(key) > 0; }));
    one->changes.clear();
    (void)write_head(one, key, "by the watcher itself");
    EXPECT_TRUE(one->drive_until([&] { return one->changes_of(key) > 0; }));
}

TEST_P(driver_contract, a_watch_is_in_force_when_its_outcome_is_there) {
    if (!store().pushes()) return;
    member one = join();
    member other = join();
    for (int round = 0; round < 10; ++round) {
        name_key const key = new_key();
        (void)expect<in_force>(one->watch(key));
        (void)write_head(other, key, "at once");
        ASSERT_TRUE(one->drive_until([&] { return one->changes_of(key) > 0; }));
    }
}

TEST_P(driver_contract, only_the_watched_name_is_told) {
    if (!store().pushes()) return;
    member one = join();
    name_key const watched{new_name(), true};
    (void)expect<in_force>(one->watch(watched));
    (void)write_head(one, {watched.name, false}, "the lock of that name");
    (void)write_head(one, {watched.name + "/below", true}, "a longer name");
    (void)write_head(one, watched, "itself");
    ASSERT_TRUE(one->drive_until([&] { return one->changes_of(watched) > 0; }));
    EXPECT_EQ(one->changes, std::vector{watched});
}

TEST_P(driver_contract, a_name_that_is_watched_twice_is_watched) {
    if (!store().pushes()) return;
    member one = join();
    member other = join();
    name_key const key = new_key();
    (void)expect<in_force>(one->watch(key));
    (void)expect<in_force>(one->watch(key));
    (void)expect<in_force>(other->watch(key));
    (void)write_head(other, key, "changed");
    EXPECT_TRUE(one->drive_until([&] { return one->changes_of(key) > 0; }));
    EXPECT_TRUE(other->drive_until([&] { return other->changes_of(key) > 0; }));
}

TEST_P(driver_contract, a_name_that_is_no_longer_watched_falls_silent) {
    if (!store().pushes()) return;
    member one = join();
    member other = join();
    name_key const key = new_key();
    (void)expect<in_force>(one->watch(key));
    (void)write_head(other, key, "watched");
    ASSERT_TRUE(one->drive_until([&] { return one->changes_of(key) > 0; }));
    one->driver().unwatch(key);
    // It has no outcome, so what is under way may still arrive.
    base::instant const limit = base::after(base::boot_clock::now(), patience);
    do {
        ASSERT_LT(base::boot_clock::now(), limit) << "it goes on being told";
        one->changes.clear();
        (void)write_head(other, key, "not watched");
        one->drive_for(100ms);
    } while (one->changes_of(key) > 0);
    (void)expect<in_force>(one->watch(key));
    (void)write_head(other, key, "watched again");
    EXPECT_TRUE(one->drive_until([&] { return one->changes_of(key) > 0; }));
}

TEST_P(driver_contract, the_end_of_a_watched_session_is_told_once) {
    member one = join();
    member other = join();
    own_session const mortal = open_mortal(*one);
    other->driver().watch_session(mortal.id);
    other->driver().watch_session(one.session);
    other->drive_for(20ms);
    // Those of one client that watches another's, and of the client itself.
    one->driver().watch_session(mortal.id);
    end(mortal.id, *one);
    EXPECT_TRUE(other->drive_until([&] { return other->ends_of(mortal.id) > 0; }));
    EXPECT_TRUE(one->drive_until([&] { return one->ends_of(mortal.id) > 0; }));
    other->drive_for(100ms);
    EXPECT_EQ(other->ends_of(mortal.id), 1);
    EXPECT_EQ(other->ends_of(one.session), 0) << "it lives";
}

TEST_P(driver_contract, a_watched_session_that_is_dead_already_is_told) {
    member one = join();
    own_session const mortal = open_mortal(*one);
    end(mortal.id, *one);
    one->driver().watch_session(mortal.id);
    EXPECT_TRUE(one->drive_until([&] { return one->ends_of(mortal.id) > 0; }));
    session_id const nobody = new_session();
    one->driver().watch_session(nobody);
    EXPECT_TRUE(one->drive_until([&] { return one->ends_of(nobody) > 0; }));
}

TEST_P(driver_contract, the_end_of_a_session_that_its_client_closes_is_told) {
    member one = join();
    session_id ended{};
    {
        member other = join();
        ended = other.session;
        one->driver().watch_session(ended);
        one->drive_for(20ms);
        EXPECT_EQ(one->ends_of(ended), 0);
        other->driver().close(ended);
        EXPECT_TRUE(drive_all_until({&*one, &*other}, [&] { return one->ends_of(ended) > 0; }));
    }
    EXPECT_EQ(one->ends_of(ended), 1);
}

TEST_P(driver_contract, the_end_of_a_session_that_nobody_keeps_is_told_without_anybody_asking) {
    member one = join();
    session_id const id = new_session();
    opened const made = expect<opened>(one->open(id, store().short_lease()));
    one->driver().watch_session(id);
    ASSERT_TRUE(one->drive_until([&] { return one->ends_of(id) > 0; }, patience + made.lease));
    EXPECT_FALSE(alive(*one, id));
    EXPECT_GE(one->when().now, made.began + made.lease - made.lease / 10) << "it ended too early";
}

TEST_P(driver_contract, a_session_that_is_no_longer_watched_ends_in_silence) {
    member one = join();
    own_session const mortal = open_mortal(*one);
    own_session const watched = open_mortal(*one);
    one->driver().watch_session(mortal.id);
    one->driver().watch_session(watched.id);
    one->driver().unwatch_session(mortal.id);
    end(mortal.id, *one);
    end(watched.id, *one);
    ASSERT_TRUE(one->drive_until([&] { return one->ends_of(watched.id) > 0; }));
    one->drive_for(50ms);
    EXPECT_EQ(one->ends_of(mortal.id), 0);
}

}  // namespace holdfast::driver_tests
