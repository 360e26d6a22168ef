"""The index of names on which somebody waits who has an owner: never too few, at no cost on the way, and nothing is left in it."""

import unittest

from case import BOB, CAROL, Case
from store import CONDITION, LONG, PERMITS, SEMAPHORE, SHARED, group


def record(name=b"q", condition=False):
    return group(b"holdfast:", name, condition)[0]


class Waited(Case):
    def wait(self, name=b"q", **how):
        """One that holds the name, and one with an owner that waits for it."""
        one, two = self.claim(name=name, **how), self.claim(BOB, name=name, owned=True, **how)
        self.store.submit(one)
        self.assertEqual(self.store.submit(two, queue=True)[0], "queued")
        return one, two

    def listed(self):
        return sorted(it.encode() for it in self.store.waited_for())

    def test_who_waits_is_listed_until_nobody_does(self):
        one, two = self.wait()
        self.assertEqual(self.listed(), [record()])
        self.assertAllKeysEnd()
        self.assertEqual(self.store.settle(two), "released")
        self.assertEqual(self.listed(), [])
        self.store.submit(two, queue=True)
        self.assertEqual(self.listed(), [record()])
        self.store.settle(one)
        self.store.settle(two)
        self.assertNothingLeft()

    def test_every_kind(self):
        for how in ({"mode": SHARED}, {"joins": True}, {"kind": SEMAPHORE, "mode": PERMITS, "limit": 1}):
            self.link.flushall()
            holder = self.claim(kind=how.get("kind", 0), mode=PERMITS if "kind" in how else 0, limit=how.get("limit", 0))
            waiter = self.claim(BOB, owned=True, owner="me", **how)
            self.store.submit(holder)
            self.store.submit(waiter, queue=True)
            self.assertEqual(self.listed(), [record()], how)
            self.store.settle(holder)
            self.store.settle(waiter)
            self.assertNothingLeft()
        waiter = self.claim(kind=CONDITION, mode=PERMITS, owned=True)
        self.store.submit(waiter, queue=True)
        self.assertEqual(self.listed(), [record(condition=True)])
        self.store.settle(waiter)
        self.assertNothingLeft()

    def test_who_has_no_owner_is_not_listed(self):
        one, two = self.claim(), self.claim(BOB)
        self.store.submit(one)
        self.store.submit(two, queue=True)
        self.store.renew(two)
        self.assertFalse(self.link.exists(self.store.waited))
        self.store.submit(self.claim(CAROL, owned=True), queue=True)  # behind one that is not
        self.assertEqual(self.listed(), [record()])

    def test_renewals_keep_it_listed(self):
        one, two = self.wait(lease=1000)
        self.store.renew(one, lease=LONG)
        for lease in (1000, 5000, 100_000, 3000):
            self.store.renew(two, lease=lease)
            until = max(it[5] for it in self.store.inspect(b"q")[6])
            self.assertGreaterEqual(self.link.zscore(self.store.waited, record()), until)
            self.assertGreater(self.link.pttl(self.store.waited), (until - self.store.now) / 1000)
        self.assertEqual(self.listed(), [record()])

    def test_a_shorter_lease_does_not_end_the_others(self):
        self.wait(b"long", lease=LONG)
        self.wait(b"short", lease=1000)
        self.store.submit(self.claim(name=b"long", mode=SHARED, lease=1000, owned=True), queue=True)
        self.store.submit(self.claim(name=b"other"))
        self.store.submit(self.claim(name=b"other", mode=SHARED, lease=1000, owned=True), queue=True)
        self.assertGreater(self.link.pttl(self.store.waited), LONG)

    def test_the_dead_are_not_listed_for_ever(self):
        for number in range(30):
            self.wait(b"%d" % number, lease=20)
        self.store.wait_past(self.store.now + 2 * 20_000)
        self.assertEqual(self.link.zcard(self.store.waited), 30)
        self.wait()
        self.assertEqual(self.link.zcard(self.store.waited), 21)  # a few at once
        self.assertEqual(self.listed(), [record()])
        self.assertEqual(self.link.zcard(self.store.waited), 1)

    def test_a_line_without_waiters_is_not_listed_for_long(self):
        one, two = self.wait()
        self.store.settle(one)  # handed over: nobody waits
        self.store.inspect(b"q")  # a look
        self.assertEqual(self.listed(), [])
        self.assertEqual(self.store.renew(two)[0], "alive")
        self.store.submit(self.claim(CAROL, owned=True), queue=True)
        self.assertEqual(self.listed(), [record()])

    def test_evicted_or_kept_it_stays_in_order(self):
        one, two = self.wait()
        self.store.settle(one, keep_for=10_000)
        self.assertEqual(self.listed(), [record()])
        self.store.evict(b"q", two.id)
        self.assertEqual(self.listed(), [])
        self.store.evict(b"q")
        self.assertNothingLeft()

    def test_a_bar_or_a_watch_that_stays_leaves_no_place(self):
        one, two = self.wait()
        self.store.watch(CAROL, b"q")
        self.store.settle(two, bar_until=self.store.now + 10**6)
        self.store.settle(one)
        self.assertEqual(self.listed(), [])

    def test_a_record_that_somebody_deleted(self):
        self.wait()
        self.link.delete(*group(b"holdfast:", b"q"))
        self.wait()
        self.assertEqual(self.listed(), [record()])


if __name__ == "__main__":
    unittest.main()
