"""Signals that are sent to holdfast, in both of its phases."""

import os
import re
import signal
import subprocess

import sandbox

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM)

# Says which signals it gets, and ends at the first TERM.
RECORDER = """
for name in INT HUP QUIT USR1 USR2 ALRM WINCH; do trap "echo got $name" $name; done
trap 'echo got TERM; exit 9' TERM
echo ready
while :; do sleep 0.05; done
"""


class WhileWaiting(sandbox.Sandbox):
    def test_signals_withdraw(self):
        holder = self.hold()
        for number in ENDING:
            with self.subTest(signal=number):
                waiter = self.start("run", "x", "--", "echo", "ran")
                sandbox.until(lambda: self.waiters() == 1, "it waits")
                waiter.send_signal(number)
                self.assertEqual(waiter.communicate(timeout=sandbox.PATIENCE), ("", ""))
                self.assertEqual(waiter.returncode, 128 + number)
                self.assertEqual(self.waiters(), 0)
        self.let_go(holder)

    def test_timed_wait_too(self):
        holder = self.hold()
        waiter = self.start("run", "--wait", "1h", "--fair", "x", "--", "true")
        sandbox.until(lambda: self.waiters() == 1, "it waits")
        waiter.send_signal(signal.SIGTERM)
        self.assertEqual(waiter.wait(sandbox.PATIENCE), 128 + signal.SIGTERM)
        self.assertEqual(self.waiters(), 0)
        self.let_go(holder)

    def test_to_the_process_that_is_listed(self):
        holder = self.hold()
        waiter = self.start("run", "x", "--", "true")
        sandbox.until(lambda: self.waiters() == 1, "it waits")
        os.kill(self.show()["waiters"][0]["pid"], signal.SIGTERM)
        self.assertEqual(waiter.wait(sandbox.PATIENCE), 128 + signal.SIGTERM)
        self.let_go(holder)

    def test_killed(self):
        holder = self.hold()
        waiter = self.start("run", "x", "--", "echo", "ran")
        sandbox.until(lambda: self.waiters() == 1, "it waits")
        waiter.kill()
        self.assertEqual(waiter.communicate(timeout=sandbox.PATIENCE)[0], "")
        sandbox.until(lambda: self.waiters() == 0, "its claim is withdrawn")
        self.let_go(holder)


class WhileRunning(sandbox.Sandbox):
    def recorder(self, *options):
        process = self.start("run", *options, "x", "--", "sh", "-c", RECORDER)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def test_signals_are_passed_on(self):
        process = self.recorder()
        for name in ("INT", "HUP", "QUIT", "USR1", "USR2", "ALRM", "WINCH", "TERM"):
            with self.subTest(signal=name):
                process.send_signal(getattr(signal, "SIG" + name))
                self.assertEqual(process.stdout.readline(), f"got {name}\n")
        self.assertEqual(process.wait(sandbox.PATIENCE), 9)
        self.assertTrue(self.is_free())

    def test_the_whole_group_gets_them(self):
        process = self.start("run", "x", "--", "sh", "-c", f"trap : TERM; ({RECORDER}) & wait; wait; exit 4")
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.stdout.readline(), "got TERM\n")
        self.assertEqual(process.wait(sandbox.PATIENCE), 4)

    def test_command_that_a_signal_ended(self):
        for number in ENDING:
            with self.subTest(signal=number):
                process = self.start("run", "x", "--", "sh", "-c", "echo ready; exec sleep 60")
                self.assertEqual(process.stdout.readline(), "ready\n")
                process.send_signal(number)
                self.assertEqual(process.wait(sandbox.PATIENCE), 128 + number)

    def test_to_the_process_that_is_listed(self):
        process = self.recorder()
        os.kill(self.show()["holders"][0]["pid"], signal.SIGTERM)
        self.assertEqual(process.stdout.readline(), "got TERM\n")
        self.assertEqual(process.wait(sandbox.PATIENCE), 9)

    def test_what_was_ignored_stays_ignored(self):
        process = self.start("run", "x", "--", "sh", "-c", "echo ready; read line; exit 3",
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGHUP)
        process.stdin.write("go\n")
        process.stdin.flush()
        self.assertEqual(process.wait(sandbox.PATIENCE), 3)

    def test_the_command_starts_with_a_clean_slate(self):
        status, stdout, _ = self.run_to_end("run", "x", "--", "grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status")
        self.assertEqual(status, 0)
        standard = 0x7FFFFFFF  # signals 1 to 31: 32 and 33 are the C library's, nobody can set them back
        for line in stdout.splitlines():
            self.assertEqual(int(line.split()[1], 16) & standard, 0, line)

    def test_child_signal_ignored_by_the_parent(self):
        process = self.start("run", "x", "--", "sh", "-c", "exit 5",
                             preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(process.wait(sandbox.PATIENCE), 5)

    def test_standard_streams(self):
        words = ["run", "x", "--", "sh", "-c", "tr a-z A-Z; echo error >&2"]
        self.assertEqual(self.run_to_end(*words, input="some\ntext\n"), (0, "SOME\nTEXT\n", "error\n"))

    def inherited(self, *options):
        """What the command has open, by its number, but for the standard streams and what ls itself opens."""
        status, stdout, _ = self.run_to_end("run", *options, "x", "--", "ls", "-l", "/proc/self/fd",
                                            stdin=subprocess.DEVNULL)
        self.assertEqual(status, 0)
        found = dict(re.findall(r" (\d+) -> (.*)", stdout))
        for own in ("0", "1", "2", "3"):
            del found[own]
        return [found[number] for number in sorted(found, key=int)]

    def test_what_the_command_inherits(self):
        """What keeps the name taken while it lives, and what ends it when the holder dies."""
        live, pipe = self.inherited()
        self.assertEqual(live, f"{self.database}-live")
        self.assertTrue(pipe.startswith("pipe:"), pipe)
        self.assertEqual(self.inherited("--on-lost", "ignore"), [live])

    def test_stopped_command_keeps_the_hold(self):
        process = self.start("run", "--lease", "2s", "x", "--", "sh", "-c", "echo $$; read line; exit 6")
        pid = int(process.stdout.readline())
        token = self.show()["holders"][0]["token"]
        os.kill(pid, signal.SIGSTOP)
        sandbox.until(lambda: sandbox.is_stopped(pid), "it is stopped")
        self.assertEqual(self.run_to_end("run", "--wait", "5s", "x", "--", "true")[0], 75)
        self.assertEqual(self.show()["holders"][0]["token"], token)
        os.kill(pid, signal.SIGCONT)
        self.let_go(process, 6)


class Secrets(sandbox.Sandbox):
    def test_passwords_leave_the_command_line(self):
        process = self.start("run", "--label", "redis://user:secret@host", "x", "--",
                             "sh", "-c", "echo ready; exec cat", "a://b:kept@c")
        self.assertEqual(process.stdout.readline(), "ready\n")
        for pid in {process.pid, self.show()["holders"][0]["pid"]}:
            with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
                words = file.read()
            self.assertIn("redis://user:******@host", words)
            self.assertIn("a://b:kept@c", words)
        self.assertEqual(self.show()["holders"][0]["label"], "redis://user:secret@host")
        self.let_go(process)

    def test_a_password_of_the_environment_is_not_inherited(self):
        self.environment["HOLDFAST_REDIS_PASSWORD"] = "secret"
        self.environment["HOLDFAST_ETCD_PASSWORD"] = "secret"
        status, stdout, _ = self.run_to_end("run", "x", "--", "env")
        self.assertEqual(status, 0)
        self.assertNotIn("secret", stdout)


if __name__ == "__main__":
    sandbox.main()
