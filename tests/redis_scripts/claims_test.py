"""Who may hold: exclusive, shared, permits, fair, joined, kept, converted; and sent twice is harmless."""

import unittest

from case import ALICE, BOB, CAROL, Case
from store import CONDITION, EXCLUSIVE, LATCH, LOCK, LONG, PERMITS, SEMAPHORE, SHARED, group


class Exclusive(Case):
    def test_one_holds_and_the_next_is_told(self):
        one, two = self.claim(), self.claim(BOB)
        ear, other = self.ear(ALICE), self.ear(BOB)
        first = self.assertHolds(self.store.submit(one))
        ends = self.store.now + 1000 * one.lease
        self.assertRefused(self.store.submit(two), "busy")
        word, blocked_for = self.store.submit(two, queue=True)
        self.assertEqual((word, blocked_for), ("queued", -((self.store.now - ends) // 1000)))
        self.assertEqual(self.told(ear), [f"contended {one.id[17:]} {self.store.now}"])
        self.assertAllKeysEnd()
        self.assertEqual(self.store.settle(one), "released")
        text = self.told(other)[0]
        sequence = text.split()[2]
        self.assertEqual(text, two.granted(sequence, self.store.now, 0))
        self.assertGreater(int(sequence), first)
        self.assertEqual(self.store.renew(two)[:2], ["alive", int(sequence)])
        self.assertEqual(self.store.settle(two), "released")
        self.assertEqual(self.told(ear), [])
        self.assertNothingLeft()

    def test_a_grant_says_whether_nobody_else_is_there(self):
        """Also where the mark is ahead of the clock, and the time alone does not tell the sequence."""
        ahead = self.store.time() + 3_600_000_000
        self.link.set(self.store.mark, ahead)
        pool = dict(name=b"pool", kind=SEMAPHORE, mode=PERMITS, limit=2)
        for word, it in ((b"alone", self.claim()), (b"alone", self.claim(**pool)), (b"granted", self.claim(**pool))):
            self.store.submit(it)
            self.assertEqual(self.store.last[1], word)
            ahead += 1
            self.assertEqual(self.store.last[2], ahead)

    def test_a_submit_sent_twice_is_one_hold(self):
        one, two = self.claim(), self.claim()
        self.assertEqual(self.store.submit(one), self.store.submit(one))
        self.store.submit(two, queue=True)
        self.assertEqual(self.store.submit(two, queue=True)[0], "queued")
        self.assertEqual(self.store.settle(one), "released")
        self.assertHolds(self.store.submit(two, queue=True))
        self.assertEqual(self.store.settle(one), "gone")
        self.assertEqual(self.store.settle(two), "released")
        self.assertEqual(self.store.settle(two), "gone")
        self.assertNothingLeft()

    def test_tokens_rise_over_a_clock_that_is_behind(self):
        ahead = self.store.time() + 10**12
        self.link.set(self.store.mark, ahead)
        one, two, three = (self.claim() for _ in range(3))
        self.assertEqual(self.store.submit(one)[1], ahead + 1)
        self.store.submit(two, queue=True)
        self.store.settle(one)
        self.assertEqual(self.store.renew(two)[1], ahead + 2)
        self.store.settle(two)
        self.assertEqual(self.store.submit(three)[1], ahead + 3)

    def test_not_after_and_bars(self):
        one = self.claim()
        self.assertRefused(self.store.submit(one, not_after=self.store.time() - 1), "too_late")
        self.assertNothingLeft()
        end = self.store.time() + 250_000
        self.assertEqual(self.store.settle(one, bar_until=end), "gone")
        self.assertAllKeysEnd()
        self.assertRefused(self.store.submit(one), "too_late")
        other = self.claim(BOB)
        self.assertHolds(self.store.submit(other))  # a bar stands against one claim, not against the name
        self.assertEqual(self.store.settle(other), "released")
        self.assertRefused(self.store.submit(one), "too_late")
        self.assertEqual(self.store.inspect(b"q"), ["none"])
        self.store.wait_past(end)
        self.assertHolds(self.store.submit(one))
        self.store.settle(one)
        self.assertNothingLeft()

    def test_a_bar_ends_a_hold_too(self):
        one = self.claim()
        self.store.submit(one)
        self.assertEqual(self.store.settle(one, bar_until=self.store.time() + 10**12), "released")
        self.assertRefused(self.store.submit(one), "too_late")
        for key in self.keys():
            self.assertLess(self.link.pttl(key), 2 * 86_400_000)

    def test_kept_after_an_early_release(self):
        one, two = self.claim(), self.claim(BOB)
        ear = self.ear(BOB)
        self.store.submit(one)
        self.store.submit(two, queue=True)
        self.assertEqual(self.store.settle(one, keep_for=250), "released")
        end = self.store.now + 250_000
        self.assertEqual(self.told(ear), [f"changed {LOCK} {self.store.now} 1 qholders"])
        self.assertEqual(self.store.settle(one), "released")
        self.assertEqual(self.store.renew(one)[0], "gone")
        self.assertRefused(self.store.submit(one), "too_late")
        self.assertEqual(self.store.convert(one, SHARED)[:2], ["refused", "gone"])
        self.assertIn(self.store.renew(two)[0], ("waiting", "alive"))
        self.store.wait_past(end)
        self.assertEqual(self.store.renew(two)[0], "alive")
        self.assertEqual(self.store.settle(two), "released")
        self.assertNothingLeft()

    def test_who_comes_to_stand_before_a_kept_hold_is_told(self):
        holder, *waiters = [self.claim(client * 16) for client in "abcdef"]
        ears = [self.ear(client * 16) for client in "bcdef"]
        for it in (holder, *waiters):
            self.store.submit(it, queue=True)

        def assertTold(who):
            hint = [f"changed {LOCK} {self.store.now} 1 qholders"]
            for place, ear in enumerate(ears):
                heard = [text for text in self.told(ear) if not text.startswith("gone")]
                self.assertEqual(heard, hint if place == who else [], f"{place} of {who}")

        self.store.settle(holder, keep_for=LONG)
        assertTold(0)
        self.store.settle(waiters[2])
        assertTold(None)  # the first is the same
        self.store.settle(waiters[0])
        assertTold(1)
        self.store.evict(b"q", waiters[1].id)
        assertTold(3)
        self.store.evict(b"q", waiters[4].id)
        assertTold(None)

    def test_who_stands_behind_one_that_died_before_a_kept_hold_is_told(self):
        holder, dead, alive = self.claim(), self.claim(lease=20), self.claim(BOB)
        ear = self.ear(BOB)
        for it in (holder, dead, alive):
            self.store.submit(it, queue=True)
        end = self.store.now + 20_000
        self.store.settle(holder, keep_for=LONG)
        self.store.wait_past(end)
        self.store.renew(alive)
        self.assertEqual(self.told(ear), [f"changed {LOCK} {self.store.now} 1 qholders"])

    def test_who_stays_behind_before_kept_permits_is_told(self):
        how = {"kind": SEMAPHORE, "mode": PERMITS, "limit": 3, "fair": True}
        kept, one, small = self.claim(permits=2, **how), self.claim(**how), self.claim(**how)
        large = self.claim(BOB, permits=2, **how)
        ear = self.ear(BOB)
        for it in (kept, one, small, large):
            self.store.submit(it, queue=True)
        self.store.settle(kept, keep_for=LONG // 2)
        self.store.settle(one)
        self.assertEqual(self.told(ear), [f"changed {SEMAPHORE} {self.store.now} 1 qholders"])

    def test_kinds_of_one_name(self):
        self.store.submit(self.claim())
        other = self.claim(kind=SEMAPHORE, mode=PERMITS, limit=3)
        self.assertEqual(self.store.submit(other), ["refused", "kind", 0, LOCK])
        self.assertEqual(self.store.swap(b"q", 0, kind=LATCH)[:2], ["refused", "kind"])
        self.assertEqual(self.store.submit(self.claim(kind=CONDITION, mode=PERMITS), queue=True)[0], "queued")


class SharedMode(Case):
    def reader(self, client=ALICE, **how):
        return self.claim(client, mode=SHARED, **how)

    def test_readers_hold_together_and_a_writer_stops_them(self):
        one, two, late = self.reader(), self.reader(BOB), self.reader(CAROL)
        writer = self.claim(CAROL)
        self.assertHolds(self.store.submit(one))
        self.assertHolds(self.store.submit(two))
        self.assertEqual(self.store.submit(writer, queue=True)[0], "queued")
        self.assertRefused(self.store.submit(late), "busy")
        self.assertEqual(self.store.submit(late, queue=True)[0], "queued")
        self.assertAllKeysEnd()
        self.store.settle(one)
        self.assertEqual(self.store.renew(writer)[0], "waiting")
        self.store.settle(two)
        self.assertEqual(self.store.renew(writer)[0], "alive")
        self.store.settle(writer)
        self.assertEqual(self.store.renew(late)[0], "alive")
        self.store.settle(late)
        self.assertNothingLeft()

    def test_downgrade_lets_readers_in(self):
        writer, reader = self.claim(), self.reader(BOB)
        ear = self.ear(BOB)
        token = self.store.submit(writer)[1]
        self.store.submit(reader, queue=True)
        reply = self.store.convert(writer, SHARED)
        self.assertEqual(reply[:2], ["converted", token])
        self.assertEqual(self.told(ear)[0].split()[:2], ["granted", reader.id[17:]])
        self.assertEqual(self.store.convert(writer, SHARED)[0], "converted")
        self.assertEqual(self.store.renew(reader)[0], "alive")
        self.assertEqual(self.store.convert(reader, EXCLUSIVE)[:2], ["refused", "would_deadlock"])
        self.assertEqual(len(self.store.inspect(b"q")[5]), 2)
        self.assertEqual(self.store.settle(writer), "released")
        self.assertEqual(self.store.settle(reader), "released")
        self.assertNothingLeft()

    def test_a_withdrawn_writer_lets_readers_in(self):
        one, two, writer = self.reader(), self.reader(BOB), self.claim(CAROL)
        self.store.submit(one)
        self.store.submit(writer, queue=True)
        self.store.submit(two, queue=True)
        self.assertEqual(self.store.settle(writer), "released")
        self.assertEqual(self.store.renew(two)[0], "alive")


class Permits(Case):
    def permit(self, client=ALICE, **how):
        return self.claim(client, kind=SEMAPHORE, mode=PERMITS, **{"limit": 3, **how})

    def test_the_limit_is_agreed(self):
        one = self.permit(permits=2)
        self.assertHolds(self.store.submit(one))
        self.assertEqual(self.store.submit(self.permit(limit=4)), ["refused", "limit", 0, 3])
        self.assertRefused(self.store.submit(self.permit(permits=2)), "busy")
        two = self.permit()
        self.assertHolds(self.store.submit(two))
        self.assertEqual(self.store.adjust(one), ["adjusted", 3, 3, 3])
        self.assertEqual(self.store.adjust(one, current=5), ["adjusted", 3, 5, 3])
        for it in (one, two):
            self.store.settle(it)
        self.assertAllKeysEnd()  # a changed limit is remembered
        self.assertEqual(self.store.adjust(one), ["adjusted", 3, 5, 0])

    def test_barging_permits_pass_barging_waiters_but_not_fair_ones(self):
        holder, big = self.permit(permits=2), self.permit(BOB, permits=2)
        self.store.submit(holder)
        self.assertEqual(self.store.submit(big, queue=True)[0], "queued")
        small = self.permit()
        self.assertHolds(self.store.submit(small), contended=1)
        self.store.settle(small)
        fair = self.permit(CAROL, permits=3, fair=True)
        self.assertEqual(self.store.submit(fair, queue=True)[0], "queued")
        self.assertRefused(self.store.submit(self.permit()), "busy")
        self.store.settle(fair)
        self.assertHolds(self.store.submit(self.permit()), contended=1)

    def test_fewer_permits_let_others_in(self):
        one, two = self.permit(permits=3), self.permit(BOB, permits=2)
        self.store.submit(one)
        self.store.submit(two, queue=True)
        self.assertEqual(self.store.convert(one, PERMITS, 1)[0], "converted")
        self.assertEqual(self.store.renew(two)[0], "alive")
        self.assertEqual(self.store.convert(one, PERMITS, 2)[:2], ["refused", "would_deadlock"])

    def test_a_used_permit_sinks_the_limit(self):
        one, two = self.permit(), self.permit()
        self.store.submit(one)
        self.store.submit(two)
        self.store.settle(one, consume=True)
        self.assertEqual(self.store.adjust(two), ["adjusted", 3, 2, 1])

    def test_a_raised_limit_lets_in_as_many_as_fit(self):
        holder = self.permit(permits=3)
        waiting = [self.permit() for _ in range(4)]
        self.store.submit(holder)
        for it in waiting:
            self.store.submit(it, queue=True)
        self.store.adjust(holder, current=6)
        self.assertEqual([it[0] for it in self.store.renew(*waiting)], ["alive"] * 3 + ["waiting"])
        self.assertAllKeysEnd()


class Joined(Case):
    def owned(self, client, owner="me", **how):
        return self.claim(client, joins=True, owner=owner, **how)

    def lists(self):
        """Of those who wait to join."""
        return [it for it in self.link.hkeys(group(b"holdfast:", b"q")[1]) if it.startswith(b"@")]

    def test_claims_of_one_owner_are_one_hold(self):
        one, two, other = self.owned(ALICE), self.owned(BOB), self.claim(CAROL)
        token = self.assertHolds(self.store.submit(one))
        self.assertEqual(self.store.submit(other, queue=True)[0], "queued")
        self.assertEqual(self.assertHolds(self.store.submit(two), contended=1), token)
        self.assertRefused(self.store.submit(self.owned(CAROL, "you")), "busy")
        self.store.settle(one)
        self.assertEqual(self.store.renew(other)[0], "waiting")
        self.assertEqual(self.store.renew(two)[:2], ["alive", token])
        self.store.settle(two)
        self.assertEqual(self.store.renew(other)[0], "alive")
        self.store.settle(other)
        self.assertNothingLeft()

    def test_those_who_wait_come_in_together(self):
        holder = self.claim()
        mine = [self.owned(ALICE) for _ in range(3)]
        yours = [self.owned(BOB, "you") for _ in range(2)]
        self.store.submit(holder)
        for it in (mine[0], yours[0], mine[1], yours[1], mine[2]):
            self.store.submit(it, queue=True)
        self.assertEqual(self.store.settle(mine[1]), "released")  # it withdraws
        self.store.settle(holder)
        first = self.store.renew(mine[0], mine[2], *yours)
        self.assertEqual([it[0] for it in first], ["alive", "alive", "waiting", "waiting"])
        self.assertEqual(first[0][1], first[1][1])
        self.assertEqual(self.lists(), [b"@you"])
        self.store.settle(mine[0])
        self.store.settle(mine[2])
        second = self.store.renew(*yours)
        self.assertEqual([it[0] for it in second], ["alive", "alive"])
        self.assertEqual(second[0][1], second[1][1])
        self.assertEqual(self.lists(), [])
        for it in yours:
            self.store.settle(it)
        self.assertNothingLeft()


class Conditions(Case):
    def waiter(self, client=ALICE, **how):
        return self.claim(client, kind=CONDITION, mode=PERMITS, **how)

    def test_nobody_comes_in_by_itself(self):
        one = self.waiter()
        self.assertRefused(self.store.submit(one), "busy")
        self.assertNothingLeft()
        self.assertEqual(self.store.submit(one, queue=True), ["queued", 0])
        self.assertEqual(self.store.inspect(b"q"), ["none"])
        self.assertEqual(self.store.inspect(b"q", condition=True)[1:3], ["q", CONDITION])

    def test_a_notice_wakes_as_many_as_it_says(self):
        waiting = [self.waiter() for _ in range(4)]
        for it in waiting:
            self.store.submit(it, queue=True)
        self.store.adjust(waiting[0], wake=2)
        self.assertEqual([it[0] for it in self.store.renew(*waiting)], ["alive"] * 2 + ["waiting"] * 2)
        self.assertEqual(self.store.settle(waiting[0], consume=True), "released")
        self.assertEqual(self.store.settle(waiting[1], consume=True), "released")
        self.assertEqual(self.store.renew(waiting[2])[0], "waiting")
        self.store.adjust(waiting[0], wake=9)
        self.assertEqual([it[0] for it in self.store.renew(*waiting[2:])], ["alive"] * 2)
        for it in waiting[2:]:
            self.store.settle(it, consume=True)
        self.assertNothingLeft()

    def test_a_notice_of_one_who_died_passes_on(self):
        one, two = self.waiter(), self.waiter(BOB)
        self.store.submit(one, queue=True)
        self.store.submit(two, queue=True)
        self.store.adjust(one, wake=1)
        self.assertEqual(self.store.settle(one), "released")  # without using it up
        self.assertEqual(self.store.renew(two)[0], "alive")

    def test_an_unheard_notice_is_forgotten(self):
        one, two = self.waiter(), self.waiter()
        self.assertEqual(self.store.adjust(one, wake=1), ["adjusted", 0, 0, 0])
        self.assertNothingLeft()
        self.store.submit(one, queue=True)
        self.store.adjust(one, wake=5)
        self.store.settle(one)
        self.assertEqual(self.store.submit(two, queue=True)[0], "queued")
        self.assertEqual(self.store.renew(two)[0], "waiting")

    def test_a_notice_that_comes_back_when_nobody_waits_is_forgotten(self):
        one, two, late = (self.waiter() for _ in range(3))
        self.store.submit(one, queue=True)
        self.store.submit(two, queue=True)
        self.store.adjust(one, wake=2)
        self.store.settle(one)  # without using it up; the other is still there
        self.assertRefused(self.store.submit(late), "busy")


if __name__ == "__main__":
    unittest.main()
