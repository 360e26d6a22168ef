"""When it ends: by the server's clock alone, holders and waiters, and what moves then."""

import unittest

from case import ALICE, BOB, CAROL, Case
from store import CONDITION, LONG, PERMITS, SEMAPHORE, SHARED

SHORT = 250  # milliseconds: longer than a busy machine needs for a few requests


class Ends(Case):
    def end_of(self, claim):
        self.store.wait_past(self.store.now + claim.lease * 1000)

    def test_a_hold_ends_and_a_newcomer_gets_it(self):
        one, two = self.claim(lease=SHORT), self.claim(BOB)
        ear = self.ear(ALICE)
        self.store.submit(one)
        self.end_of(one)
        self.assertHolds(self.store.submit(two))
        self.assertEqual(self.told(ear), [f"gone {one.id[17:]} {self.store.now} its lease ended without a renewal"])
        self.assertEqual(self.store.settle(one), "gone")
        self.assertEqual(self.store.renew(one)[0], "gone")
        self.assertEqual(self.store.renew(two)[0], "alive")

    def test_an_ended_hold_is_not_renewed(self):
        one = self.claim(lease=SHORT)
        self.store.submit(one)
        self.end_of(one)
        self.assertEqual(self.store.renew(one)[0], "gone")
        self.assertNothingLeft()

    def test_an_ended_hold_is_not_released(self):
        one = self.claim(lease=SHORT)
        self.store.submit(one)
        self.end_of(one)
        self.assertEqual(self.store.settle(one), "gone")
        self.assertNothingLeft()

    def test_a_renewal_of_the_first_waiter_moves_the_line(self):
        one, two, three = self.claim(lease=SHORT), self.claim(BOB), self.claim(CAROL)
        self.store.submit(one)
        self.assertLessEqual(self.store.submit(two, queue=True)[1], SHORT)
        self.store.submit(three, queue=True)
        self.end_of(one)
        reply = self.store.renew(two)
        self.assertEqual([reply[0], reply[2], reply[3]], ["alive", self.store.now, 1])

    def test_who_comes_between_two_that_go_has_an_end_too(self):
        how = {"kind": SEMAPHORE, "mode": PERMITS, "limit": 2, "fair": True}
        one, dies, two = self.claim(**how), self.claim(lease=SHORT, **how), self.claim(BOB, **how)
        self.store.submit(one)
        self.store.submit(dies)
        self.store.submit(two, queue=True)
        self.end_of(dies)
        self.assertEqual(self.store.settle(one), "released")  # `two` came in before it went
        self.assertEqual(self.store.renew(two)[0], "alive")
        self.assertAllKeysEnd()

    def test_any_request_skips_a_dead_waiter(self):
        one, dead, two = self.claim(), self.claim(BOB, lease=SHORT), self.claim(CAROL)
        ear = self.ear(BOB)
        self.store.submit(one)
        self.store.submit(dead, queue=True)
        self.store.submit(two, queue=True)
        self.end_of(dead)
        self.store.settle(one)
        self.assertEqual(self.store.renew(two)[0], "alive")
        self.assertTrue(self.told(ear)[0].endswith("the waiter did not show that it is alive within its lease"))
        self.store.settle(two)
        self.assertNothingLeft()

    def test_readers_do_not_wait_for_a_dead_writer(self):
        one, dead, two = self.claim(mode=SHARED), self.claim(BOB, lease=SHORT), self.claim(CAROL, mode=SHARED)
        self.store.submit(one)
        self.store.submit(dead, queue=True)
        self.end_of(dead)
        self.assertHolds(self.store.submit(two))

    def test_only_the_ended_ones_of_several_holders_go(self):
        one, two, three = (self.claim(it, mode=SHARED, lease=lease)
                           for it, lease in ((ALICE, LONG), (BOB, SHORT), (CAROL, LONG)))
        for it in (one, two, three):
            self.store.submit(it)
        self.end_of(two)
        self.assertEqual([it[0] for it in self.store.renew(one, two, three)], ["alive", "gone", "alive"])
        self.assertEqual(len(self.store.inspect(b"q")[5]), 2)

    def test_a_renewed_hold_lasts_and_never_gets_shorter(self):
        one = self.claim(lease=SHORT)
        self.store.submit(one)
        self.store.renew(one, lease=LONG)
        end = self.store.now + LONG * 1000
        self.store.renew(one, lease=1)
        self.assertEqual(self.store.inspect(b"q")[5][0][5], end)
        self.assertGreater(self.link.pttl(b"holdfast:name:{q}"), LONG - 10_000)

    def test_many_dead_waiters_are_skipped_at_once(self):
        one, last = self.claim(), self.claim(CAROL)
        self.store.submit(one)
        dead = [self.claim(BOB, lease=SHORT) for _ in range(300)]
        for it in dead:
            self.store.submit(it, queue=True)
        self.store.submit(last, queue=True)
        self.end_of(dead[-1])
        self.store.settle(one)
        self.assertEqual(self.store.renew(last)[0], "alive")
        self.store.settle(last)
        self.assertNothingLeft()

    def test_a_woken_waiter_that_died_passes_its_notice_on(self):
        dead = self.claim(kind=CONDITION, mode=PERMITS, lease=SHORT)
        two = self.claim(BOB, kind=CONDITION, mode=PERMITS)
        self.store.submit(dead, queue=True)
        self.store.submit(two, queue=True)
        self.store.adjust(dead, wake=1)
        self.assertEqual(self.store.renew(two)[0], "waiting")
        self.end_of(dead)
        self.assertEqual(self.store.renew(two)[0], "alive")


