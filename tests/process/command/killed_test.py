"""The processes of holdfast are killed or stopped, together or one after the other: while anything of the command is
left, nobody else holds the name; and nothing of it is left for long."""

import contextlib
import os
import signal
import subprocess
import sys

import loss_test
import sandbox

LEASE = 10  # seconds: long enough for a slow machine to look before it ends
LONG_LEASE = 40  # longer than processes that hardly ever run need to die

# Says at its start who of these processes is still there. A shell, because it starts quickly.
WITNESS = r"""
found=alive:
for pid; do
    if read -r line 2>&- <"/proc/$pid/stat"; then
        case ${line##*)} in " Z"* | " X"*) ;; *) found="$found $pid" ;; esac
    fi
done
echo "$found"
"""

# Closes what it was given, as ssh and sudo do.
CLOSER = r"""
import os, signal, sys, time
os.closerange(3, 1000)
print(os.getpid(), flush=True)
time.sleep(60)
"""


def kill(pid, number=signal.SIGKILL):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


class Killed(loss_test.Stubborn):
    def begin(self, *options, lease=LEASE):
        """A command with a child, neither of which takes notice of TERM, and who wants the name next."""
        self.process = self.stubborn(*options, lease=lease)
        self.holder = self.show()["holders"][0]["pid"]
        self.group = sorted(pid for pid in sandbox.descendants(self.process.pid) if pid != self.holder)
        self.assertEqual(len(self.group), 2)
        self.next = self.start("run", "x", "--", "sh", "-c", WITNESS, "sh", *self.group)
        sandbox.until(lambda: self.waiters() == 1, "the next one waits")

    def stop(self, pid):
        kill(pid, signal.SIGSTOP)
        sandbox.until(lambda: sandbox.is_stopped(pid), "it is stopped")

    def assert_gone_before_the_next(self):
        self.assertEqual(self.next.communicate(timeout=LONG_LEASE + sandbox.PATIENCE)[0], "alive:\n")
        self.assertEqual(self.next.returncode, 0)

    @contextlib.contextmanager
    def busy(self, processor):
        loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"],
                                  preexec_fn=lambda: os.sched_setaffinity(0, {processor})) for _ in range(3)]
        try:
            yield
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()

    def slow_down(self, processor, *pids):
        for pid in pids:
            os.sched_setaffinity(pid, {processor})
            os.setpriority(os.PRIO_PROCESS, pid, 19)
        with contextlib.suppress(OSError), open(f"/proc/{pids[0]}/autogroup", "w", encoding="utf-8") as group:
            group.write("19")  # where the system counts priorities by session

    def test_holder_killed_beside_busy_loops(self):
        processor = min(os.sched_getaffinity(0))
        for _ in range(6):
            self.begin(lease=LONG_LEASE)
            with self.busy(processor):
                self.slow_down(processor, self.process.pid, *self.group)
                kill(self.holder)
                self.assert_gone_before_the_next()
                self.assertEqual(self.process.wait(sandbox.PATIENCE), 76)
            for name in ("beats", "child-beats"):
                self.path(name).unlink()

    def test_supervisor_stopped_and_holder_killed(self):
        self.begin()
        self.stop(self.process.pid)
        killed = loss_test.now()
        kill(self.holder)
        self.assertLess(self.gone(), killed + LEASE)
        # Nobody tells that it is over before the one who is stopped goes on, or the lease ends.
        self.assertIsNone(self.next.poll())
        self.process.send_signal(signal.SIGCONT)
        self.assertEqual(self.process.wait(sandbox.PATIENCE), 76)
        self.assertIn("was killed", self.process.stderr.read())
        self.assert_gone_before_the_next()

    def test_supervisor_stopped_for_good_and_holder_killed(self):
        self.begin()
        self.stop(self.process.pid)
        kill(self.holder)
        self.assert_gone_before_the_next()
        self.process.send_signal(signal.SIGCONT)
        self.assertEqual(self.process.wait(sandbox.PATIENCE), 76)

    def test_both_killed(self):
        for order in (1, -1):
            with self.subTest(order=order):
                self.begin()
                killed = loss_test.now()
                for pid in (self.process.pid, self.holder)[::order]:
                    kill(pid)
                self.assert_gone_before_the_next()
                self.assertLess(self.gone(), killed + LEASE)
                for name in ("beats", "child-beats"):
                    self.path(name).unlink()

    def test_both_killed_at_low_priority(self):
        processor = min(os.sched_getaffinity(0))
        self.begin(lease=LONG_LEASE)
        with self.busy(processor):
            self.slow_down(processor, self.process.pid, *self.group)
            kill(self.process.pid)
            kill(self.holder)
            self.assert_gone_before_the_next()

    def test_holder_killed_while_the_job_is_stopped(self):
        self.begin()
        for pid in (self.process.pid, *self.group):
            self.stop(pid)
        kill(self.holder)
        self.assert_gone_before_the_next()
        self.process.send_signal(signal.SIGCONT)
        self.assertEqual(self.process.wait(sandbox.PATIENCE), 76)

    def test_holder_killed_and_the_loss_ignored(self):
        process = self.start("run", "--lease", f"{LEASE}s", "--on-lost", "ignore", "x", "--", "sh", "-c",
                             "echo ready; read line; echo survived")
        self.assertEqual(process.stdout.readline(), "ready\n")
        kill(self.show()["holders"][0]["pid"])
        self.assertIn("lost", process.stderr.readline())
        # Nobody renews any more, but the lease counts.
        self.assertEqual(self.run_to_end("run", "--no-wait", "x", "--", "true")[0], 75)
        self.assertEqual(self.run_to_end("run", "--wait", "20s", "x", "--", "true")[0], 0)
        process.stdin.write("go\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), "survived\n")
        self.assertEqual(process.wait(sandbox.PATIENCE), 76)

    def test_a_run_within_a_run(self):
        """The inner command is in a group of its own, which the inner run ends. The outer name waits for it."""
        process = self.start("run", "--lease", f"{LEASE}s", "outer", "--", sandbox.holdfast, "run", "--lease",
                             f"{LEASE}s", "--grace", "1s", "inner", "--",
                             sys.executable, "-c", loss_test.STUBBORN, self.path("beats"))
        sandbox.until(lambda: "begin" in self.read("beats"), "the command runs")
        outer = self.show("outer")["holders"][0]["pid"]
        mine = {int(pid) for pid in sandbox.descendants(process.pid)
                if "beats" in sandbox.pathlib.Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
                and sandbox.name_of(pid) not in ("holdfast", "hf-holder")}
        self.assertEqual(len(mine), 1)
        following = self.start("run", "outer", "--", "sh", "-c", WITNESS, "sh", *mine)
        sandbox.until(lambda: self.waiters("outer") == 1, "the next one waits")
        kill(outer)
        self.assertEqual(following.communicate(timeout=sandbox.PATIENCE)[0], "alive:\n")
        self.assertEqual(process.wait(sandbox.PATIENCE), 76)

    def test_what_outlives_a_command_that_ended_well(self):
        status, stdout, _ = self.run_to_end("run", "x", "--", "sh", "-c", "sleep 60 >&- 2>&- & echo $!")
        self.assertEqual(status, 0)
        left = int(stdout)
        self.assertEqual(self.run_to_end("run", "--no-wait", "x", "--", "true")[0], 0)
        self.assertTrue(sandbox.is_alive(left))
        kill(left)

    def test_a_command_that_closes_what_it_was_given(self):
        """With the supervisor alive that makes no difference."""
        process = self.start("run", "--lease", f"{LEASE}s", "x", "--", sys.executable, "-c", CLOSER)
        pid = int(process.stdout.readline())
        following = self.start("run", "x", "--", "sh", "-c", WITNESS, "sh", pid)
        sandbox.until(lambda: self.waiters() == 1, "the next one waits")
        kill(self.show()["holders"][0]["pid"])
        self.assertEqual(following.communicate(timeout=sandbox.PATIENCE)[0], "alive:\n")
        self.assertEqual(process.wait(sandbox.PATIENCE), 76)


if __name__ == "__main__":
    sandbox.main()
