"""What the hands of people who used flock do: its letters, no "--", a line for the shell, a lock inside itself."""

import time

import sandbox

USAGE, UNAVAILABLE, NOT_ACQUIRED, NOT_FOUND = 64, 69, 75, 127


class Habits(sandbox.Sandbox):
    def refused(self, status, *words):
        """What is said."""
        result = self.run_to_end(*words)
        self.assertEqual(result[:2], (status, ""), result[2])
        return result[2]


class Letters(Habits):
    def test_not_waiting(self):
        holder = self.hold()
        self.assertIn("is not free", self.refused(NOT_ACQUIRED, "run", "-n", "x", "true"))
        self.assertIn("within 0.6s", self.refused(NOT_ACQUIRED, "run", "-w", "0.6", "x", "true"))
        self.refused(NOT_ACQUIRED, "run", "-w0.6", "x", "true")
        self.refused(7, "run", "-n", "-E", "7", "x", "true")
        self.refused(7, "run", "-nE7", "x", "true")
        self.refused(7, "run", "x", "-nE", "7", "true")
        self.let_go(holder)

    def test_shared(self):
        holder = self.hold("x", "-s")
        self.assertEqual(self.run_to_end("run", "-sn", "x", "echo", "read"), (0, "read\n", ""))
        self.refused(NOT_ACQUIRED, "run", "-n", "x", "true")
        self.let_go(holder)

    def test_a_line_for_the_shell(self):
        for words in (["x", "-c", "echo a && echo b"], ["-c", "echo a && echo b", "x"]):
            self.assertEqual(self.run_to_end("run", *words), (0, "a\nb\n", ""))
        self.assertEqual(self.run_to_end("run", "x", "-c", "exit 9")[0], 9)
        self.assertEqual(self.run_to_end("run", "x", "-c", "exit 9 # && ' \" b")[0], 9)
        self.assertIn("either -c", self.refused(USAGE, "run", "x", "-c", "true", "true"))
        self.assertIn("missing", self.refused(USAGE, "run", "x"))

    def test_elect_has_those_that_it_can(self):
        self.assertEqual(self.run_to_end("elect", "-n", "x", "--value", "v", "--", "echo", "led"), (0, "led\n", ""))


class Program(Habits):
    def test_without_dashes(self):
        self.assertEqual(self.run_to_end("run", "x", "echo", "-n", "--wait", "a"), (0, "--wait a", ""))
        self.assertEqual(self.run_to_end("run", "--wait", "5s", "x", "--label", "l", "echo", "a"), (0, "a\n", ""))
        self.assertEqual(self.run_to_end("run", "--label=l", "x", "echo", "a"), (0, "a\n", ""))
        self.assertEqual(self.run_to_end("--store", f"file:{self.database}", "run", "x", "echo", "a"), (0, "a\n", ""))

    def test_dashes_are_clear(self):
        self.assertEqual(self.run_to_end("run", "x", "--", "echo", "--", "a"), (0, "-- a\n", ""))
        self.assertIn("wants quotes", self.refused(USAGE, "run", "my", "job", "--", "true"))

    def test_a_line_that_is_no_program(self):
        for words in (["x", "true && echo b"], ["x", "--", "true; echo b"], ["x", "./none | cat"]):
            with self.subTest(words=words):
                self.assertIn(f"holdfast run x -c '{words[-1]}'", self.refused(NOT_FOUND, "run", *words))
        odd = self.path("an odd & name")
        odd.write_text("#!/bin/sh\necho odd\n", encoding="utf-8")
        odd.chmod(0o700)
        self.assertEqual(self.run_to_end("run", "x", odd), (0, "odd\n", ""))
        self.environment["PATH"] = f"{self.folder}:{self.environment['PATH']}"
        self.assertEqual(self.run_to_end("run", "x", odd.name), (0, "odd\n", ""))


