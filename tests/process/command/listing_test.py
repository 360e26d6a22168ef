"""list, show, evict and bench, and several runs that want the same name."""

import json
import subprocess

import sandbox

CLAIM = {"token", "mode", "permits", "owner", "label", "host", "pid", "age_ms", "lease_left_ms", "id", "local"}


class Listing(sandbox.Sandbox):
    def list(self, *words):
        status, stdout, stderr = self.run_to_end("list", "--json", *words)
        self.assertEqual((status, stderr), (0, ""))
        return json.loads(stdout)

    def test_nothing(self):
        self.assertEqual(self.list(), [])
        self.assertEqual(self.run_to_end("list"), (0, "", ""))
        self.assertEqual(self.show("x"), {"name": "x", "kind": "lock", "holders": [], "waiters": []})
        self.assertIn("free", self.run_to_end("show", "x")[1])

    def test_holders_and_waiters(self):
        holder = self.hold("orders/42", "--label", "a label")
        self.hold("orders/7")
        self.hold("other")
        waiter = self.start("run", "--fair", "orders/42", "--", "true")
        sandbox.until(lambda: self.waiters("orders/42") == 1, "it waits")
        self.assertEqual([lock["name"] for lock in self.list()], ["orders/42", "orders/7", "other"])
        self.assertEqual([lock["name"] for lock in self.list("orders/")], ["orders/42", "orders/7"])
        lock = self.show("orders/42")
        held, waiting = lock["holders"][0], lock["waiters"][0]
        self.assertEqual(set(held), CLAIM)
        self.assertEqual((held["label"], held["mode"], waiting["label"]), ("a label", "exclusive", "true"))
        self.assertRegex(held["token"], r"^[1-9]\d*$")
        self.assertEqual(waiting["token"], "0")
        self.assertEqual(lock["kind"], "lock")
        self.assertTrue(0 < held["lease_left_ms"] <= 30000)
        table = self.run_to_end("list")[1].splitlines()
        self.assertEqual(table[0].split()[0], "NAME")
        self.assertIn(held["token"], table[1])
        self.assertIn("a label", table[1])
        self.assertIn(held["token"], self.run_to_end("show", "orders/42")[1])
        self.let_go(holder)
        self.assertEqual(waiter.wait(sandbox.PATIENCE), 0)

    def test_kept(self):
        """Whoever let go early is shown as gone, and the name as taken until the end of the minimum hold."""
        self.assertEqual(self.run_to_end("run", "--min-hold", "1h", "x", "--", "true")[0], 0)
        held = self.show()["holders"][0]
        self.assertEqual(set(held), CLAIM | {"kept"})
        self.assertTrue(held["kept"])
        self.assertIn("released, kept", self.run_to_end("list")[1])
        self.assertIn("released, and kept until its minimum hold is over", self.run_to_end("show", "x")[1])

    def test_environment(self):
        holder = self.start("run", "x", "--", "sh", "-c", 'env; echo .; exec cat')
        lines = iter(holder.stdout.readline, ".\n")
        environment = dict(line.rstrip("\n").split("=", 1) for line in lines if line.startswith("HOLDFAST_"))
        self.assertEqual(environment, {"HOLDFAST_NAME": "x", "HOLDFAST_STORE": f"file:{self.database}",
                                       "HOLDFAST_TOKEN": self.show()["holders"][0]["token"]})
        self.let_go(holder)

    def test_the_command_may_go_elsewhere(self):
        """The store that it is told does not depend on where it is used."""
        script = 'echo "$HOLDFAST_STORE"; cd / && exec "$0" show --json x'
        for folder in ("plain", "a %41?b&c=@#", "ü"):
            place = self.path(folder)
            place.mkdir()
            for store in ("file:locks.db", "file:./lo%63ks.db?timeout=3s"):
                with self.subTest(folder=folder, store=store):
                    status, stdout, stderr = self.run_to_end("--store", store, "run", "x", "--", "sh", "-c", script,
                                                             sandbox.holdfast, cwd=place)
                    self.assertEqual(status, 0, stderr)
                    self.assertRegex(stderr, r"\Aholdfast: warning: [^\n]* is another file in another directory[^\n]*\n\Z")
                    told, shown = stdout.split("\n", 1)
                    self.assertTrue(told.startswith("file:/"), told)
                    self.assertEqual(told.endswith("?timeout=3s"), "?" in store)
                    self.assertEqual(len(json.loads(shown)["holders"]), 1)
        self.assertEqual(self.run_to_end("--store", "file:locks.db", "run", "x", "--", "sh", "-c",
                                         'echo "$HOLDFAST_STORE"', cwd=self.folder)[1], f"file:{self.database}\n")

    def test_names_are_harmless_on_screen(self):
        holder = self.hold("x", "--label", "a\x1b[31mb")
        self.assertNotIn("\x1b", self.run_to_end("list")[1] + self.run_to_end("show", "x")[1])
        self.assertEqual(self.show()["holders"][0]["label"], "a\x1b[31mb")
        self.let_go(holder)

    def test_names_that_look_like_options(self):
        status, stdout, _ = self.run_to_end("show", "--json", "--", "-x")
        self.assertEqual((status, json.loads(stdout)["name"]), (0, "-x"))


