"""The line of a lock: what the fast paths must see, what stays in the keys, and gaps of those who went."""

import random
import unittest

import redis

from case import ALICE, BOB, Case
from store import CLOCK, LATER, LONG, PERMITS, SEMAPHORE, SHARED, group

CLAIMS = group(b"holdfast:", b"q")[1]


class Line(Case):
    def crowd(self, count, **how):
        """One that holds and the others behind it."""
        claims = [self.claim(info=b"label %d" % number, **how) for number in range(count)]
        for it in claims:
            self.store.submit(it, queue=True)
        return claims

    def waiting(self):
        return [it[0] for it in self.store.inspect(b"q")[6]]

    def assertTidy(self):
        """Two fields for each that waits; besides, at most the details of the holder and the ends of gaps."""
        fields = self.link.hkeys(CLAIMS)
        waiters = len(self.waiting())
        self.assertEqual(sum(it[:1] == b"#" for it in fields), waiters)
        self.assertLessEqual(sum(len(it) == 33 for it in fields), waiters + 1)
        self.assertLessEqual(sum(it[:1] == b"-" for it in fields), 2 * waiters)

    def test_a_long_rotation_leaves_nothing_behind(self):
        line = self.crowd(5, fair=True)
        for _ in range(50):
            self.assertEqual(self.store.settle(line[0]), "released")
            line = line[1:] + [self.claim(fair=True)]
            self.assertEqual(self.store.submit(line[-1], queue=True)[0], "queued")
            self.assertLessEqual(self.link.hlen(CLAIMS), 2 * 4 + 2)
        self.assertTidy()
        self.assertAllKeysEnd()
        for it in line:
            self.assertEqual(self.store.settle(it), "released")
        self.assertNothingLeft()

    def test_what_is_told_of_a_holder_lasts_as_long_as_its_lease(self):
        first, heir, _ = self.crowd(3, lease=1000)
        self.store.settle(first)
        self.assertEqual(self.store.renew(heir, lease=LONG)[0], "alive")
        self.link.delete(CLAIMS)  # as when those who waited have died, and their time is over
        holder = self.store.inspect(b"q")[5][0]
        self.assertEqual([holder[0], holder[6]], [heir.id, "label 1"])

    def test_what_is_told_of_a_claim_comes_along(self):
        line = self.crowd(4, owner="me")
        for place, holder in enumerate(line):
            known = self.store.inspect(b"q")
            self.assertEqual([(it[0], it[6]) for it in known[5] + known[6]],
                             [(it.id, it.info.decode()) for it in line[place:]])
            self.assertEqual(self.store.renew(holder)[0], "alive")
            self.assertEqual(self.store.settle(holder), "released")
        self.assertNothingLeft()

    def test_they_go_from_the_middle_in_any_order(self):
        for seed in range(20):
            chance = random.Random(seed)
            line = self.crowd(12)
            while len(line) > 1:
                gone = line.pop(chance.randrange(len(line)))
                self.assertEqual(self.store.settle(gone), "released")
                if chance.random() < 0.3:
                    line.append(self.claim())
                    self.store.submit(line[-1], queue=True)
                self.assertEqual(self.waiting(), [it.id for it in line[1:]], f"seed {seed}")
                self.assertEqual(self.store.renew(line[0])[0], "alive", f"seed {seed}")
                if len(line) > 1:
                    self.assertTidy()
            self.store.settle(line[0])
            self.assertNothingLeft()

    def dead_first(self):
        """A holder, one in the line that is dead, one that is not, and what the dead one's client hears."""
        holder, dead, alive = self.claim(), self.claim(BOB, lease=10), self.claim()
        ear = self.ear(BOB)
        for it in (holder, dead, alive):
            self.store.submit(it, queue=True)
        self.store.wait_past(self.store.now + 10_000)
        return holder, dead, alive, ear

    def test_nobody_stands_behind_a_corpse(self):
        for call in (lambda holder, alive: self.store.submit(self.claim(), queue=True),
                     lambda holder, alive: self.store.submit(self.claim()),
                     lambda holder, alive: self.store.renew(holder), lambda holder, alive: self.store.renew(alive),
                     lambda holder, alive: self.store.settle(holder)):
            self.link.flushall()
            holder, dead, alive, ear = self.dead_first()
            call(holder, alive)
            self.assertEqual([text.split()[:2] for text in self.told(ear)], [["gone", dead.id[17:]]])
            known = self.store.inspect(b"q")
            self.assertIn(alive.id, [it[0] for it in known[5] + known[6]])
            self.assertNotIn(dead.id, [it[0] for it in known[5] + known[6]])

    def values(self):
        """All that the server has: names of fields and what is in them."""
        for key in self.keys():
            if self.link.type(key) == b"hash":
                for item in self.link.hgetall(key).items():
                    yield from item
            elif self.link.type(key) == b"string":
                yield self.link.get(key)

    def test_a_secret_is_kept_while_its_claim_waits_and_is_told_to_nobody(self):
        for how in ({}, {"mode": SHARED}, {"joins": True, "owner": "me"}, {"kind": SEMAPHORE, "mode": PERMITS, "limit": 1}):
            self.link.flushall()
            holder = self.claim(**how if "kind" in how else {})
            line = [self.claim(BOB, **how) for _ in range(3)]
            ear = self.ear(BOB)
            for it in (holder, *line):
                self.store.submit(it, queue=True)
            self.store.submit(line[1], queue=True)
            self.store.renew(line[1])
            for it in line:
                self.assertEqual(sum(it.secret in value for value in self.values()), 1, how)
            shown = repr(self.store.inspect(b"q"))
            granted = []
            for it in (holder, *line):
                self.store.settle(it)
                granted += [text for text in self.told(ear) if text.startswith("granted")]
            self.assertEqual(len(granted), len(line), how)
            for it, text in zip(line, granted):
                _, _, sequence, began, contended, clock, _ = text.split()
                self.assertEqual(text, it.granted(sequence, began, contended), how)
                self.assertNotIn(repr(it.secret.decode("utf-8", "surrogateescape"))[1:-1], shown)
                self.assertNotIn(it.secret.hex(), text)
            self.assertEqual([value for value in self.values() if any(it.secret in value for it in line)], [])

    def test_a_claim_without_a_secret_cannot_wait(self):
        holder, waiter = self.claim(), self.claim(BOB)
        self.store.submit(holder)
        before = self.link.dump(group(b"holdfast:", b"q")[0])

        def submit(queueing):
            return self.store.run("submit", self.store.keys(b"q"), CLOCK.encode() + self.store.prefix,
                                  *waiter.arguments(), LATER, queueing)

        with self.assertRaises(redis.ResponseError):
            submit(b"1")
        self.assertEqual(self.link.dump(group(b"holdfast:", b"q")[0]), before)
        self.assertRefused(submit(b"0"), "busy")
        self.store.settle(holder)
        self.assertHolds(submit(b"0"))

    def test_a_lock_before_another_kind(self):
        self.store.submit(self.claim(kind=SEMAPHORE, mode=PERMITS, limit=3))
        for queue in (False, True):
            self.assertEqual(self.store.submit(self.claim(), queue=queue), ["refused", "kind", 0, SEMAPHORE])

    def test_a_writer_before_one_reader(self):
        reader, writer = self.claim(mode=SHARED), self.claim(BOB)
        ear = self.ear(ALICE)
        self.store.submit(reader)
        self.assertRefused(self.store.submit(writer), "busy")
        self.assertEqual(self.store.submit(writer, queue=True)[0], "queued")
        self.assertEqual(self.told(ear), [f"contended {reader.id[17:]} {self.store.now}"])
        self.assertEqual(self.store.settle(reader), "released")
        self.assertEqual(self.store.renew(writer)[0], "alive")

    def test_a_line_that_somebody_deleted_begins_anew(self):
        holder, *lost = self.crowd(4)
        self.link.delete(CLAIMS)
        late = self.claim()
        self.assertEqual(self.store.submit(late, queue=True)[0], "queued")
        self.assertEqual(self.waiting(), [late.id])
        self.assertAllKeysEnd()
        self.assertEqual(self.store.settle(holder), "released")
        self.assertEqual(self.store.renew(late)[0], "alive")
        self.assertEqual(self.store.settle(late), "released")
        self.assertNothingLeft()

    def test_rubbish_in_the_place_of_a_line_is_not_taken_for_one(self):
        self.crowd(4)
        self.link.delete(group(b"holdfast:", b"q")[0])
        holder, late = self.crowd(2)
        self.assertEqual(self.waiting(), [late.id])
        self.assertTidy()

    def test_the_record_outlives_holder_line_and_bars(self):
        long, short, middle = self.claim(lease=LONG), self.claim(lease=1000), self.claim(lease=5000)
        for it in (long, short, middle):
            self.store.submit(it, queue=True)
            self.assertGreater(self.link.pttl(group(b"holdfast:", b"q")[0]), LONG)
        self.store.settle(short, bar_until=self.store.now + 10**8)
        self.store.settle(long)
        for key in self.keys():
            self.assertGreater(self.link.pttl(key), 15_000, key)
        self.assertEqual(self.store.renew(middle)[0], "alive")
        self.store.settle(middle)
        self.assertEqual(len(self.keys()), 2)  # the bar stands


if __name__ == "__main__":
    unittest.main()
