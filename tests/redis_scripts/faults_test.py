"""Trouble inside the server leaves nothing half-done: out of memory, read-only, foreign keys, a lost script."""

import contextlib
import unittest

import redis

from case import ALICE, BOB, CAROL, Case
from store import LATCH, LATER, LOCK, PERMITS, SCRIPTS, SEMAPHORE, SHARED, compose, group

NO_WRITES = (("maxmemory", "OOM"), ("min-replicas-to-write", "NOREPLICAS"))


class Faults(Case):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.link.config_set, "maxmemory", 0)
        self.addCleanup(self.link.execute_command, "REPLICAOF", "NO", "ONE")

    def snapshot(self):
        return {key: (self.link.type(key), self.link.dump(key)) for key in self.link.keys("*")}

    def assertChangesNothing(self, words, call, *arguments, **how):
        before = self.snapshot()
        with self.assertRaisesRegex(redis.exceptions.RedisError, words):
            call(*arguments, **how)
        self.assertEqual(self.snapshot(), before)

    def crowd(self):
        """Two readers hold, a writer and a reader wait."""
        claims = [self.claim(ALICE, mode=SHARED), self.claim(BOB, mode=SHARED), self.claim(CAROL, owned=True),
                  self.claim(ALICE, mode=SHARED)]
        for it in claims:
            self.store.submit(it, queue=True)
        return claims

    def writers(self, name=b"w"):
        """One holds, three wait: the fast paths."""
        claims = [self.claim(name=name, fair=True, owned=True) for _ in range(4)]
        for it in claims:
            self.store.submit(it, queue=True)
        return claims

    def load(self):
        """All scripts are known before memory ends."""
        for it in ("submit", "settle", "renew", "convert", "adjust", "swap", "watch", "evict"):
            self.store._loaded[it] = self.link.script_load(compose(it))

    def test_out_of_memory_nothing_new_but_what_is_held_goes_on(self):
        self.load()
        solo = self.claim(name=b"solo")
        self.store.submit(solo)
        self.store.swap(b"cell", 0, b"1", operation="1")
        one, two, writer, late = self.crowd()
        self.link.config_set("maxmemory", 1)
        self.assertChangesNothing("OOM", self.store.submit, self.claim(name=b"new"))
        self.assertChangesNothing("OOM", self.store.submit, self.claim(), queue=True)
        self.assertChangesNothing("OOM", self.store.submit, self.claim(name=b"n1"), self.claim(name=b"n2"))
        self.assertChangesNothing("OOM", self.store.swap, b"other", 0, b"1", operation="2")
        self.assertChangesNothing("OOM", self.store.watch, ALICE, b"other")
        self.assertEqual(self.store.renew(solo)[0], "alive")
        self.assertEqual([it[0] for it in self.store.renew(one, writer)], ["alive", "waiting"])
        self.assertEqual(self.store.settle(solo), "released")
        for it in (one, two):
            self.assertEqual(self.store.settle(it), "released")
        self.assertEqual(self.store.convert(writer, SHARED)[0], "converted")
        self.assertEqual(self.store.renew(late)[0], "alive")
        self.assertEqual(self.store.evict(b"q"), 2)

    @contextlib.contextmanager
    def refusing_writes(self, option, word):
        self.link.config_set(option, 1)
        try:
            with self.subTest(word):
                yield
        finally:
            self.link.config_set(option, 0)

    def test_what_needs_no_write_is_answered_by_a_server_that_refuses_to_write(self):
        self.load()
        held, pool = self.claim(), self.claim(name=b"pool", kind=SEMAPHORE, mode=PERMITS, limit=1)
        number = self.store.submit(held)[1]
        self.store.submit(pool)
        before = self.snapshot()
        for option, word in NO_WRITES:
            with self.refusing_writes(option, word):
                self.assertRefused(self.store.submit(self.claim()), "busy")
                full = self.claim(name=b"pool", kind=SEMAPHORE, mode=PERMITS, limit=1)
                self.assertRefused(self.store.submit(full), "busy")
                self.assertRefused(self.store.submit(self.claim(name=b"pool")), "kind")
                self.assertEqual(self.store.submit(held)[:2], ["granted", number], "it came twice")
                self.assertChangesNothing(word, self.store.submit, self.claim(name=b"free"))
                self.assertChangesNothing(word, self.store.submit, self.claim(), queue=True)
        self.assertEqual(self.snapshot(), before)

    def test_many_on_a_server_that_refuses_to_write(self):
        self.load()
        script = self.link.script_load(compose("many"))
        held, wanted = self.claim(), self.claim(name=b"free")
        self.store.submit(held)
        keys = [self.store.mark, group(b"holdfast:", b"q")[0], group(b"holdfast:", b"free")[0]]
        def many():
            return self.link.evalsha(script, 3, *keys, 1, held.id, *wanted.arguments(), LATER)[2]

        with self.refusing_writes("min-replicas-to-write", "NOREPLICAS"):
            self.assertChangesNothing("NOREPLICAS", many)
        with self.refusing_writes("maxmemory", "OOM"):
            self.assertEqual(many(), b"10", "who lets go may do so")

    def test_out_of_memory_a_line_goes_on(self):
        self.load()
        line, alone = self.writers(), self.claim(name=b"alone")
        self.store.submit(alone)
        self.link.config_set("maxmemory", 1)
        self.assertChangesNothing("OOM", self.store.submit, self.claim(name=b"w"), queue=True)
        self.assertChangesNothing("OOM", self.store.submit, self.claim(name=b"alone"), queue=True)
        self.assertEqual(self.store.settle(line[2]), "released")
        for it in (line[0], line[1], line[3]):
            self.assertEqual(self.store.renew(it)[0], "alive")
            self.assertEqual(self.store.settle(it), "released")
        self.store.settle(alone)
        self.assertNothingLeft()

    def test_a_replica_refuses_and_changes_nothing(self):
        self.load()
        first, second, *_ = self.writers()
        one, two, writer, late = self.crowd()
        self.store.swap(b"cell", 0, b"1", operation="1")
        self.link.execute_command("REPLICAOF", "127.0.0.1", "1")
        for call in (lambda: self.store.submit(self.claim(name=b"new")),
                     lambda: self.store.submit(self.claim(), queue=True),
                     lambda: self.store.submit(self.claim(name=b"w"), queue=True),
                     lambda: self.store.settle(first), lambda: self.store.renew(first),
                     lambda: self.store.renew(second),
                     lambda: self.store.settle(one), lambda: self.store.settle(writer), lambda: self.store.renew(two),
                     lambda: self.store.renew(late), lambda: self.store.evict(b"q"),
                     lambda: self.store.watch(ALICE, b"q"),
                     lambda: self.store.swap(b"fresh", 0, b"1", operation="3")):
            self.assertChangesNothing("READONLY|read.only", call)

    def test_a_foreign_key_in_the_place_of_a_record(self):
        record = group(b"holdfast:", b"q")[0]
        for make, words in ((lambda: self.link.rpush(record, "x"), "WRONGTYPE"),
                            (lambda: self.link.set(record, "theirs"), "HOLDFAST the key .*not a record of ours"),
                            (lambda: self.link.set(record, ""), "HOLDFAST the key .*not a record of ours")):
            self.link.flushall()
            make()
            one = self.claim()
            for call in (self.store.submit, self.store.settle, self.store.renew):
                self.assertChangesNothing(words, call, one)
            self.assertChangesNothing(words, self.store.convert, one, SHARED)
            self.assertChangesNothing(words, self.store.adjust, one)
            self.assertChangesNothing(words, self.store.swap, b"q", 0, b"1", operation="1")
            self.assertChangesNothing(words, self.store.watch, ALICE, b"q")
            self.assertChangesNothing(words, self.store.inspect, b"q")
            self.assertChangesNothing(words, self.store.evict, b"q")

    def test_a_foreign_key_in_the_place_of_another(self):
        _, claims, holders, bars, extra = group(b"holdfast:", b"q")
        one = self.claim()
        later = self.store.time() + 10**9
        self.link.set(bars, "theirs")
        self.assertChangesNothing("WRONGTYPE", self.store.settle, one, bar_until=later)
        holder, waiter = self.claim(), self.claim()
        self.store.submit(holder)
        self.store.submit(waiter, queue=True)
        self.assertChangesNothing("WRONGTYPE", self.store.settle, holder, bar_until=later)
        self.link.set(extra, "theirs")
        self.assertChangesNothing("WRONGTYPE", self.store.watch, ALICE, b"q")
        self.assertChangesNothing("WRONGTYPE", self.store.swap, b"q", 0, b"1", kind=LOCK, operation="1")
        self.assertChangesNothing("WRONGTYPE", self.store.read, b"q", LATCH)
        for key in (claims, holders):
            self.link.flushall()
            crowd = self.crowd()
            self.link.delete(key)
            self.link.set(key, "theirs")
            with self.subTest(key):
                for it in crowd[:2]:
                    self.assertChangesNothing("WRONGTYPE", self.store.settle, it)
                self.assertChangesNothing("WRONGTYPE", self.store.submit, self.claim(), queue=True)

        self.link.flushall()
        first, second, *_ = self.writers()
        self.link.delete(group(b"holdfast:", b"w")[1])
        self.link.set(group(b"holdfast:", b"w")[1], "theirs")
        for call in (lambda: self.store.settle(first), lambda: self.store.settle(second),
                     lambda: self.store.renew(second), lambda: self.store.submit(self.claim(name=b"w"), queue=True)):
            self.assertChangesNothing("WRONGTYPE", call)

    def test_a_foreign_mark_in_a_hand_over(self):
        first, second, *_ = self.writers()
        self.link.delete(self.store.mark)
        self.link.rpush(self.store.mark, "theirs")
        self.assertChangesNothing("WRONGTYPE", self.store.settle, first)
        self.link.delete(self.store.mark)
        self.link.set(self.store.mark, first_mark := 1 << 52)
        self.assertEqual(self.store.settle(first), "released")
        self.assertEqual(self.store.renew(second)[1], first_mark + 1)  # a mark ahead of the clock goes on rising
        self.assertEqual(int(self.link.get(self.store.mark)), first_mark + 1)

    def test_a_foreign_mark(self):
        self.link.rpush(self.store.mark, "theirs")
        self.assertChangesNothing("WRONGTYPE", self.store.submit, self.claim())
        self.link.delete(self.store.mark)
        one, two, writer, _ = self.crowd()
        self.store.settle(one)
        self.link.delete(self.store.mark)
        self.link.rpush(self.store.mark, "theirs")
        self.assertChangesNothing("WRONGTYPE", self.store.settle, two)
        self.link.delete(self.store.mark)
        self.assertEqual(self.store.settle(two), "released")
        self.assertEqual(self.store.renew(writer)[0], "alive")

    def test_a_message_that_may_not_be_sent_undoes_nothing(self):
        self.link.execute_command("ACL", "SETUSER", "mute", "on", "nopass", "+@all", "~*", "resetchannels")
        one, two = self.claim(), self.claim()
        self.store.submit(one)
        self.store.submit(two, queue=True)
        self.link.execute_command("AUTH", "mute", "x")
        self.assertEqual(self.store.settle(one), "released")
        self.assertEqual(self.store.renew(two)[0], "alive")

    def test_scripts_need_no_more_rights_than_they_say(self):
        text = (SCRIPTS / "CONVENTION.md").read_text()
        rights = text.split("A user with an ACL needs: `")[1].split("`")[0].lower().split()
        self.link.execute_command("ACL", "SETUSER", "lean", "on", "nopass", "resetkeys", "~holdfast:*", "resetchannels",
                                  "&holdfast:client:*", "-@all", *[f"+{it}" for it in rights])
        lean = self.server.connect()
        self.addCleanup(lean.close)
        lean.connection_pool.connection_kwargs.update(username="lean", password="x")
        self.store.link = lean
        line = self.writers()
        self.store.renew(line[0])
        for it in (line[2], line[0], line[1], line[3]):
            self.store.settle(it)
        one, two, writer, late = self.crowd()
        self.store.watch(BOB, b"q")
        self.store.settle(one, bar_until=self.store.now + 10**6)
        self.store.settle(two)
        self.store.convert(writer, SHARED)
        self.store.renew(writer, late)
        self.store.adjust(writer)
        version = self.store.swap(b"c", 0, b"1", operation="1")[1]
        self.store.swap(b"c", version, operation="2", remove=True)
        self.store.read(b"c")
        self.store.inspect(b"q")
        self.store.evict(b"q")
        self.store.watch(BOB, b"q", on=False)
        self.store.submit(holder := self.claim(name=b"w", lease=20))
        self.store.submit(self.claim(name=b"w", owned=True, lease=20), queue=True)
        self.store.wait_past(self.store.now + 2 * 20_000)
        self.assertEqual(self.store.waited_for(), [])
        self.assertEqual(self.store.settle(holder), "gone")


if __name__ == "__main__":
    unittest.main()
