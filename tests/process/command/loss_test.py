"""The hold that ends before the command, and processes of holdfast that die: nothing runs without its lock."""

import os
import re
import signal
import time

import sandbox

LEASE = 4  # seconds
GRACE = 1

# Writes the time, by a clock that all processes share, as long as it lives. TERM makes no impression on it.
STUBBORN = r"""
import os, signal, sys, time
def beat(what):
    with open(sys.argv[1], "a") as file:
        file.write(f"{what} {time.clock_gettime(time.CLOCK_BOOTTIME):.4f}\n")
signal.signal(signal.SIGTERM, lambda *_: beat("term"))
if len(sys.argv) > 2 and os.fork() == 0:
    sys.argv[1] = sys.argv[2]
beat("begin")
while True:
    beat("alive")
    time.sleep(0.01)
"""


def now():
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Stubborn(sandbox.Sandbox):
    def stubborn(self, *options, lease=LEASE):
        process = self.start("run", "--lease", f"{lease}s", "--grace", f"{GRACE}s", *options, "x", "--",
                             "/usr/bin/python3", "-c", STUBBORN, self.path("beats"), self.path("child-beats"))
        for name in ("beats", "child-beats"):
            sandbox.until(lambda name=name: "begin" in self.read(name), "the command runs")
        return process

    def beats(self, what, name="beats"):
        return [float(time) for word, time in re.findall(r"(\w+) ([\d.]+)\n", self.read(name)) if word == what]

    def gone(self):
        """The last signs of life of the command and of its child, once there are no more."""
        def silent():
            last = max(self.beats("alive") + self.beats("alive", "child-beats"))
            return now() - last > 1 and last
        return sandbox.until(silent, "the group is gone")


