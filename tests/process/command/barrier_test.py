"""holdfast barrier: processes that wait for each other, and the one that does not come."""

import json
import signal

import sandbox
from synchronizer import ENDING, LOST, NOT_IN_TIME, UNAVAILABLE, USAGE, Synchronizer


class BarrierTest(Synchronizer):
    def party(self, *words, parties=2):
        return self.start("barrier", "x", "--parties", parties, *words)

    def arrived(self, count):
        sandbox.until(lambda: self.show().get("count") == count, f"{count} have arrived")

    def waiting_party(self, *words, parties=2, arrived=1):
        process = self.party(*words, parties=parties)
        self.arrived(arrived)
        return process


class Meeting(BarrierTest):
    def test_two_processes_again_and_again(self):
        for generation in range(4):
            first = self.waiting_party()
            second = self.party()
            for party in (first, second):
                self.assertEqual(self.ends(party, 0, f"{generation}\n"), "")

    def test_nobody_goes_before_the_last(self):
        parties = [self.waiting_party(parties=4, arrived=n + 1) for n in range(3)]
        for party in parties:
            self.assertIsNone(party.poll())
        parties.append(self.party(parties=4))
        for party in parties:
            self.ends(party, 0, "0\n")

    def test_one_meets_itself(self):
        self.assertEqual(self.succeeds("barrier", "x", "--parties", "1"), "0\n")
        self.assertEqual(self.succeeds("barrier", "x", "--parties", "1", "--wait", "5s"), "1\n")

    def test_many_at_once(self):
        parties = [self.party("--wait", "60s", parties=8) for _ in range(16)]
        for party in parties:
            party.wait(sandbox.PATIENCE)
        printed = sorted(party.stdout.read() for party in parties)
        self.assertEqual(printed, ["0\n"] * 8 + ["1\n"] * 8)

    def test_json(self):
        first = self.party("--json")
        second = self.party("--json", "--wait", "60s")
        for party in (first, second):
            out, _ = party.communicate(timeout=sandbox.PATIENCE)
            self.assertEqual(json.loads(out), {"name": "x", "parties": 2, "generation": 0})

    def test_listing(self):
        party = self.waiting_party("--label", "a\x1bb", parties=3)
        lock = self.show()
        claim = lock.pop("holders")[0]
        self.assertEqual(lock, {"name": "x", "kind": "barrier", "waiters": [], "limit": 3, "count": 1,
                                "generation": 0, "broken": False})
        self.assertEqual((claim["label"], claim["mode"], claim["pid"]), ("a\x1bb", "shared", party.pid))
        row = self.listed("x")[0]
        self.assertEqual((row["KIND"], row["STATE"], row["LABEL"]),
                         ("barrier", "1 of 3 arrived, generation 0", "a?b"))
        self.assertRegex(self.succeeds("show", "x"),
                         r"^x  barrier, 1 of 3 arrived, generation 0\narrived\n  \S+:\d+ \(a\?b\)\n")
        self.succeeds("barrier", "x", "--reset")
        self.ends(party, LOST)


class Broken(BarrierTest):
    def assert_broken_until_reset(self):
        for words in ([], ["--wait", "60s"]):
            self.assertIn("broken", self.fails(LOST, "barrier", "x", "--parties", "2", *words))
        self.succeeds("barrier", "x", "--reset")
        generation = self.show()["generation"]
        parties = self.party(), self.party()
        for party in parties:
            self.ends(party, 0, f"{generation}\n")

    def test_not_in_time(self):
        for words in ([], ["--json"]):
            self.assertIn("within", self.fails(NOT_IN_TIME, "barrier", "x", "--parties", "2", "--wait", "300ms", *words))
            self.assertTrue(self.show()["broken"])
            self.assertEqual(self.succeeds("show", "x").splitlines()[0].split(", ")[-1], "broken")
            self.succeeds("barrier", "x", "--reset")
            self.assertFalse(self.show()["broken"])
        words = ["barrier", "x", "--parties", "2", "--wait", "300ms", "--quiet"]
        self.assertEqual(self.run_to_end(*words), (NOT_IN_TIME, "", ""))

    def test_a_party_whose_time_is_over_breaks_it_for_the_others(self):
        patient = self.waiting_party(parties=3)
        hasty = self.party("--wait", "1s", parties=3)
        self.ends(hasty, NOT_IN_TIME)
        self.assertIn("broken", self.ends(patient, LOST))
        self.fails(LOST, "barrier", "x", "--parties", "3")

    def test_a_party_that_a_signal_ended_breaks_it_for_the_others(self):
        for number in ENDING:
            with self.subTest(signal=number):
                patient = self.waiting_party(parties=3)
                other = self.waiting_party("--wait", "1h", parties=3, arrived=2)
                other.send_signal(number)
                self.assertEqual(self.ends(other, 128 + number), "")
                self.assertIn("broken", self.ends(patient, LOST))
                self.fails(LOST, "barrier", "x", "--parties", "3")
                self.succeeds("barrier", "x", "--reset")
                self.arrived(0)

    def test_an_interrupted_party_is_not_counted_on(self):
        lonely = self.waiting_party()
        lonely.send_signal(signal.SIGINT)
        self.ends(lonely, 128 + signal.SIGINT)
        self.assertEqual(self.show()["holders"], [])
        self.assert_broken_until_reset()

    def test_a_party_that_is_killed_breaks_it_when_its_lease_is_over(self):
        self.environment["HOLDFAST_STORE"] += "?lease=2s"
        patient = self.waiting_party(parties=3)
        other = self.waiting_party(parties=3, arrived=2)
        other.kill()
        self.assertIn("broken", self.ends(patient, LOST))

    def test_reset_while_somebody_waits(self):
        patient = self.waiting_party()
        self.assertEqual(self.succeeds("barrier", "x", "--reset"), "")
        self.assertIn("reset", self.ends(patient, LOST))
        first, second = self.party(), self.party()
        self.ends(first, 0, "1\n")
        self.ends(second, 0, "1\n")

    def test_reset_of_nothing(self):
        self.assertEqual(self.succeeds("barrier", "x", "--reset"), "")
        self.assertEqual(self.object("barrier", "x", "--reset", "--json"),
                         {"name": "x", "kind": "barrier", "holders": [], "waiters": [], "limit": 0, "count": 0,
                          "generation": 0, "broken": False})


