"""Agreed values: versions, operations, guards, their end; and who is told of a change."""

import unittest

from case import ALICE, BOB, CAROL, Case
from store import BARRIER, ELECTION, LATCH, LOCK, LONG, SHARED, compose, group

HOLDERS = b"holders"  # the part that stands for who holds a name


class Cells(Case):
    def test_compare_and_swap(self):
        self.assertEqual(self.store.read(b"q"), ["cell", 0, ""])
        first = self.store.swap(b"q", 0, b"3", operation="op-1")
        self.assertEqual(first[0], "swapped")
        self.assertAllKeysEnd()
        self.assertEqual(self.store.read(b"q"), ["cell", first[1], "3"])
        self.assertEqual(self.store.read(b"q", kind=BARRIER), ["cell", 0, ""])
        self.assertEqual(self.store.swap(b"q", 0, b"9", operation="op-2"), ["conflict", first[1], "3", 0])
        self.assertEqual(self.store.swap(b"q", 0, b"3", operation="op-1"), first)  # came twice
        second = self.store.swap(b"q", first[1], b"2", operation="op-3")
        self.assertGreater(second[1], first[1])
        self.assertEqual(self.store.inspect(b"q")[1:5], ["q", LATCH, 0, "2"])
        gone = self.store.swap(b"q", second[1], operation="op-4", remove=True)
        self.assertEqual(gone[0], "swapped")
        self.assertNothingLeft()

    def test_parts_are_cells_of_their_own(self):
        one = self.store.swap(b"q", 0, b"a", part=b"one", operation="1")
        two = self.store.swap(b"q", 0, b"b", part=b"two", operation="2")
        self.assertEqual(self.store.read(b"q", part=b"one"), ["cell", one[1], "a"])
        self.assertEqual(self.store.inspect(b"q")[4], "")
        self.store.swap(b"q", one[1], part=b"one", operation="3", remove=True)
        self.assertEqual(self.store.read(b"q", part=b"two"), ["cell", two[1], "b"])
        self.assertEqual(self.store.swap(b"q", 0, kind=BARRIER)[:2], ["refused", "kind"])

    def test_a_cell_that_outlived_its_record_is_nobodys(self):
        """As after an eviction by the server: a cell that is read must be one that can be swapped."""
        old = self.store.swap(b"q", 0, b"1", kind=BARRIER, operation="1")[1]
        self.link.delete(group(b"holdfast:", b"q")[0])
        self.store.submit(self.claim(kind=BARRIER, mode=SHARED))
        self.assertEqual(self.store.swap(b"q", old, b"2", kind=BARRIER, operation="2"), ["conflict", 0, "", 0])
        self.assertEqual(self.store.read(b"q", kind=BARRIER), ["cell", 0, ""])
        new = self.store.swap(b"q", 0, b"3", kind=BARRIER, operation="3")[1]
        self.assertEqual(self.store.read(b"q", kind=BARRIER), ["cell", new, "3"])

    def test_a_cell_ends(self):
        self.store.swap(b"q", 0, b"short", part=b"s", ttl=60, operation="1")
        end = self.store.now + 60_000
        self.store.swap(b"q", 0, b"long", part=b"l", operation="2")
        self.assertGreater(self.link.pttl(b"holdfast:name:{q}:extra"), LONG)
        self.store.wait_past(end)
        self.assertEqual(self.store.read(b"q", part=b"s"), ["cell", 0, ""])
        again = self.store.swap(b"q", 0, b"new", part=b"s", operation="1")
        self.assertGreater(again[1], end)
        self.assertEqual(self.link.hlen(b"holdfast:name:{q}:extra"), 2)

    def test_the_last_cell_that_ends_frees_the_name(self):
        self.store.swap(b"q", 0, b"x", ttl=60, operation="1")
        self.store.wait_past(self.store.now + 60_000)
        self.assertHolds(self.store.submit(self.claim(kind=LOCK)))

    def test_a_guard_must_hold(self):
        guard = self.claim(kind=BARRIER)
        reply = self.store.swap(b"q", 0, b"x", kind=BARRIER, operation="1", guard=guard)
        self.assertEqual(reply, ["conflict", 0, "", 1])
        self.assertNothingLeft()
        self.store.submit(guard)
        reply = self.store.swap(b"q", 0, b"x", kind=BARRIER, operation="1", guard=guard)
        self.assertEqual(reply[0], "swapped")
        self.store.settle(guard)
        reply = self.store.swap(b"q", reply[1], b"y", kind=BARRIER, operation="2", guard=guard)
        self.assertEqual(reply, ["conflict", reply[1], "x", 1])

    def test_a_cell_beside_claims(self):
        leader = self.claim(kind=ELECTION)
        self.store.submit(leader)
        version = self.store.swap(b"q", 0, b"words", kind=ELECTION, operation="1", guard=leader)[1]
        self.assertEqual(self.store.renew(leader)[0], "alive")
        self.assertEqual(self.store.settle(leader), "released")
        self.assertEqual(self.store.read(b"q", kind=ELECTION), ["cell", version, "words"])
        self.store.swap(b"q", version, kind=ELECTION, operation="2", remove=True)
        self.assertNothingLeft()