class Loss(Stubborn):
    def test_silent_store(self):
        process = self.stubborn()
        with self.silent_store():
            silent_from = now()
            last = self.gone()
            _, stderr = process.communicate(timeout=sandbox.PATIENCE)
        self.assertEqual(process.returncode, 76)
        self.assertIn("lost", stderr)
        # The store's lease cannot have been renewed after it fell silent.
        self.assertLess(last, silent_from + LEASE)
        for name in ("beats", "child-beats"):
            terms = self.beats("term", name)
            self.assertEqual(len(terms), 1)
            self.assertLess(terms[0], silent_from + LEASE - GRACE)
            self.assertGreater(last - terms[0], GRACE / 2)
        sandbox.until(self.is_free, "the name is free")

    def test_silent_store_and_an_obedient_command(self):
        process = self.start("run", "--lease", f"{LEASE}s", "x", "--", "sh", "-c", "echo ready; exec sleep 60")
        self.assertEqual(process.stdout.readline(), "ready\n")
        with self.silent_store():
            self.assertEqual(process.wait(sandbox.PATIENCE), 76)

    def test_kill(self):
        process = self.stubborn("--on-lost", "kill")
        with self.silent_store():
            silent_from = now()
            last = self.gone()
            self.assertEqual(process.wait(sandbox.PATIENCE), 76)
        self.assertLess(last, silent_from + LEASE - GRACE + 0.5)
        self.assertEqual(self.beats("term"), [])

    def test_ignore(self):
        process = self.start("run", "--lease", "2s", "--on-lost", "ignore", "x", "--",
                             "sh", "-c", "echo ready; read line; echo survived")
        self.assertEqual(process.stdout.readline(), "ready\n")
        self.assertEqual(self.run_to_end("evict", "x")[0], 0)
        self.assertIn("lost", process.stderr.readline())
        process.stdin.write("go\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), "survived\n")
        self.assertEqual(process.wait(sandbox.PATIENCE), 76)

    def test_short_silence_harms_nothing(self):
        process = self.hold("x", "--lease", f"{LEASE}s")
        with self.silent_store():
            time.sleep(LEASE / 4)  # shorter than a lease, longer than a request: nothing to wait for
        self.let_go(process)

    def test_evicted(self):
        process = self.stubborn(lease=30)
        status, stdout, _ = self.run_to_end("evict", "x")
        self.assertEqual((status, stdout), (0, "x: evicted 1\n"))
        self.gone()
        _, stderr = process.communicate(timeout=sandbox.PATIENCE)
        self.assertEqual(process.returncode, 76)
        self.assertRegex(stderr, "lost.*evict")

    def test_max_hold(self):
        process = self.stubborn("--max-hold", "3s", lease=30)
        begin = self.beats("begin")[0]
        last = self.gone()
        self.assertEqual(process.wait(sandbox.PATIENCE), 76)
        self.assertGreater(self.beats("term")[0], begin + 1.5)
        self.assertLess(last, begin + 3.5)
        self.assertTrue(self.is_free())

    def test_min_hold(self):
        begin = now()
        self.assertEqual(self.run_to_end("run", "--min-hold", "3s", "x", "--", "true")[0], 0)
        self.assertEqual(self.run_to_end("run", "--no-wait", "x", "--", "true")[0], 75)
        self.assertEqual(self.run_to_end("run", "--wait", "20s", "x", "--", "true")[0], 0)
        self.assertGreater(now(), begin + 3)


class Death(Stubborn):
    def test_supervisor_killed(self):
        process = self.stubborn()
        process.kill()
        killed = now()
        last = self.gone()
        self.assertLess(last, killed + LEASE)
        self.assertTrue(self.beats("term"))
        self.assertEqual(self.run_to_end("run", "--wait", "20s", "x", "--", "echo", "next")[:2], (0, "next\n"))

    def test_nobody_else_holds_before_the_group_is_gone(self):
        process = self.stubborn()
        waiter = self.start("run", "x", "--", "/usr/bin/python3", "-c",
                            "import time; print(time.clock_gettime(time.CLOCK_BOOTTIME))")
        sandbox.until(lambda: self.waiters() == 1, "the next one waits")
        process.kill()
        stdout, _ = waiter.communicate(timeout=sandbox.PATIENCE)
        self.assertGreater(float(stdout), self.gone())

    def test_supervisor_killed_with_its_group(self):
        process = self.stubborn()
        os.killpg(process.pid, signal.SIGKILL)
        killed = now()
        self.assertLess(self.gone(), killed + LEASE)

    def test_all_that_is_called_holdfast_is_killed(self):
        """As pkill and killall do it. The holder has another name: it ends the command, then gives back."""
        process = self.stubborn()
        named = [pid for pid in sandbox.descendants(os.getpid()) if sandbox.name_of(pid) == "holdfast"]
        self.assertIn(process.pid, named)
        for pid in named:
            os.kill(pid, signal.SIGKILL)
        status, stdout, _ = self.run_to_end("run", "x", "--", "/usr/bin/python3", "-c",
                                            "import time; print(time.clock_gettime(time.CLOCK_BOOTTIME))")
        self.assertEqual(status, 0)
        self.assertGreater(float(stdout), self.gone())
        self.assertTrue(self.beats("term"))

    def test_holder_killed(self):
        process = self.stubborn()
        os.kill(self.show()["holders"][0]["pid"], signal.SIGKILL)
        killed = now()
        self.assertLess(self.gone(), killed + LEASE)
        self.assertEqual(process.wait(sandbox.PATIENCE), 76)

    def test_holder_stopped(self):
        process = self.stubborn()
        holder = self.show()["holders"][0]["pid"]
        os.kill(holder, signal.SIGSTOP)
        stopped = now()
        self.assertLess(self.gone(), stopped + LEASE)
        os.kill(holder, signal.SIGCONT)
        self.assertEqual(process.wait(sandbox.PATIENCE), 76)

    def test_supervisor_stopped(self):
        process = self.hold("x", "--lease", "2s")
        process.send_signal(signal.SIGSTOP)
        sandbox.until(lambda: sandbox.is_stopped(process.pid), "it is stopped")
        self.assertEqual(self.run_to_end("run", "--wait", "4s", "x", "--", "true")[0], 75)
        process.send_signal(signal.SIGCONT)
        self.let_go(process)


if __name__ == "__main__":
    sandbox.main()
