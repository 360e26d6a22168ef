"""holdfast latch: counted down and waited for by several processes."""

import sandbox
from synchronizer import ENDING, LOST, NOT_IN_TIME, UNAVAILABLE, USAGE, Synchronizer


class Counting(Synchronizer):
    def test_declared_and_counted_down(self):
        self.assertEqual(self.succeeds("latch", "x", "--count", "3"), "")
        self.assertEqual(self.succeeds("latch", "x"), "3\n")
        self.assertEqual(self.succeeds("latch", "x", "--down"), "")
        self.assertEqual(self.succeeds("latch", "x"), "2\n")
        self.assertEqual(self.succeeds("latch", "x", "--down", "5"), "")
        self.assertEqual(self.succeeds("latch", "x"), "0\n")
        self.assertEqual(self.succeeds("latch", "x", "--wait"), "")

    def test_the_first_count_is_kept(self):
        self.succeeds("latch", "x", "--count", "3", "--down")
        self.succeeds("latch", "x", "--count", "3")
        self.assertEqual(self.succeeds("latch", "x"), "2\n")
        self.assertIn("3", self.fails(USAGE, "latch", "x", "--count", "4"))
        self.fails(USAGE, "latch", "x", "--count", "4", "--down")
        self.fails(USAGE, "latch", "x", "--count", "4", "--wait")
        self.assertEqual(self.succeeds("latch", "x"), "2\n")

    def test_none_is_open_at_once(self):
        self.assertEqual(self.succeeds("latch", "x", "--count", "0", "--wait"), "")

    def test_all_in_one(self):
        self.assertEqual(self.succeeds("latch", "x", "--count", "1", "--down", "--wait", "--json").count("\n"), 8)

    def test_where_nobody_declared_it(self):
        self.assertIn("there is no latch x", self.fails(1, "latch", "x"))
        self.fails(1, "latch", "x", "--json")
        self.fails(USAGE, "latch", "x", "--down")
        for wait in ("0", "300ms"):
            self.assertIn("nobody has declared it", self.fails(NOT_IN_TIME, "latch", "x", "--wait", wait))
        self.assertEqual(self.succeeds("list"), "")

    def test_json(self):
        expected = {"name": "x", "kind": "latch", "holders": [], "waiters": [], "limit": 3, "count": 2}
        self.assertEqual(self.object("latch", "x", "--count", "3", "--down", "--json"), expected)
        self.assertEqual(self.object("latch", "--json", "x"), expected)
        self.assertEqual(self.object("show", "--json", "x"), expected)
        self.assertEqual(self.object("list", "--json"), [expected])

    def test_for_people(self):
        self.succeeds("latch", "x", "--count", "3", "--down")
        self.assertEqual(self.succeeds("show", "x"), "x  latch, 2 of 3 left\n")
        self.assertEqual(self.listed("x")[0]["STATE"], "2 of 3 left")
        self.succeeds("latch", "x", "--down", "2")
        self.assertEqual(self.succeeds("show", "x"), "x  latch, 0 of 3 left, open\n")

    def test_none_is_lost_between_processes(self):
        self.succeeds("latch", "x", "--count", "40")
        workers = [self.start("latch", "x", "--down") for _ in range(12)]
        for worker in workers:
            self.ends(worker, 0)
        self.assertEqual(self.succeeds("latch", "x"), "28\n")


class Again(Synchronizer):
    def test_every_day(self):
        """The deployment of README."""
        for _ in range(3):
            self.succeeds("latch", "migrated", "--reset", "1")
            hosts = [self.start_waiting("latch", "migrated", "--wait") for _ in range(2)]
            self.succeeds("latch", "migrated", "--down")
            for host in hosts:
                self.assertEqual(self.ends(host, 0), "")

    def test_reset(self):
        self.assertIn("--reset N", self.fails(USAGE, "latch", "x", "--reset"))
        self.succeeds("latch", "x", "--reset", "3")
        self.succeeds("latch", "x", "--down", "3")
        self.succeeds("latch", "x", "--reset")
        self.assertEqual(self.succeeds("latch", "x"), "3\n")
        self.succeeds("latch", "--reset", "x")
        self.succeeds("latch", "--reset", "2", "x", "--down")
        self.assertEqual(self.succeeds("latch", "x"), "1\n")
        self.assertEqual(self.object("latch", "x", "--reset", "--json")["count"], 2)
        self.fails(USAGE, "latch", "x", "--reset", "many")

    def test_count_does_not_close_an_open_one(self):
        self.succeeds("latch", "x", "--count", "2", "--down", "2")
        for words in ([], ["--down"], ["--wait"]):
            self.assertIn("'holdfast latch x --reset 2'", self.fails(USAGE, "latch", "x", "--count", "2", *words))
        self.succeeds("latch", "y", "--count", "0")
        self.succeeds("latch", "y", "--count", "0")

    def test_delete(self):
        self.succeeds("latch", "x", "--delete")
        self.succeeds("latch", "x", "--count", "2", "--down", "2")
        self.succeeds("latch", "x", "--delete")
        self.assertEqual(self.succeeds("list"), "")
        self.fails(1, "latch", "x")
        self.succeeds("latch", "x", "--count", "1")
        self.assertEqual(self.succeeds("latch", "x"), "1\n")
        for words in (["--count", "1"], ["--down"], ["--wait"], ["--reset"]):
            self.fails(USAGE, "latch", "x", "--delete", *words)

    def test_who_waits_is_told(self):
        for words in (["--reset"], ["--reset", "1"], ["--delete"]):
            with self.subTest(words=words):
                self.succeeds("latch", "x", "--reset", "1")
                waiters = [self.start("latch", "x", *more) for more in (["--count", "1", "--wait"], ["--wait"], ["--wait", "1h"])]

                # A wait is for the round that it finds, or the next: this is repeated until all wait.
                def told():
                    self.succeeds("latch", "x", "--count", "1")
                    self.succeeds("latch", "x", *words)
                    return all(waiter.poll() is not None for waiter in waiters)
                sandbox.until(told, "all are told")
                for waiter in waiters:
                    self.assertIn("x was reset or deleted while it was waited for", self.ends(waiter, LOST))

    def test_evict_says_what_to_use(self):
        self.succeeds("latch", "x", "--count", "2")
        text = self.fails(USAGE, "evict", "x")
        self.assertIn("latch x --reset", text)
        self.assertIn("latch x --delete", text)
        self.assertEqual(self.succeeds("latch", "x"), "2\n")