class Nested(Habits):
    def inside(self, *words, around=()):
        """(status, stdout, stderr) of a holdfast inside a hold of x."""
        return self.run_to_end("run", *around, "x", "--", sandbox.holdfast, *words)

    def test_it_would_wait_for_itself(self):
        for words in (["x", "true"], ["-n", "x", "true"], ["--shared", "x", "true"], ["--store", f"file://{self.database}",
                                                                                      "x", "true"]):
            with self.subTest(words=words):
                begin = time.monotonic()
                status, stdout, stderr = self.inside("run", *words)
                self.assertEqual((status, stdout), (NOT_ACQUIRED, ""))
                self.assertRegex(stderr, "x is held by the 'holdfast run' that this is a part of.*--nested")
                self.assertLess(time.monotonic() - begin, sandbox.PATIENCE)
        self.assertEqual(self.inside("run", "-E", "7", "--quiet", "x", "true"), (7, "", ""))
        self.assertRegex(self.inside("lock", "x")[2], "x is held by the 'holdfast run' that this is a part of")

    def test_under_the_hold_that_is_there(self):
        outer = self.run_to_end("run", "x", "--", "sh", "-c", f'echo "$HOLDFAST_TOKEN"; '
                                f'{sandbox.holdfast} run --nested x -- sh -c \'echo "$HOLDFAST_TOKEN $1"; exit 9\' sh a')
        self.assertEqual(outer[0], 9)
        first, second = outer[1].splitlines()
        self.assertEqual(f"{first} a", second)
        self.assertEqual(self.inside("run", "--nested", "x", "-c", "exit 9")[0], 9)
        status, _, stderr = self.inside("run", "--nested", "x", "/none")
        self.assertEqual(status, NOT_FOUND)
        self.assertIn("cannot run /none", stderr)

    def test_elsewhere_nested_takes_the_lock(self):
        holder = self.hold()
        self.refused(NOT_ACQUIRED, "run", "--nested", "-n", "x", "true")
        self.let_go(holder)
        self.assertEqual(self.run_to_end("run", "--nested", "x", "echo", "a"), (0, "a\n", ""))

    def test_others_are_not_meant(self):
        self.assertEqual(self.inside("run", "y", "echo", "a"), (0, "a\n", ""))
        self.assertEqual(self.inside("--store", f"file:{self.path('other.db')}", "run", "x", "echo", "a"), (0, "a\n", ""))

    def test_a_hold_that_has_ended_is_none(self):
        """What was started inside of a hold may live longer, and keeps its environment."""
        status, stdout, _ = self.run_to_end("run", "x", "--", "env")
        self.assertEqual(status, 0)
        ours = dict(line.split("=", 1) for line in stdout.splitlines() if line.startswith("HOLDFAST_"))
        self.environment.update(ours)
        self.assertEqual(self.run_to_end("run", "x", "echo", "a"), (0, "a\n", ""))


class Words(Habits):
    def test_durations(self):
        holder = self.hold()
        for text in ("0.55s50ms", "600ms", "0m0.6s", "0d0h0m0s600ms"):
            with self.subTest(text=text):
                self.assertIn("within 0.6s", self.refused(NOT_ACQUIRED, "run", "--wait", text, "x", "true"))
        self.let_go(holder)
        for text, words in (("1m30s", "1m 30s"), ("1d", "1d 0h"), ("1h30m", "1h 30m"), ("1.5d", "1d 12h")):
            with self.subTest(text=text):
                holder = self.hold("x", "--lease", text)
                left = int(self.show()["holders"][0]["lease_left_ms"])
                self.let_go(holder)
                expected = {"1m30s": 90, "1d": 86400, "1h30m": 5400, "1.5d": 129600}[text] * 1000
                self.assertTrue(expected - 20000 < left <= expected, (words, left))
        for text in ("30s1m", "1m1m", "1m30", "d", "1w", "m5", "1..5s", "1m 30s"):
            with self.subTest(text=text):
                self.assertIn("1m30s", self.refused(USAGE, "run", "--wait", text, "x", "true"))

    def test_help(self):
        self.assertEqual(self.run_to_end("help"), self.run_to_end("--help"))
        self.assertEqual(self.run_to_end("help", "run"), self.run_to_end("run", "--help"))
        self.assertIn("did you mean 'evict'", self.refused(USAGE, "help", "evcit"))
        self.refused(USAGE, "help", "run", "list")

    def test_patience(self):
        """With a store that does not answer; elsewhere it has no effect."""
        self.assertEqual(self.run_to_end("--patience", "2s", "run", "x", "echo", "a"), (0, "a\n", ""))
        with self.silent_store():
            for words in (["run", "x", "true"], ["list"], ["show", "x"], ["evict", "x"], ["latch", "x", "--count", "1"],
                          ["leader", "x"], ["elect", "x", "--value", "v", "--", "true"], ["barrier", "x", "--parties", "1"],
                          ["bench", "--duration", "100ms"], ["lock", "x"]):
                with self.subTest(words=words):
                    begin = time.monotonic()
                    self.refused(UNAVAILABLE, "--patience", "300ms", *words)
                    self.assertLess(time.monotonic() - begin, 4)


if __name__ == "__main__":
    sandbox.main()
