"""Many submits and settlements in one call: each as if it came alone, or left for a call of its own."""

import unittest

import redis

from case import ALICE, BOB, Case
from store import LATER, SEMAPHORE, PERMITS, compose, group


class Many(Case):
    def many(self, ends=(), wanted=(), not_after=LATER):
        """What became of each: the sequence of a grant, True for an end, None for one that was left."""
        keys = [self.store.mark, *(group(b"holdfast:", it.name)[0] for it in (*ends, *wanted))]
        arguments = [len(ends), *(it.id for it in ends)]
        for it in wanted:
            arguments += [*it.arguments(), not_after]
        script = self.store._loaded.setdefault("many", self.link.script_load(compose("many")))
        self.now, number, done = self.link.evalsha(script, len(keys), *keys, *arguments)
        self.assertEqual(len(done), len(ends) + len(wanted))
        out = [True if digit == ord("1") else None for digit in done[:len(ends)]]
        for digit in done[len(ends):]:
            out.append(number if digit == ord("1") else None)
            number += digit == ord("1")
        return out

    def claims(self, *names, **how):
        return [self.claim(name=it, **how) for it in names]

    def test_each_is_as_if_it_came_alone(self):
        one, two = self.claims(b"a", b"b", owner="me", info=b"who")
        numbers = self.many(wanted=[one, two])
        self.assertLess(numbers[0], numbers[1])
        self.assertEqual(int(self.link.get(self.store.mark)), numbers[1])
        alone = self.claim(name=b"c", owner="me", info=b"who")
        self.store.submit(alone)
        self.assertAllKeysEnd()
        for it, number in zip((one, two), numbers):
            found, expected = self.store.inspect(it.name), self.store.inspect(b"c")
            holder, other = found[5][0], expected[5][0]
            self.assertEqual(holder[:2], [it.id, number])
            self.assertEqual((holder[2:4], holder[6]), (other[2:4], other[6]))
            self.assertEqual(holder[4:6], [self.now, self.now + it.lease * 1000])
            self.assertEqual(self.link.strlen(group(b"holdfast:", it.name)[0]),
                             self.link.strlen(group(b"holdfast:", b"c")[0]))
        self.assertEqual(self.store.submit(one)[1], numbers[0], "it came twice")
        self.assertEqual(self.many(ends=[one, two, alone]), [True] * 3)
        self.assertNothingLeft()

    def test_tokens_rise_over_a_mark_that_is_ahead(self):
        ahead = self.store.time() + 3_600_000_000
        self.link.set(self.store.mark, ahead)
        numbers = self.many(wanted=self.claims(b"a", b"b", b"c"))
        self.assertEqual(numbers, [ahead + 1, ahead + 2, ahead + 3])
        self.assertGreater(self.store.submit(self.claim(name=b"d"))[1], numbers[2])

    def test_what_is_not_usual_is_left_untouched(self):
        held, other, late = self.claims(b"held", b"other", b"late")
        self.store.submit(held)
        waiting = self.claim(BOB, name=b"held")
        self.store.submit(waiting, queue=True)
        self.store.submit(other)
        before = {key: self.link.dump(key) for key in self.link.keys("*") if key != self.store.mark}
        again = self.claim(BOB, name=b"other")
        nobody = self.claim(name=b"nobody's")
        self.assertEqual(self.many(ends=[held, again, nobody], wanted=[self.claim(name=b"other")]), [None] * 4)
        self.assertEqual(self.many(wanted=[late], not_after=1), [None])
        self.assertEqual({key: self.link.dump(key) for key in self.link.keys("*") if key != self.store.mark}, before)

    def test_one_ends_and_the_next_of_the_same_name_holds(self):
        one, two = self.claims(b"a", b"a")
        first = self.store.submit(one)[1]
        ended, number = self.many(ends=[one], wanted=[two])
        self.assertTrue(ended)
        self.assertGreater(number, first)
        self.assertEqual(self.store.settle(two), "released")

    def test_a_lease_that_is_over_is_not_released(self):
        one = self.claim(lease=2)
        self.store.submit(one)
        self.store.wait_past(self.store.now + 2000)
        self.assertEqual(self.many(ends=[one]), [None])
        self.assertEqual(self.store.settle(one), "gone")

    def test_others_keys_are_left(self):
        self.link.hset(group(b"holdfast:", b"a")[0], "theirs", 1)
        ends, wanted = self.claims(b"a", b"b"), self.claims(b"a", b"c")
        self.store.submit(ends[1])
        result = self.many(ends=ends, wanted=wanted)
        self.assertEqual(result[:3], [None, True, None])
        self.assertIsNotNone(result[3])
        self.assertEqual(self.link.hget(group(b"holdfast:", b"a")[0], "theirs"), b"1")

    def test_a_mark_that_is_not_ours_stops_no_release(self):
        one = self.claim(name=b"a")
        self.store.submit(one)
        self.link.delete(self.store.mark)
        self.link.hset(self.store.mark, "theirs", 1)
        self.assertEqual(self.many(ends=[one], wanted=self.claims(b"b")), [True, None])
        with self.assertRaisesRegex(redis.exceptions.RedisError, "WRONGTYPE"):
            self.store.submit(self.claim(name=b"b"))
        self.link.delete(self.store.mark)
        self.assertNothingLeft()

    def test_out_of_memory_releases_go_on(self):
        one = self.claim(name=b"a")
        self.store.submit(one)
        self.many()
        self.addCleanup(self.link.config_set, "maxmemory", 0)
        self.link.config_set("maxmemory", 1)
        self.assertEqual(self.many(ends=[one], wanted=self.claims(b"b")), [True, None])
        self.assertNothingLeft()

    def test_a_read_only_server_changes_nothing(self):
        one = self.claim(name=b"a")
        self.store.submit(one)
        self.many()
        self.addCleanup(self.link.execute_command, "REPLICAOF", "NO", "ONE")
        self.link.execute_command("REPLICAOF", "127.0.0.1", 1)
        with self.assertRaisesRegex(redis.exceptions.RedisError, "READONLY|read only"):
            self.many(ends=[one], wanted=self.claims(b"b"))
        self.assertEqual(self.link.exists(group(b"holdfast:", b"a")[0]), 1)

    def test_when_it_fails_as_a_whole_only_the_mark_has_moved(self):
        one = self.claim(name=b"a")
        given = self.store.submit(one)[1]
        self.many()
        before = {key: self.link.dump(key) for key in self.keys()}
        self.link.execute_command("ACL", "SETUSER", "able", "on", "nopass", "~*", "&*", "+@all", "-del")
        able = self.server.connect()
        self.addCleanup(able.close)
        able.connection_pool.connection_kwargs.update(username="able", password="x")
        self.link, usual = able, self.link
        with self.assertRaises(redis.exceptions.RedisError):
            self.many(ends=[one], wanted=self.claims(b"b", b"c"))
        self.link = usual
        self.assertEqual({key: self.link.dump(key) for key in self.keys()}, before)
        mark = int(self.link.get(self.store.mark))
        self.assertGreater(mark, given)
        self.assertGreater(self.many(wanted=self.claims(b"b"))[0], mark)

    def test_permits_too(self):
        pool = dict(kind=SEMAPHORE, mode=PERMITS, limit=3)
        one, two = self.claim(name=b"pool", **pool), self.claim(name=b"pool", **pool)
        self.assertIsNotNone(self.many(wanted=[one])[0])
        self.assertEqual(self.many(wanted=[two]), [None], "beside another it takes the script of its own")
        self.assertHolds(self.store.submit(two))
        self.assertEqual(self.many(ends=[one]), [None])
        self.assertEqual([self.store.settle(it) for it in (one, two)], ["released", "released"])
        self.assertNothingLeft()

    def test_commands_inside(self):
        """A few for all, and one for each grant."""
        claims = self.claims(*(b"n%d" % i for i in range(50)))
        self.many()
        for call, most in ((lambda: self.many(wanted=claims), 52), (lambda: self.many(ends=claims), 3)):
            self.link.config_resetstat()
            call()
            stats = self.link.info("commandstats")
            inside = sum(it["calls"] for name, it in stats.items()
                         if name.split("_", 1)[1] in ("time", "get", "mget", "set", "del", "setrange"))
            self.assertLessEqual(inside, most)


if __name__ == "__main__":
    unittest.main()