class Lifetime(Case):
    def ttl_of_all(self):
        return {key: self.link.pttl(key) for key in self.keys()}

    def test_every_key_outlives_what_is_in_it(self):
        writer = self.claim(lease=20_000)
        self.store.submit(writer)
        self.assertGreater(min(self.ttl_of_all().values()), 20_000)
        waiters = [self.claim(BOB, lease=lease, mode=SHARED) for lease in (30_000, 90_000, 40_000)]
        for it in waiters:
            self.store.submit(it, queue=True)
        self.assertEqual(len(self.keys()), 2)
        self.assertGreater(min(self.ttl_of_all().values()), 90_000)
        self.store.settle(writer)
        self.assertEqual(len(self.keys()), 3)
        self.assertGreater(min(self.ttl_of_all().values()), 90_000)
        self.store.renew(waiters[0], lease=500_000)
        self.assertGreater(min(self.ttl_of_all().values()), 500_000)
        for it in waiters:
            self.store.settle(it)
        self.assertNothingLeft()

    def test_waiters_and_holders_that_renew_keep_their_keys(self):
        permits = [self.claim(kind=SEMAPHORE, mode=PERMITS, limit=2, lease=1000) for _ in range(4)]
        for it in permits:
            self.store.submit(it, queue=True)
        for lease in (1000, 5000, 6000, 7000, 20_000, 80_000):
            for it in permits:
                self.store.renew(it, lease=lease)
                self.assertGreater(self.link.pttl(b"holdfast:name:{q}"), lease)
            self.assertGreater(min(self.ttl_of_all().values()), lease)

    def test_a_record_deleted_by_hand_frees_the_name(self):
        one, two, three = self.claim(mode=SHARED), self.claim(BOB, mode=SHARED), self.claim(CAROL)
        for it in (one, two, three):
            self.store.submit(it, queue=True)
        self.link.delete(b"holdfast:name:{q}")
        self.assertEqual(self.store.renew(one)[0], "gone")
        fresh = [self.claim(CAROL, mode=SHARED) for _ in range(2)]
        late = self.claim()
        for it in fresh:
            self.assertHolds(self.store.submit(it))
        self.store.submit(late, queue=True)
        known = self.store.inspect(b"q")
        self.assertEqual([it[0] for it in known[5]], [it.id for it in fresh])
        self.assertEqual([it[0] for it in known[6]], [late.id])
        for it in (*fresh, late):
            self.assertEqual(self.store.settle(it), "released")
        self.assertNothingLeft()

    def test_other_keys_deleted_by_hand_do_no_harm(self):
        for lost in (b":claims", b":holders"):
            with self.subTest(lost):
                self.link.flushall()
                claims = [self.claim(mode=SHARED), self.claim(BOB, mode=SHARED), self.claim(CAROL)]
                for it in claims:
                    self.store.submit(it, queue=True)
                self.link.delete(b"holdfast:name:{q}" + lost)
                for it in claims:
                    self.store.settle(it)
                self.store.evict(b"q")
                fresh = self.claim()
                self.assertHolds(self.store.submit(fresh))
                self.store.settle(fresh)
                self.assertEqual(self.store.inspect(b"q"), ["none"])
                self.assertAllKeysEnd()  # rubbish goes by itself


if __name__ == "__main__":
    unittest.main()