class Deleted(BarrierTest):
    def test_it_begins_again(self):
        self.assertEqual(self.succeeds("barrier", "x", "--delete"), "")
        for _ in range(2):
            self.assertEqual(self.succeeds("barrier", "x", "--parties", "1"), "0\n")
            self.assertEqual(self.succeeds("barrier", "x", "--parties", "1"), "1\n")
            self.fails(USAGE, "barrier", "x", "--parties", "3", "--wait", "5s")
            self.assertEqual(self.succeeds("barrier", "x", "--delete"), "")
            self.assertEqual(self.succeeds("list"), "")
        self.fails(NOT_IN_TIME, "barrier", "x", "--parties", "3", "--wait", "300ms")
        self.succeeds("barrier", "x", "--delete")
        self.assertEqual(self.succeeds("barrier", "x", "--parties", "1"), "0\n")

    def test_who_waits_is_told(self):
        patient = self.waiting_party()
        self.succeeds("barrier", "x", "--delete")
        self.assertEqual(self.succeeds("barrier", "x", "--parties", "1"), "0\n")
        text = self.ends(patient, LOST)
        self.assertIn("deleted", text)
        self.assertNotIn("remove()", text)
        self.succeeds("barrier", "x", "--delete")
        self.succeeds("latch", "x", "--count", "1")  # no mark keeps the name

    def test_evict_says_what_to_use(self):
        self.succeeds("barrier", "x", "--parties", "1")
        text = self.fails(USAGE, "evict", "x")
        self.assertIn("barrier x --reset", text)
        self.assertIn("barrier x --delete", text)


class Words(BarrierTest):
    def test_usage(self):
        for words in ([], ["x"], ["--parties", "2"], ["x", "--parties", "0"], ["x", "--parties", "2000000"],
                      ["x", "--parties", "two"], ["x", "--parties", "2", "--wait", "0"],
                      ["x", "--parties", "2", "--wait", "soon"], ["x", "--reset", "--wait", "1s"],
                      ["x", "--delete", "--reset"], ["x", "--delete", "--parties", "2"], ["x", "--delete", "--wait", "1s"],
                      ["x", "y", "--parties", "2"]):
            with self.subTest(words=words):
                self.assertIn("--help", self.fails(USAGE, "barrier", *words))
        self.assertIn("did you mean '--parties'", self.fails(USAGE, "barrier", "x", "--partys", "2"))

    def test_parties_are_agreed(self):
        party = self.waiting_party()
        self.assertIn("2", self.fails(USAGE, "barrier", "x", "--parties", "3"))
        self.fails(USAGE, "barrier", "x", "--parties", "3", "--reset")
        self.assertIsNone(party.poll())
        self.assertEqual(self.succeeds("barrier", "x", "--parties", "2"), "0\n")
        self.ends(party, 0, "0\n")

    def test_another_kind(self):
        holder = self.hold("x")
        self.fails(USAGE, "barrier", "x", "--parties", "2", "--wait", "5s")
        self.let_go(holder)

    def test_names_and_stores(self):
        self.fails(USAGE, "barrier", "n" * 513, "--parties", "2")
        self.fails(USAGE, "--store", "gopher:", "barrier", "x", "--parties", "2")

    def test_silent_store(self):
        self.succeeds("barrier", "x", "--parties", "1")
        with self.silent_store():
            commands = [self.start("barrier", "x", *words)
                        for words in (["--parties", "1"], ["--parties", "1", "--wait", "1s"], ["--reset"])]
            for command in commands:
                out, err = command.communicate(timeout=3 * sandbox.PATIENCE)
                self.assertEqual((command.returncode, out), (UNAVAILABLE, ""), (command.args, err))


if __name__ == "__main__":
    sandbox.main()
