"""Thousands of random requests, compared reply by reply and message by message with a model of the rules.

The model judges at the moment that the reply names, so leases may end in between. The seed is printed;
HOLDFAST_SEED=N repeats one.
"""

import os
import random
import unittest

from case import ALICE, BOB, CAROL, Case
from model import Model
from store import CONDITION, EXCLUSIVE, LOCK, LONG, PERMITS, SEMAPHORE, SHARED, Claim, group

STEPS = 6000


class Against(Case):
    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get("HOLDFAST_SEED", random.randrange(10**9)))
        print(f"seed {self.seed}", flush=True)
        self.random = random.Random(self.seed)
        self.model = Model()
        self.hearing = self.server.connect().pubsub(ignore_subscribe_messages=True)
        self.addCleanup(self.hearing.close)
        self.hearing.psubscribe("holdfast:client:*")
        self.hearing.get_message(timeout=5)
        self.claims, self.made = [], 0
        self.to_holder = 0  # how often the one that holds is chosen

    def heard(self):
        self.link.publish("holdfast:client:end", b"")
        texts = []
        while True:
            message = self.hearing.get_message(timeout=5)
            self.assertIsNotNone(message)
            client = message["channel"].decode().rsplit(":", 1)[1]
            if client == "end":
                return texts
            texts.append((client, message["data"].decode()))

    def fresh(self, make):
        self.made += 1
        lease = self.random.choice([LONG] * 12 + [2, 5])
        claim = make(f"{self.random.choice([ALICE, BOB, CAROL])}-{self.made:016x}", lease)
        claim.owned = self.random.random() < 0.3
        self.claims.append(claim)
        del self.claims[:-30]
        return claim

    def holder(self):
        holding = [it.claim for name in self.model.names.values() for it in name.holders.values()]
        return self.random.choice(holding) if holding else None

    def step(self, make):
        pick, store, model = self.random.choice, self.store, self.model
        claim = self.fresh(make) if not self.claims or self.random.random() < 0.3 else pick(self.claims)
        if self.random.random() < self.to_holder:
            claim = self.holder() or claim
        verb = pick(["submit"] * 6 + ["settle"] * 5 + ["renew"] * 3 + ["convert", "adjust", "evict", "inspect"])
        if verb == "submit":
            arguments = (pick([True, True, False]),)
            reply = store.submit(claim, queue=arguments[0])
        elif verb == "settle":
            keep_for = pick([0] * 11 + [1, 3, 30])
            bar = pick([0] * 6 + [store.time() + pick([-1, 500, 2000])])
            arguments = (keep_for, bar, pick([False] * 5 + [True]))
            reply = store.settle(claim, *arguments)
        elif verb == "renew":
            arguments = (pick([claim.lease, 1, LONG]),)
            reply = store.renew(claim, lease=arguments[0])
        elif verb == "convert":
            arguments = (pick([EXCLUSIVE, SHARED, PERMITS]) if claim.kind == LOCK else PERMITS, pick([1, 1, 2]))
            if claim.kind == LOCK and arguments[0] == PERMITS:
                arguments = (SHARED, 1)
            reply = store.convert(claim, *arguments)
        elif verb == "adjust":
            wake = pick([0, 1, 2]) if claim.kind == CONDITION else 0
            arguments = (pick([None, None, 2, 4]) if claim.kind == SEMAPHORE else None, wake)
            reply = store.adjust(claim, *arguments)
        elif verb == "evict":
            arguments = (pick(["", claim.id, claim.id]),)
            reply = store.evict(claim.name, *arguments, condition=claim.kind == CONDITION)
        else:
            arguments = ()
            reply = store.inspect(claim.name, condition=claim.kind == CONDITION)
        model.now, model.notices = store.now, []
        expected = getattr(model, verb)(claim, *arguments)
        what = f"seed {self.seed}: {verb} {claim} {arguments}"
        self.assertEqual(reply, expected, what)
        self.assertEqual(sorted(self.heard()), sorted(model.notices), what)
        self.assertAllKeysEnd()
        self.assertWaited(what)

    def assertWaited(self, what):
        """Whoever waits and has an owner is in the index, for as long as it lives."""
        index = dict(self.link.zrange(self.store.waited, 0, -1, withscores=True))
        for (name, condition), known in self.model.names.items():
            until = [it.expires for it in known.line if it.claim.owned and it.expires > self.model.now]
            if until:
                self.assertGreaterEqual(index.get(group(self.store.prefix, name, condition)[0], 0), max(until), what)

    def compare(self, make):
        for _ in range(STEPS):
            self.step(make)
        self.end_all()

    def end_all(self):
        """Nothing is left of names without claims but what is remembered on purpose: bars and changed limits."""
        expected = set()
        for name, condition in [(b"x", False), (b"y", False), (b"x", True)]:
            known = self.store.inspect(name, condition=condition)
            while known != ["none"] and known[5] + known[6]:
                for it in known[5] + known[6]:
                    self.store.evict(name, it[0], condition=condition)
                known = self.store.inspect(name, condition=condition)
            record, *_, bars, _ = group(self.store.prefix, name, condition)
            if known != ["none"]:
                expected |= {record}
            if self.link.exists(bars):
                expected |= {record, bars}
        self.assertLessEqual(set(self.keys()), expected)

    def test_mutex_and_shared(self):
        def make(id, lease):
            return Claim(id, self.random.choice([b"x", b"y"]), LOCK, self.random.choice([EXCLUSIVE, EXCLUSIVE, SHARED]),
                         fair=self.random.random() < 0.5, lease=lease)
        self.compare(make)

    def test_hand_over_along_a_line(self):
        """Mostly what the fast paths do, with a little of all that they must leave to the rules."""
        self.to_holder = 0.3

        def make(id, lease):
            return Claim(id, b"x", LOCK, SHARED if self.random.random() < 0.03 else EXCLUSIVE, lease=lease,
                         fair=self.random.random() < 0.8, joins=self.random.random() < 0.03, owner="m",
                         info=f"5:label,{self.made}".encode())
        self.compare(make)

    def test_owners_that_join(self):
        def make(id, lease):
            return Claim(id, b"x", LOCK, lease=lease, joins=self.random.random() < 0.7, owner=self.random.choice("mny"))
        self.compare(make)

    def test_permits(self):
        def make(id, lease):
            return Claim(id, self.random.choice([b"x", b"y"]), SEMAPHORE, PERMITS, self.random.choice([1, 1, 2]),
                         self.random.choice([3] * 9 + [4]), self.random.random() < 0.4, lease)
        self.compare(make)

    def test_conditions(self):
        def make(id, lease):
            return Claim(id, b"x", CONDITION, PERMITS, fair=True, lease=lease)
        self.compare(make)

    def test_kinds_beside_each_other(self):
        def make(id, lease):
            kind = self.random.choice([LOCK, SEMAPHORE, CONDITION])
            return Claim(id, b"x", kind, EXCLUSIVE if kind == LOCK else PERMITS, limit=3 if kind == SEMAPHORE else 0,
                         lease=lease)
        self.compare(make)


if __name__ == "__main__":
    unittest.main()
