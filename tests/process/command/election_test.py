"""holdfast elect and holdfast leader: one leads, the others take over."""

import contextlib
import json
import os
import signal
import subprocess

import sandbox
from synchronizer import ENDING, LOST, NOT_IN_TIME, UNAVAILABLE, USAGE, Synchronizer, hears_signals

LEADS = "echo leads; exec cat"


class ElectionTest(Synchronizer):
    def candidate(self, value, *options):
        return self.start("elect", "x", "--value", value, *options, "--", "sh", "-c", LEADS)

    def leader(self, value="a", *options):
        """Returns when it leads."""
        process = self.candidate(value, *options)
        self.assertEqual(process.stdout.readline(), "leads\n")
        return process

    def waiting_candidate(self, value, *options, waiters=1):
        process = self.candidate(value, *options)
        sandbox.until(lambda: self.waiters() == waiters, "it waits")
        return process


class Leading(ElectionTest):
    def test_the_commands_own_status(self):
        for status in (0, 1, 7):
            self.assertEqual(self.run_to_end("elect", "x", "--value", "a", "--", "sh", "-c", f"exit {status}"),
                             (status, "", ""))
        self.assertEqual(self.run_to_end("elect", "x", "--value", "a", "--", "no-such-program")[0], 127)
        self.assertEqual(self.run_to_end("elect", "x", "--value", "a", "--", "sh", "-c", "kill -9 $$")[0], 137)

    def test_environment(self):
        self.environment["HOLDFAST_VALUE"] = "of somebody else"
        leader = self.start("elect", "x", "--value", "a b=c", "--", "sh", "-c", "env; echo .; exec cat")
        lines = iter(leader.stdout.readline, ".\n")
        environment = dict(line.rstrip("\n").split("=", 1) for line in lines if line.startswith("HOLDFAST_"))
        self.assertEqual(environment, {"HOLDFAST_NAME": "x", "HOLDFAST_STORE": f"file:{self.database}",
                                       "HOLDFAST_TOKEN": self.show()["holders"][0]["token"],
                                       "HOLDFAST_VALUE": "a b=c"})
        self.let_go(leader)
        status, stdout, _ = self.run_to_end("run", "y", "--", "sh", "-c", 'echo "${HOLDFAST_VALUE-none}"')
        self.assertEqual((status, stdout), (0, "none\n"))

    def test_the_next_one_leads(self):
        first = self.leader("a")
        second = self.waiting_candidate("b")
        self.assertEqual(self.succeeds("leader", "x"), "a\n")
        token = int(self.show()["holders"][0]["token"])
        self.let_go(first)
        self.assertEqual(second.stdout.readline(), "leads\n")
        self.assertEqual(self.succeeds("leader", "x"), "b\n")
        self.assertGreater(int(self.object("leader", "--json", "x")["token"]), token)
        self.let_go(second)

    def test_killed_leader_is_succeeded(self):
        # Killed with all that belongs to it, as when its machine dies.
        leader = self.leader("a", "--lease", "2s")
        second = self.waiting_candidate("b")
        token = int(self.show()["holders"][0]["token"])
        for pid in (self.show()["holders"][0]["pid"], leader.pid, *sandbox.descendants(leader.pid)):
            with contextlib.suppress(ProcessLookupError):  # each ends the command when the other is gone
                os.kill(pid, signal.SIGKILL)
        self.assertEqual(second.stdout.readline(), "leads\n")
        self.assertEqual(self.succeeds("leader", "x"), "b\n")
        self.assertGreater(int(self.object("leader", "--json", "x")["token"]), token)
        self.let_go(second)

    def test_killed_supervisor_takes_the_command_with_it(self):
        leader = self.leader("a", "--lease", "4s", "--grace", "1s")
        command = min(sandbox.descendants(leader.pid) - {self.show()["holders"][0]["pid"]})
        second = self.waiting_candidate("b")
        leader.kill()
        self.assertEqual(second.stdout.readline(), "leads\n")
        self.assertFalse(sandbox.is_alive(command))
        self.let_go(second)

    def test_evicted(self):
        leader = self.leader("a", "--on-lost", "kill")
        self.assertEqual(self.succeeds("evict", "x"), "x: evicted 1\n")
        self.assertEqual(leader.wait(sandbox.PATIENCE), LOST)
        self.assertIn("lost", leader.stderr.read())

    def test_max_hold(self):
        self.assertEqual(self.candidate("a", "--max-hold", "1s").wait(sandbox.PATIENCE), LOST)

    def test_fair_candidates_lead_in_order(self):
        leader = self.leader("a")
        others = [self.waiting_candidate(str(n), "--fair", waiters=n + 1) for n in range(3)]
        self.assertEqual([claim["value"] for claim in self.show()["waiters"]], ["0", "1", "2"])
        text = self.succeeds("show", "x")
        self.assertRegex(text, r"^x  election\nled by\n(.*\n)+    value  a\n(.*\n)+candidates, in order\n")
        self.let_go(leader)
        for other in others:
            self.assertEqual(other.stdout.readline(), "leads\n")
            self.let_go(other)

    def test_signals_while_waiting(self):
        leader = self.leader("a")
        for number in ENDING:
            with self.subTest(signal=number):
                candidate = self.waiting_candidate("b")
                candidate.send_signal(number)
                self.assertEqual(self.ends(candidate, 128 + number), "")
                self.assertEqual(self.waiters(), 0)
        self.let_go(leader)

    def test_signals_are_the_commands(self):
        leader = self.leader("a")
        leader.send_signal(signal.SIGTERM)
        self.assertEqual(leader.wait(sandbox.PATIENCE), 128 + signal.SIGTERM)
        self.fails(1, "leader", "x")

    def test_not_in_time(self):
        leader = self.leader("a", "--label", "the first")
        command = ["--", "echo", "ran"]
        for words in (["--no-wait"], ["--wait", "0"], ["--wait", "300ms"], ["--wait", "1s", "--fair"]):
            with self.subTest(words=words):
                said = self.fails(NOT_IN_TIME, "elect", "x", "--value", "b", *words, *command)
                self.assertIn("led by", said)
                self.assertIn("the first", said)
                words += ["--quiet", "--conflict-exit", "9"]
                self.assertEqual(self.run_to_end("elect", "x", "--value", "b", *words, *command), (9, "", ""))
        self.assertEqual(self.waiters(), 0)
        second = self.waiting_candidate("b", "--wait", "60s")
        self.let_go(leader)
        self.assertEqual(second.stdout.readline(), "leads\n")
        self.let_go(second)

    def test_silent_store(self):
        self.assertTrue(self.is_free())
        with self.silent_store():
            commands = [self.start("elect", "x", "--value", "a", *words, "--", "echo", "ran")
                        for words in ([], ["--no-wait"], ["--wait", "2s"])]
            commands += [self.start("leader", "x"), self.start("leader", "--watch", "x")]
            for command in commands:
                out, err = command.communicate(timeout=3 * sandbox.PATIENCE)
                self.assertEqual((command.returncode, out), (UNAVAILABLE, ""), (command.args, err))