class Watching(Case):
    def test_watchers_of_a_name_hear_who_holds(self):
        ear, other = self.ear(ALICE), self.ear(BOB)
        self.assertEqual(self.store.watch(ALICE, b"q", ELECTION, HOLDERS), ["done"])
        self.store.watch(BOB, b"q", ELECTION, b"part")
        self.assertAllKeysEnd()
        self.assertEqual(self.store.inspect(b"q"), ["none"])
        one, two = self.claim(CAROL, kind=ELECTION), self.claim(CAROL, kind=ELECTION)
        text = "changed {} {} 1 qholders"
        self.store.submit(one)
        self.assertEqual(self.told(ear), [text.format(ELECTION, self.store.now)])
        self.store.submit(two, queue=True)
        self.store.renew(one)
        self.assertEqual(self.told(ear), [])
        self.store.settle(one)
        self.assertEqual(self.told(ear), [text.format(ELECTION, self.store.now)])
        self.store.settle(two)
        self.assertEqual(self.told(ear), [text.format(ELECTION, self.store.now)])
        self.assertEqual(self.told(other), [])
        self.store.watch(BOB, b"q", ELECTION, b"part", on=False)
        self.assertEqual(len(self.keys()), 2)
        self.store.watch(ALICE, b"q", ELECTION, HOLDERS, on=False)
        self.assertNothingLeft()

    def test_watchers_of_a_cell_hear_of_it_alone(self):
        ear, other = self.ear(ALICE), self.ear(BOB)
        self.store.watch(ALICE, "ä b{".encode(), LATCH, b"x y")
        self.store.watch(BOB, "ä b{".encode(), LATCH)
        self.store.swap("ä b{".encode(), 0, b"1", part=b"x y", operation="1")
        self.assertEqual(self.told(ear), [f"changed {LATCH} {self.store.now} 5 ä b{{x y"])
        self.store.swap("ä b{".encode(), 0, b"1", part=b"z", operation="2")
        self.assertEqual(self.told(ear) + self.told(other), [])

    def test_a_quiet_swap_is_told_to_nobody(self):
        ear = self.ear(ALICE)
        self.store.watch(ALICE, b"q", LATCH)
        version = self.store.swap(b"q", 0, b"1", operation="1", quiet=True)[1]
        self.assertEqual(self.told(ear), [])
        self.store.swap(b"q", version, b"0", operation="2")
        self.assertEqual(self.told(ear), [f"changed {LATCH} {self.store.now} 1 q"])

    def test_a_watch_ends_and_is_forgotten(self):
        ear = self.ear(ALICE)
        self.store.watch(ALICE, b"q")
        extra = b"holdfast:name:{q}:extra"
        self.assertLess(self.link.pttl(extra), 80_000)
        self.link.hset(extra, b"w" + ALICE.encode() + b"0", self.store.now)  # a minute later
        self.store.watch(BOB, b"q")
        self.store.submit(self.claim(CAROL))
        self.assertEqual(self.told(ear), [])
        self.assertEqual(self.link.hlen(extra), 1)

    def test_a_watch_forgets_those_that_ended(self):
        script = compose("watch")
        self.assertIn("60 * 1000000", script)
        self.store._loaded["watch"] = self.link.script_load(script.replace("60 * 1000000", "60 * 1000"))  # 60 ms
        for client in (ALICE, BOB):
            self.store.watch(client, b"q")
        self.store.wait_past(self.store.now + 60_000)
        self.store.watch(CAROL, b"q")
        self.assertEqual(self.link.hkeys(b"holdfast:name:{q}:extra"), [b"w" + CAROL.encode() + b"0"])

    def test_a_watch_of_another_kind_hears_nothing(self):
        ear = self.ear(ALICE)
        self.store.watch(ALICE, b"q", ELECTION)
        self.store.submit(self.claim(BOB, kind=LOCK))
        self.assertEqual(self.told(ear), [])


if __name__ == "__main__":
    unittest.main()
