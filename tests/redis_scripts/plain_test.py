"""The plain layout: one string key, shared with other clients' locks."""

import unittest

import redis.lock

from case import BOB, Case
from store import LATER


class Plain(Case):
    def bar(self, claim):
        return b"holdfast:bar:{" + claim.name + b"}:" + claim.id.encode()

    def acquire(self, claim, lease=60_000, not_after=LATER):
        return self.store.run("plain/acquire", [claim.name, self.store.mark, self.bar(claim)], claim.id, lease, not_after)

    def release(self, claim, keep_for=0, bar_until=0):
        return self.store.run("plain/release", [claim.name, self.bar(claim)], claim.id, keep_for, bar_until)[0]

    def renew(self, claim, lease=60_000):
        return self.store.run("plain/renew", [claim.name], claim.id, lease)

    def inspect(self, name=b"q"):
        return self.store.run("plain/inspect", [name])

    def evict(self, name=b"q", only="", force=False):
        return self.store.run("plain/evict", [name], only, int(force))[1]

    def test_one_holds(self):
        one, two = self.claim(), self.claim(BOB)
        sequence = self.assertHolds(self.acquire(one))
        self.assertEqual(self.link.get(b"q"), f"{one.id}:{sequence}".encode())
        self.assertEqual(self.inspect()[1], f"{one.id}:{sequence}")
        self.assertEqual(self.inspect()[3], 1)
        reply = self.acquire(two)
        self.assertRefused(reply, "busy")
        self.assertGreater(reply[2], 50_000)
        self.assertEqual(self.release(two), "gone")
        self.assertEqual(self.release(one), "released")
        self.assertEqual(self.release(one), "gone")
        self.assertEqual(self.inspect(), ["none"])
        self.assertNothingLeft()
        self.assertGreater(self.acquire(two)[1], sequence)

    def test_sent_twice_is_one_hold_that_began_once(self):
        one = self.claim()
        first = self.acquire(one)
        self.store.wait_past(self.store.now + 20_000)
        again = self.acquire(one)
        self.assertEqual(again[1], first[1])
        self.assertLessEqual(again[2], first[2])
        self.assertGreater(again[2], first[2] - 5_000)

    def test_given_up(self):
        one = self.claim()
        self.assertRefused(self.acquire(one, not_after=self.store.time() - 1), "too_late")
        end = self.store.time() + 250_000
        self.assertEqual(self.release(one, bar_until=end), "gone")
        self.assertAllKeysEnd()
        self.assertRefused(self.acquire(one), "too_late")
        self.store.wait_past(end + 10_000)
        self.assertHolds(self.acquire(one))

    def test_renewal_lengthens_and_never_shortens(self):
        one = self.claim()
        token = self.acquire(one, lease=1_000)[1]
        self.assertEqual(self.renew(one, lease=90_000)[:2], ["alive", token])
        self.renew(one, lease=5)
        self.assertGreater(self.link.pttl(b"q"), 80_000)
        self.assertEqual(self.renew(self.claim())[0], "gone")

    def test_an_ended_hold_is_gone(self):
        one = self.claim()
        self.acquire(one, lease=60)
        self.store.wait_past(self.store.now + 62_000)
        self.assertEqual(self.renew(one)[0], "gone")
        self.assertEqual(self.release(one), "gone")

    def test_kept_for_a_minimum(self):
        one, two = self.claim(), self.claim()
        self.acquire(one)
        self.assertEqual(self.release(one, keep_for=250), "released")
        end = self.store.now + 252_000
        self.assertRefused(self.acquire(one), "too_late")
        self.assertEqual(self.renew(one)[0], "gone")
        self.assertEqual(self.release(one), "released")
        self.assertRefused(self.acquire(two), "busy")
        self.store.wait_past(end)
        self.assertHolds(self.acquire(two))

    def test_what_is_not_ours_is_somebodys(self):
        one = self.claim()
        for make, left in ((lambda: self.link.set("q", "theirs"), -1), (lambda: self.link.hset("q", "x", 1), -1),
                           (lambda: self.link.set("q", "theirs", px=50_000), 50_000), (lambda: self.link.set("q", ""), -1),
                           (lambda: self.link.set("q", one.id), -1), (lambda: self.link.set("q", one.id + ":1x"), -1),
                           (lambda: self.link.set("q", "ab-cd:12"), -1)):
            self.link.flushall()
            make()
            before = self.link.dump("q")
            reply = self.acquire(one)
            self.assertRefused(reply, "busy")
            self.assertAlmostEqual(reply[3], left, delta=5_000)
            self.assertEqual(self.renew(one)[0], "gone")
            self.assertEqual(self.release(one), "gone")
            self.assertEqual(self.inspect()[3], 0)
            self.assertEqual(self.evict(), 0)
            self.assertEqual(self.evict(only=one.id, force=True), 0)
            self.assertEqual(self.link.dump("q"), before)
            self.assertFalse(self.link.exists(self.store.mark))  # it draws no token of ours
            self.assertEqual(self.evict(force=True), 1)
            self.assertFalse(self.link.exists("q"))

    def test_a_foreign_lock_may_last_longer_than_lua_counts(self):
        one = self.claim()
        for left in (2**53 - 1, 2**53 + 1, 2**63 - 10**13):
            self.link.set("q", "theirs", px=left)
            reply = self.acquire(one)
            self.assertRefused(reply, "busy")
            self.assertTrue(86_400_000 < reply[2] < 2**53, reply)
            self.assertEqual(self.renew(one)[0], "gone")

    def test_our_own_is_evicted(self):
        one = self.claim()
        self.acquire(one)
        self.assertEqual(self.evict(only=self.claim().id), 0)
        self.assertEqual(self.evict(only=one.id), 1)
        self.acquire(one)
        self.assertEqual(self.evict(), 1)
        self.assertEqual(self.evict(), 0)

    def test_beside_the_lock_of_redis_py(self):
        one = self.claim()
        theirs = redis.lock.Lock(self.link, "q", timeout=30)
        self.assertTrue(theirs.acquire(blocking=False))
        self.assertRefused(self.acquire(one), "busy")
        theirs.release()
        self.assertHolds(self.acquire(one))
        self.assertFalse(theirs.acquire(blocking=False))
        self.assertEqual(self.release(one), "released")
        self.assertTrue(theirs.acquire(blocking=False))
        self.assertTrue(theirs.extend(5))

    def test_beside_the_scripts_of_others(self):
        """The release and extension that redsync and node-redlock send."""
        one = self.claim()
        release = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end"
        self.assertHolds(self.acquire(one))
        self.assertIsNone(self.link.set("q", "theirs", nx=True, px=8000))
        self.assertEqual(self.link.eval(release, 1, "q", "theirs"), 0)
        self.release(one)
        self.assertTrue(self.link.set("q", "theirs", nx=True, px=8000))
        self.assertRefused(self.acquire(one), "busy")
        self.assertEqual(self.link.eval(release, 1, "q", "theirs"), 1)
        self.assertHolds(self.acquire(one))


if __name__ == "__main__":
    unittest.main()