class Asking(ElectionTest):
    def test_nobody(self):
        self.assertIn("no leader", self.fails(1, "leader", "x"))
        status, stdout, _ = self.run_to_end("leader", "--json", "x")
        self.assertEqual((status, json.loads(stdout)), (1, {"name": "x", "value": None, "token": None}))

    def test_json(self):
        leader = self.leader("host:80")
        found = self.object("leader", "--json", "x")
        self.assertEqual(found, {"name": "x", "value": "host:80", "token": self.show()["holders"][0]["token"]})
        self.assertEqual(self.show()["kind"], "election")
        self.assertEqual(self.show()["holders"][0]["value"], "host:80")
        self.assertEqual(self.object("list", "--json")[0]["holders"][0]["value"], "host:80")
        row = self.listed("x")[0]
        self.assertEqual((row["KIND"], row["STATE"]), ("election", "host:80"))
        self.let_go(leader)

    def test_values_are_harmless_on_screen(self):
        value = b"a\x1b[31mb\nc\xc2\x9bd\xffe\xc3\xa9"
        leader = self.leader(os.fsdecode(value))
        self.assertEqual(self.succeeds("leader", "x"), "a?[31mb?c?d?eé\n")
        self.assertEqual(self.object("leader", "--json", "x")["value"], "a\x1b[31mb\nc\x9bd\ufffdeé")
        for words in (["list"], ["show", "x"]):
            text = self.succeeds(*words)
            self.assertIn("a?[31mb?c?d?eé", text)
            self.assertNotIn("\x1b", text)
            self.assertNotIn("\x9b", text)
        self.let_go(leader)

    def test_another_kind_has_no_leader(self):
        holder = self.hold("x")
        self.fails(1, "leader", "x")
        self.fails(USAGE, "elect", "--no-wait", "x", "--value", "a", "--", "true")
        self.let_go(holder)


