"""Names, listings and evictions: every legal name is a lock of its own and comes back as it was given."""

import re
import unittest

from case import ALICE, BOB, CAROL, Case
from store import CONDITION, LOCK, PERMITS, SEMAPHORE, SHARED, group, tag

HASH = b"~" + b"0123456789abcdef" * 2
ODD = [b"plain", b"with blank", b"a{b", b"a}b", b"{}", b"a_b", "é{ü}".encode(), b"x" * 128, b"x" * 129, b"x" * 512,
       "ü".encode() * 256, b"a*b", b"a?b[c]\\", b"q:claims", b"q", b"tail" + HASH, b"{" * 100 + b"~", b"-1", b"@me"]


def escape(text):
    return re.sub(rb"([\\*?\[\]])", rb"\\\1", text)


class Names(Case):
    def list(self, prefix):
        """As CONVENTION.md says."""
        head = prefix[:64]
        while len(prefix) > len(head) and prefix[len(head)] & 0xC0 == 0x80:
            head = head[:-1]
        wanted = re.sub(rb"[{}]", b"?", escape(head))
        found = set()
        for space in (b"name", b"condition"):
            for key in self.link.scan_iter(match=escape(self.store.prefix) + space + b":{" + wanted + b"*}"):
                group_keys = [key] + [key + it for it in (b":claims", b":holders", b":bars", b":extra")]
                reply = self.store.run("inspect", [self.store.mark, *group_keys], self.store.prefix, b"")
                if reply[0] == "name" and reply[1].encode("utf-8", "surrogateescape").startswith(prefix):
                    found.add(reply[1].encode("utf-8", "surrogateescape"))
        return found

    def test_tags_hold_no_braces_and_differ(self):
        tags = {tag(it) for it in ODD}
        self.assertEqual(len(tags), len(ODD))
        for it in tags:
            self.assertNotRegex(it, rb"[{}]")
            self.assertLessEqual(len(it), 128)
            it.decode()
        self.assertNotEqual(tag(tag(b"a{b")), tag(b"a{b"))

    def test_all_names_hold_beside_each_other(self):
        claims = [self.claim(name=it) for it in ODD]
        for it in claims:
            self.assertHolds(self.store.submit(it))
        self.assertEqual(self.list(b""), set(ODD))
        for prefix in (b"a", b"a{", b"a*", b"a?", b"x", b"x" * 100, b"x" * 500, b"q", b"{", "ü".encode() * 40):
            self.assertEqual(self.list(prefix), {it for it in ODD if it.startswith(prefix)}, prefix)
        for it in claims:
            self.assertEqual(self.store.settle(it), "released")
        self.assertNothingLeft()

    def test_all_keys_of_a_name_are_in_one_slot(self):
        for name in ODD:
            keys = group(b"holdfast:", name) + group(b"holdfast:", name, condition=True)
            tags = {key[key.index(b"{") + 1:key.index(b"}")] for key in keys}
            self.assertEqual(tags, {tag(name)})

    def test_two_names_under_one_key_are_an_error(self):
        self.store.submit(self.claim())
        keys = [self.store.mark, *group(b"holdfast:", b"q")]
        with self.assertRaisesRegex(Exception, "HOLDFAST the names 'z' and 'q' share one key"):
            self.store.run("settle", keys, b"holdfast:", b"z", self.claim().id, 0, 0, 0)

    def test_another_prefix_is_another_world(self):
        self.store.submit(self.claim())
        self.store.prefix = b"other:"
        self.assertHolds(self.store.submit(self.claim()))
        self.assertIn(b"other:mark", self.link.keys("*"))


class Inspect(Case):
    def test_holders_by_age_and_waiters_in_order(self):
        info = b"5:alice0:4:host3:1231:70:\xff"
        readers = [self.claim(mode=SHARED, info=info) for _ in range(3)]
        waiters = [self.claim(BOB, info=b"w%d" % it) for it in range(12)]
        sequences = [self.store.submit(it)[1] for it in readers]
        arrivals = []
        for it in waiters:
            self.store.submit(it, queue=True)
            arrivals.append(self.store.now)
        word, name, kind, limit, cell, holding, waiting = self.store.inspect(b"q")
        self.assertEqual((word, name, kind, limit, cell), ("name", "q", LOCK, 0, ""))
        self.assertEqual([it[0:4] for it in holding], [[c.id, s, SHARED, 1] for c, s in zip(readers, sequences)])
        self.assertEqual(holding[0][6].encode("utf-8", "surrogateescape"), info)
        self.assertEqual([[it[0], it[1], it[4]] for it in waiting], [[c.id, 0, a] for c, a in zip(waiters, arrivals)])

    def test_what_a_minimum_hold_keeps_is_marked(self):
        one = self.claim()
        self.store.submit(one)
        self.assertEqual(self.store.inspect(b"q")[5][0][7], 0)
        self.store.settle(one, keep_for=60_000)
        self.assertEqual(self.store.inspect(b"q")[5][0][7], 1)

    def test_the_limit_in_force(self):
        permit = self.claim(kind=SEMAPHORE, mode=PERMITS, limit=3, permits=2)
        self.store.submit(permit)
        self.store.adjust(permit, current=7)
        self.assertEqual(self.store.inspect(b"q")[3], 7)
        self.assertEqual(self.store.inspect(b"q")[5][0][3], 2)


class Evict(Case):
    def test_all_holders(self):
        readers = [self.claim(ALICE, mode=SHARED), self.claim(BOB, mode=SHARED)]
        writer = self.claim(CAROL)
        ears = [self.ear(it) for it in (ALICE, BOB, CAROL)]
        for it in (*readers, writer):
            self.store.submit(it, queue=True)
        self.told(ears[0]), self.told(ears[1])
        self.assertEqual(self.store.evict(b"q"), 2)
        now = self.store.now
        self.assertEqual(self.told(ears[2])[0].split()[0], "granted")
        for it, ear in zip(readers, ears):
            self.assertEqual(self.told(ear), [f"gone {it.id[17:]} {now} it was evicted"])
            self.assertEqual(self.store.renew(it)[0], "gone")
        self.assertEqual(self.store.evict(b"q"), 1)
        self.assertEqual(self.store.evict(b"q"), 0)
        self.assertNothingLeft()

    def test_one_claim_held_or_waiting(self):
        one, two, three = (self.claim() for _ in range(3))
        for it in (one, two, three):
            self.store.submit(it, queue=True)
        self.assertEqual(self.store.evict(b"q", two.id), 1)
        self.assertEqual(self.store.evict(b"q", two.id), 0)
        self.assertEqual(self.store.renew(three)[0], "waiting")
        self.assertEqual(self.store.evict(b"q", one.id), 1)
        self.assertEqual(self.store.renew(three)[0], "alive")

    def test_very_many_holders_at_once(self):
        """More than Lua can pass to one command."""
        many = 9000
        for _ in range(many):
            self.store.submit(self.claim(mode=SHARED))
        writer = self.claim(BOB)
        self.store.submit(writer, queue=True)
        self.assertEqual(self.store.evict(b"q"), many)
        self.assertEqual(self.store.renew(writer)[0], "alive")
        self.store.settle(writer)
        self.assertNothingLeft()

    def test_conditions_have_their_own(self):
        waiter = self.claim(kind=CONDITION, mode=PERMITS)
        self.store.submit(waiter, queue=True)
        self.assertEqual(self.store.evict(b"q", waiter.id), 0)
        self.assertEqual(self.store.evict(b"q", waiter.id, condition=True), 1)
        self.assertNothingLeft()


if __name__ == "__main__":
    unittest.main()
