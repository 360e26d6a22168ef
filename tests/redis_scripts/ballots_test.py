"""Ballots: sequences that a client proposes to a server that is one of several which vote."""

import struct
import unittest

import redis

from case import ALICE, BOB, Case
from store import CONDITION, PERMITS, SEMAPHORE, SHARED

WINDOW = 5_000_000  # microseconds


class Ballots(Case):
    def vote(self, ballot, client=ALICE, repairs=False, **how):
        """Who asked, and the answer."""
        claim = self.claim(client, **how)
        return claim, self.store.submit(claim, ballot=ballot, repairs=repairs)

    def assertOutvoted(self, reply, highest):
        self.assertRefused(reply, "outvoted")
        self.assertEqual(reply[3], highest, reply)

    def age(self, windows):
        """As if all ballots were older by so many windows; the ends of keys are the server's."""
        window, *rest = struct.unpack("<dddd", self.link.get(self.store.ballots))
        self.link.set(self.store.ballots, struct.pack("<dddd", window - windows, *rest))
        for key in self.link.keys(b"*:ballot"):
            left = self.link.pttl(key) - windows * WINDOW // 1000
            self.link.pexpire(key, left) if left > 0 else self.link.delete(key)

    def test_it_is_the_sequence_and_exceeds_the_last_one_of_its_name(self):
        one, reply = self.vote(70)
        self.assertEqual(self.assertHolds(reply), 70)
        self.assertEqual(self.store.submit(one, ballot=70)[1], 70, "it came twice")
        self.assertEqual(self.store.inspect(b"q")[5][0][:2], [one.id, 70])
        self.assertRefused(self.vote(90, BOB)[1], "busy")
        self.assertEqual(self.store.settle(one), "released")
        self.assertOutvoted(self.vote(69, BOB)[1], 70)
        self.assertOutvoted(self.vote(70, BOB)[1], 70)
        self.assertEqual(self.assertHolds(self.vote(71, BOB)[1]), 71)

    def test_the_mark_is_not_touched_and_others_draw_as_ever(self):
        one, _ = self.vote(1 << 52)
        self.store.settle(one)
        self.assertIsNone(self.link.get(self.store.mark))
        drawn = self.store.submit(self.claim(BOB))
        self.assertEqual(drawn[1], self.store.now)
        self.assertEqual(self.assertHolds(self.vote(7, name=b"other")[1]), 7, "nor does a draw count for ballots")

    def test_names_do_not_vote_each_other_out(self):
        self.vote(90, name=b"a")
        self.age(1)
        self.assertEqual(self.assertHolds(self.vote(50, name=b"b")[1]), 50)

    def test_what_is_long_gone_counts_for_every_name(self):
        for windows in (2, 3, 1000, -1):  # the last one: the clock went back
            with self.subTest(windows=windows):
                self.link.flushall()
                one, _ = self.vote(90, name=b"a")
                self.store.settle(one)
                self.age(windows)
                for name in (b"a", b"b"):
                    self.assertOutvoted(self.vote(90, name=name)[1], 90)
                    self.assertHolds(self.vote(91, name=name)[1])

    def test_a_repair_is_not_compared_and_lowers_nothing(self):
        newer, _ = self.vote(90)
        self.assertRefused(self.vote(70, BOB, repairs=True)[1], "busy")
        self.store.settle(newer)
        lost, reply = self.vote(70, BOB, repairs=True)
        self.assertEqual(self.assertHolds(reply), 70)
        self.store.settle(lost)
        self.assertOutvoted(self.vote(90)[1], 90)

    def test_beside_other_holders(self):
        self.assertHolds(self.vote(70, mode=SHARED)[1])
        self.assertOutvoted(self.vote(70, BOB, mode=SHARED)[1], 70)
        self.assertEqual(self.assertHolds(self.vote(71, BOB, mode=SHARED)[1]), 71)
        how = {"name": b"s", "kind": SEMAPHORE, "mode": PERMITS, "limit": 2}
        self.assertHolds(self.vote(70, **how)[1])
        self.assertOutvoted(self.vote(60, BOB, **how)[1], 70)
        self.assertEqual(self.assertHolds(self.vote(80, BOB, **how)[1]), 80)

    def test_who_joins_a_hold_has_its_number(self):
        how = {"owner": "me", "joins": True}
        self.vote(70, **how)
        self.assertEqual(self.assertHolds(self.vote(60, BOB, **how)[1]), 70)

    def test_a_condition_admits_nobody_by_itself(self):
        how = {"kind": CONDITION, "mode": PERMITS, "fair": True}
        self.assertRefused(self.vote(70, **how)[1], "busy")
        self.assertNothingLeft()

    def test_a_tombstone_is_above_every_ballot(self):
        one = self.claim()
        self.store.settle(one, bar_until=self.store.time() + 60_000_000)
        self.assertRefused(self.store.submit(one, ballot=70), "too_late")
        self.assertEqual(self.assertHolds(self.vote(60)[1]), 60, "and it left nothing behind")

    def test_a_refused_ballot_changes_nothing(self):
        one, _ = self.vote(70)
        self.store.settle(one)
        before = {key: self.link.dump(key) for key in self.keys()}
        self.assertOutvoted(self.vote(70)[1], 70)
        self.assertEqual({key: self.link.dump(key) for key in self.keys()}, before)

    def test_a_key_of_somebody_else_changes_nothing(self):
        self.link.lpush(self.store.ballots, "theirs")
        with self.assertRaisesRegex(redis.ResponseError, "WRONGTYPE"):
            self.vote(70)
        self.assertEqual(self.keys(), [self.store.ballots])

    def test_what_it_leaves_has_an_end(self):
        one, _ = self.vote(70)
        self.store.settle(one)
        self.assertEqual(self.keys(), [self.store.ballots, b"holdfast:name:{q}:ballot"])
        self.assertEqual(self.link.pttl(self.store.ballots), -1, "one key for all names")
        self.assertGreater(self.link.pttl(b"holdfast:name:{q}:ballot"), 10_000 - 5_000)
        self.assertLessEqual(self.link.pttl(b"holdfast:name:{q}:ballot"), 11_000)


if __name__ == "__main__":
    unittest.main()