class Watching(ElectionTest):
    def watch(self, *words):
        process = self.start("leader", "--watch", *words, "x")
        sandbox.until(lambda: hears_signals(process.pid), "it watches")
        return process

    def test_every_change(self):
        plain, objects = self.watch(), self.watch("--json")
        self.assertEqual(plain.stdout.readline(), "\n")
        self.assertEqual(json.loads(objects.stdout.readline()), {"name": "x", "value": None, "token": None})
        for value in ("a", "b"):
            leader = self.leader(value)
            self.assertEqual(plain.stdout.readline(), f"{value}\n")
            found = json.loads(objects.stdout.readline())
            self.assertEqual((found["value"], found["token"]), (value, self.show()["holders"][0]["token"]))
            self.let_go(leader)
            self.assertEqual(plain.stdout.readline(), "\n")
            self.assertIsNone(json.loads(objects.stdout.readline())["value"])
        for process, number in ((plain, signal.SIGINT), (objects, signal.SIGTERM)):
            process.send_signal(number)
            self.assertEqual(self.ends(process, 128 + number), "")

    def test_nobody_reads(self):
        process = self.watch()
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(sandbox.PATIENCE), 128 + signal.SIGPIPE)

    def test_into_a_file(self):
        with open(self.path("out"), "wb") as file:
            process = self.watch_into(file)
        leader = self.leader("a")
        sandbox.until(lambda: self.read("out") == "\na\n", "it is written")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(sandbox.PATIENCE), 128 + signal.SIGINT)
        self.let_go(leader)

    def watch_into(self, file):
        process = self.start("leader", "--watch", "x", stdout=file, stdin=subprocess.DEVNULL)
        sandbox.until(lambda: self.read("out") == "\n", "it watches")
        return process


class Words(ElectionTest):
    def test_usage(self):
        for words in (["x", "--", "true"], ["x", "--value", "a"], ["--value", "a", "--", "true"],
                      ["x", "--value", "a", "--"], ["x", "--value", "--", "true"],
                      ["x", "--value", "a", "--shared", "--", "true"], ["x", "--value", "a", "true"],
                      ["x", "--value", "a", "--wait", "1s", "--no-wait", "--", "true"],
                      ["x", "--value", "a", "--lease", "5s", "--grace", "5s", "--", "true"]):
            with self.subTest(words=words):
                self.assertIn("--help", self.fails(USAGE, "elect", *words))
        for words in ([], ["x", "y"], ["x", "--jsno"]):
            with self.subTest(words=words):
                self.assertIn("--help", self.fails(USAGE, "leader", *words))
        self.assertIn("did you mean '--value'", self.fails(USAGE, "elect", "x", "--valeu", "a", "--", "true"))
        self.assertIn("did you mean '--watch'", self.fails(USAGE, "leader", "--wacth", "x"))

    def test_refused_by_the_library(self):
        self.fails(USAGE, "elect", "n" * 513, "--value", "a", "--", "true")
        self.fails(USAGE, "leader", "a\nb")
        self.fails(USAGE, "elect", "x", "--value", "v" * 65537, "--", "true")
        self.fails(USAGE, "--store", "gopher:", "leader", "x")
        self.assertEqual(self.run_to_end("elect", "x", "--value", "v" * 65536, "--", "true")[0], 0)

    def test_an_empty_value(self):
        leader = self.leader("")
        self.assertEqual(self.succeeds("leader", "x"), "\n")
        self.let_go(leader)


if __name__ == "__main__":
    sandbox.main()