class Evicting(sandbox.Sandbox):
    def test_nothing(self):
        self.assertEqual(self.run_to_end("evict", "x"), (0, "x: nothing to evict\n", ""))

    def test_by_claim(self):
        holder = self.hold()
        self.assertEqual(self.run_to_end("evict", "--claim", "nonsense", "x")[0], 64)
        stranger = "0123456789abcdef-0000000000000001"
        self.assertEqual(self.run_to_end("evict", "--claim", stranger, "x")[:2], (0, "x: nothing to evict\n"))
        claim = self.show()["holders"][0]["id"]
        self.assertEqual(self.run_to_end("evict", "--claim", claim, "x"), (0, "x: evicted 1\n", ""))
        self.assertEqual(holder.wait(sandbox.PATIENCE), 76)

    def test_the_next_one_gets_it(self):
        holder = self.hold()
        waiter = self.start("run", "x", "--", "echo", "next")
        sandbox.until(lambda: self.waiters() == 1, "it waits")
        self.assertEqual(self.run_to_end("evict", "x")[0], 0)
        self.assertEqual(waiter.communicate(timeout=sandbox.PATIENCE)[0], "next\n")
        self.assertEqual(holder.wait(sandbox.PATIENCE), 76)


class Contention(sandbox.Sandbox):
    def test_none_is_lost(self):
        counter = self.path("counter")
        counter.write_text("0", encoding="utf-8")
        # Reads and writes in two steps: two at once would lose a step.
        step = f'n=$(cat {counter}); sleep 0.01; echo $((n + 1)) >{counter}; echo "$HOLDFAST_TOKEN" >>{self.path("tokens")}'
        turns = f'for i in 1 2 3 4 5 6 7 8; do {sandbox.holdfast} run x -- sh -c \'{step}\' || exit; done'
        workers = [subprocess.Popen(["sh", "-c", turns], env=self.environment) for _ in range(6)]
        self.started += workers
        for worker in workers:
            self.assertEqual(worker.wait(sandbox.TEST_LIMIT), 0)
        self.assertEqual(counter.read_text(encoding="utf-8").strip(), "48")
        tokens = [int(token) for token in self.read("tokens").split()]
        self.assertEqual(tokens, sorted(set(tokens)))

    def test_fair_is_first_come_first_served(self):
        holder = self.hold()
        waiters = []
        for number in range(5):
            waiters.append(self.start("run", "--fair", "x", "--", "sh", "-c", f"echo {number} >>{self.path('order')}"))
            sandbox.until(lambda count=number + 1: self.waiters() == count, "it waits")
        self.let_go(holder)
        for waiter in waiters:
            self.assertEqual(waiter.wait(sandbox.PATIENCE), 0)
        self.assertEqual(self.read("order").split(), ["0", "1", "2", "3", "4"])


class Bench(sandbox.Sandbox):
    def test_json(self):
        for words in ([], ["--owners", "4", "--names", "2"], ["--mode", "fair", "--processes", "2"]):
            with self.subTest(words=words):
                status, stdout, stderr = self.run_to_end("bench", "--duration", "500ms", "--json", *words)
                self.assertEqual((status, stderr), (0, ""))
                result = json.loads(stdout)
                self.assertEqual(set(result), {"pairs", "seconds", "pairs_per_second", "latency_us"})
                self.assertGreater(result["pairs"], 0)
                self.assertGreaterEqual(result["seconds"], 0.5)
                self.assertAlmostEqual(result["pairs_per_second"], result["pairs"] / result["seconds"], delta=1)
                latency = result["latency_us"]
                self.assertTrue(0 < latency["p50"] <= latency["p99"] <= latency["max"])
        sandbox.until(lambda: self.run_to_end("list") == (0, "", ""), "nothing is left in the store")

    def test_for_people(self):
        status, stdout, _ = self.run_to_end("bench", "--duration", "200ms", "--store", "memory:")
        self.assertEqual(status, 0)
        self.assertIn("pairs per second", stdout)

    def test_bad_values(self):
        for words in (["--owners", "0"], ["--mode", "tango"], ["--duration", "0"], ["--processes", "x"]):
            with self.subTest(words=words):
                self.assertEqual(self.run_to_end("bench", *words)[0], 64)


if __name__ == "__main__":
    sandbox.main()