class Waiting(Synchronizer):
    def test_many_wait_for_the_last(self):
        self.succeeds("latch", "x", "--count", "2")
        waiters = [self.start_waiting("latch", "x", *words)
                   for words in (["--wait"], ["--wait", "60s"], ["--count", "2", "--wait"])]
        self.succeeds("latch", "x", "--down")
        for waiter in waiters:
            self.assertIsNone(waiter.poll())
        self.succeeds("latch", "x", "--down")
        for waiter in waiters:
            self.assertEqual(self.ends(waiter, 0), "")

    def test_for_one_that_is_declared_later(self):
        waiter = self.start_waiting("latch", "x", "--wait")
        self.succeeds("latch", "x", "--count", "1")
        self.succeeds("latch", "x", "--down")
        self.ends(waiter, 0)

    def test_arriving_and_waiting(self):
        parties = [self.start("latch", "x", "--count", "3", "--down", "--wait") for _ in range(3)]
        for party in parties:
            self.ends(party, 0)

    def test_not_in_time(self):
        self.succeeds("latch", "x", "--count", "2")
        for wait in ("0", "300ms", "1s"):
            with self.subTest(wait=wait):
                self.assertIn("2 left", self.fails(NOT_IN_TIME, "latch", "x", "--wait", wait))
        self.assertEqual(self.run_to_end("latch", "x", "--wait", "300ms", "--quiet"), (NOT_IN_TIME, "", ""))
        status, stdout, _ = self.run_to_end("latch", "x", "--wait", "300ms", "--quiet", "--json")
        self.assertEqual(status, NOT_IN_TIME)
        self.assertIn('"count": 2', stdout)

    def test_signals(self):
        self.succeeds("latch", "x", "--count", "1")
        before = self.object("show", "--json", "x")
        for number in ENDING:
            for words in (["--wait"], ["--wait", "1h", "--json"]):
                with self.subTest(signal=number, words=words):
                    waiter = self.start_waiting("latch", "x", *words)
                    waiter.send_signal(number)
                    self.assertEqual(self.ends(waiter, 128 + number), "")
        self.assertEqual(self.object("show", "--json", "x"), before)

    def test_killed(self):
        self.succeeds("latch", "x", "--count", "1")
        waiter = self.start_waiting("latch", "x", "--wait")
        waiter.kill()
        self.succeeds("latch", "x", "--down")
        self.succeeds("latch", "x", "--wait", "5s")


class Words(Synchronizer):
    def test_the_name_may_come_last(self):
        self.succeeds("latch", "--count", "4", "x")
        self.succeeds("latch", "--down", "x")
        self.succeeds("latch", "--down", "2", "x")
        self.succeeds("latch", "--down", "x", "--json")
        self.assertEqual(self.succeeds("latch", "x"), "0\n")
        self.succeeds("latch", "--wait", "x")
        self.succeeds("latch", "--wait", "5s", "x")
        self.succeeds("latch", "--down", "--wait", "x")
        self.succeeds("latch", "--down", "--", "x")

    def test_usage(self):
        for words in ([], ["--down"], ["--wait", "5s"], ["x", "y"], ["x", "--count", "-1"], ["x", "--count"],
                      ["x", "--count", "1.5"], ["x", "--down", "0"], ["x", "--down", "y"], ["x", "--wait", "soon"],
                      ["x", "--down=y"], ["--down", "y", "--wait", "z"]):
            with self.subTest(words=words):
                self.assertIn("--help", self.fails(USAGE, "latch", *words))
        self.assertIn("did you mean '--count'", self.fails(USAGE, "latch", "x", "--cuont", "3"))
        self.assertIn("did you mean 'latch'", self.fails(USAGE, "lacth", "x"))

    def test_names_and_stores(self):
        for words in (["latch", "n" * 513], ["latch", "a\nb", "--count", "1"], ["--store", "gopher:", "latch", "x"]):
            with self.subTest(words=words):
                self.fails(USAGE, *words)

    def test_another_kind(self):
        holder = self.hold("x")
        for words in (["--count", "1"], ["--count", "1", "--down"], ["--count", "1", "--wait", "1s"]):
            with self.subTest(words=words):
                self.fails(USAGE, "latch", "x", *words)
        self.let_go(holder)
        self.succeeds("latch", "x", "--count", "1")
        self.fails(USAGE, "run", "--no-wait", "x", "--", "true")

    def test_silent_store(self):
        self.succeeds("latch", "x", "--count", "1")
        with self.silent_store():
            commands = [self.start("latch", "x", *words)
                        for words in ([], ["--down"], ["--count", "1"], ["--wait"], ["--wait", "1s"], ["--wait", "0"])]
            for command in commands:
                out, err = command.communicate(timeout=3 * sandbox.PATIENCE)
                self.assertEqual((command.returncode, out), (UNAVAILABLE, ""), (command.args, err))


if __name__ == "__main__":
    sandbox.main()
