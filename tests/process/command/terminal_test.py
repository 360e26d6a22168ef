"""Job control: the command and holdfast are one job of the shell."""

import os
import signal

import sandbox
import synchronizer
from terminal import CTRL_C, CTRL_D, CTRL_Z, Shell

# Beats in a file as long as it runs, and ends with status 5 when a file named "end" appears. One process without
# children: a shell that has just forked with vfork() cannot be stopped, with holdfast or without.
BEATER = r"""
import os, sys, time
print(f"pid={os.getpid()}.", flush=True)
while not os.path.exists("end"):
    with open("beats", "a") as file:
        file.write(".")
    time.sleep(0.02)
sys.exit(5)
"""
BEATING = "/usr/bin/python3 beater.py"


class TerminalTest(sandbox.Sandbox):
    def setUp(self):
        super().setUp()
        self.shell = Shell(self.environment)
        self.addCleanup(self.shell.close)
        self.path("beater.py").write_text(BEATER, encoding="utf-8")
        self.assertEqual(self.shell.run(f"cd {self.folder}")[1], 0)

    def tearDown(self):
        for process in self.started:
            process.kill()
        self.shell.type("\x03\x04")
        self.doCleanups()
        super().tearDown()

    def start_beating(self, options="", after=""):
        self.shell.type(f"{sandbox.holdfast} run {options} x -- {BEATING} {after}\n")
        return int(self.shell.expect(r"pid=(\d+)\.").group(1))

    def beats(self):
        return len(self.read("beats"))

    def assert_beating(self):
        before = self.beats()
        sandbox.until(lambda: self.beats() > before, "the command runs")

    def end_command(self):
        self.path("end").touch()


class Running(TerminalTest):
    def test_the_command_has_the_foreground(self):
        pid = self.start_beating()
        self.assertEqual(self.shell.foreground(), pid)
        self.assertEqual(sandbox.stat_of(pid)[2], pid)
        self.end_command()
        self.shell.prompt()
        self.assertEqual(self.shell.status(), 5)
        self.assertEqual(self.shell.foreground(), self.shell.pid)

    def test_ctrl_c(self):
        self.start_beating()
        self.shell.type(CTRL_C)
        self.shell.prompt()
        self.assertEqual(self.shell.status(), 128 + signal.SIGINT)
        self.assertTrue(self.is_free())

    def test_ctrl_c_is_the_commands_affair(self):
        # It may come before the read or interrupt it.
        self.shell.type(f"{sandbox.holdfast} run x -- sh -c 'trap \"echo caught; exit 3\" INT; echo here; read line; "
                        "exit 4'\n")
        self.shell.expect("here")
        self.shell.type(CTRL_C)
        self.shell.expect("caught")
        self.shell.prompt()
        self.assertEqual(self.shell.status(), 3)

    def test_ctrl_z_and_fg(self):
        pid = self.start_beating("--lease 2s")
        token = self.show()["holders"][0]["token"]
        self.shell.type(CTRL_Z)
        self.shell.expect("Stopped")
        self.shell.prompt()
        self.assertEqual(self.shell.foreground(), self.shell.pid)
        self.assertTrue(sandbox.is_stopped(pid))
        # The hold outlives several leases while the job is stopped.
        self.assertEqual(self.run_to_end("run", "--wait", "5s", "x", "--", "true")[0], 75)
        self.assertEqual(self.show()["holders"][0]["token"], token)
        self.shell.type("fg\n")
        self.assert_beating()
        self.assertEqual(self.shell.foreground(), pid)
        self.shell.type(CTRL_Z)
        self.shell.expect("Stopped")
        self.shell.prompt()
        self.shell.type("fg\n")
        self.assert_beating()
        self.end_command()
        self.shell.prompt()
        self.assertEqual(self.shell.status(), 5)

    def test_ctrl_z_and_bg(self):
        pid = self.start_beating()
        self.shell.type(CTRL_Z)
        self.shell.expect("Stopped")
        self.shell.prompt()
        self.shell.run("bg")
        self.assert_beating()
        self.assertEqual(self.shell.foreground(), self.shell.pid)
        self.assertEqual(self.shell.run("echo still here")[0].strip(), "still here")
        self.shell.type("fg\n")
        # The shell tells a job that runs already nothing about the foreground; signals reach the command all the same.
        job = sandbox.stat_of(pid)[1]
        sandbox.until(lambda: self.shell.foreground() in (job, pid), "the job has the foreground again")
        self.shell.type(CTRL_C)
        self.shell.prompt()
        self.assertEqual(self.shell.status(), 128 + signal.SIGINT)

    def test_background_start(self):
        self.start_beating(after="&")
        self.assertEqual(self.shell.foreground(), self.shell.pid)
        self.assertEqual(self.shell.run("echo undisturbed")[0].strip(), "undisturbed")
        self.shell.type(CTRL_C)  # reaches the shell only
        self.shell.prompt()
        self.assert_beating()
        self.end_command()
        self.shell.type("wait %1; echo waited=$?.\n")
        self.assertEqual(self.shell.expect(r"waited=(\d+)\.").group(1), "5")

    def test_background_job_that_wants_to_read(self):
        self.shell.run(f"{sandbox.holdfast} run x -- sh -c 'read line; echo line=$line.' &")
        sandbox.until(lambda: "Stopped" in self.shell.run("jobs")[0], "the job is stopped")
        self.shell.type("fg\n")
        self.shell.type("hello\n")
        self.assertEqual(self.shell.expect(r"line=(\w*)\.").group(1), "hello")
        self.shell.prompt()
        self.assertEqual(self.shell.status(), 0)

    def test_reading_the_terminal(self):
        self.shell.type(f"{sandbox.holdfast} run x -- cat\n")
        sandbox.until(lambda: self.show()["holders"], "it holds")
        self.shell.type("first\n")
        self.shell.expect("first")
        self.shell.type(CTRL_D)
        self.shell.prompt()
        self.assertEqual(self.shell.status(), 0)

    def test_pipeline_whose_other_end_reads_the_terminal(self):
        self.shell.type(f"{sandbox.holdfast} run x -- sh -c 'echo out; echo here >/dev/tty; sleep 1' | "
                        "sh -c 'read data; read typed </dev/tty; echo $data and $typed.'\n")
        self.shell.expect("here")
        self.shell.type("typed\n")
        self.shell.expect(r"out and typed\.")
        self.shell.prompt()

    def test_ctrl_z_in_a_script(self):
        self.path("script").write_text(f"{sandbox.holdfast} run x -- {BEATING}\necho after=$?.\n", encoding="utf-8")
        self.shell.type("sh script\n")
        self.shell.expect(r"pid=\d+\.")
        self.shell.type(CTRL_Z)
        self.shell.expect("Stopped")
        self.shell.prompt()
        self.shell.type("fg\n")
        self.assert_beating()
        self.end_command()
        self.shell.expect(r"after=5\.")
        self.shell.prompt()

    def test_killed_in_the_foreground(self):
        pid = self.start_beating("--lease 3s --grace 0.5s")
        os.kill(sandbox.stat_of(pid)[1], signal.SIGKILL)
        self.shell.expect("Killed")
        sandbox.until(lambda: not sandbox.is_alive(pid), "the command is gone")
        sandbox.until(self.is_free, "the name is free")

    def test_killed_while_stopped(self):
        pid = self.start_beating("--lease 3s --grace 0.5s")
        self.shell.type(CTRL_Z)
        self.shell.expect("Stopped")
        self.shell.prompt()
        self.shell.run("kill -9 %1")
        sandbox.until(lambda: not sandbox.is_alive(pid), "the command is gone")
        sandbox.until(self.is_free, "the name is free")

    def test_lost_while_stopped(self):
        pid = self.start_beating("--lease 3s --grace 0.5s")
        self.shell.type(CTRL_Z)
        self.shell.expect("Stopped")
        self.shell.prompt()
        self.assertEqual(self.run_to_end("evict", "x")[0], 0)
        sandbox.until(lambda: not sandbox.is_alive(pid), "the command is gone")
        self.shell.type("fg\n")
        self.shell.expect("lost")
        self.shell.prompt()
        self.assertEqual(self.shell.status(), 76)


class Waiting(TerminalTest):
    def wait_behind(self, holder_options=()):
        holder = self.hold("x", "--label", "the other", *holder_options)
        self.shell.type(f"{sandbox.holdfast} run x -- echo mine\n")
        self.shell.expect(r"waiting for x, held by \S+:\d+ \(the other\) for \d")
        return holder

    def test_the_line_is_refreshed_and_erased(self):
        holder = self.wait_behind()
        self.shell.expect(r"\r\x1b\[K.*waiting for x, held by")
        self.let_go(holder)
        self.shell.expect(r"\r\x1b\[Kmine\r\n")
        self.shell.prompt()
        self.assertEqual(self.shell.status(), 0)

    def test_quiet(self):
        holder = self.hold()
        self.shell.type(f"{sandbox.holdfast} run --quiet x -- echo mine\n")
        sandbox.until(lambda: self.waiters() == 1, "it waits")
        begin = self.shell.read_from
        self.let_go(holder)
        self.shell.expect("mine")
        self.assertNotIn("waiting", self.shell.text[begin:])
        self.shell.prompt()

    def test_ctrl_c(self):
        holder = self.wait_behind()
        self.shell.type(CTRL_C)
        self.shell.prompt()
        self.assertEqual(self.shell.status(), 128 + signal.SIGINT)
        self.assertEqual(self.waiters(), 0)
        self.let_go(holder)

    def test_ctrl_z_and_fg(self):
        holder = self.wait_behind()
        self.shell.type(CTRL_Z)
        self.shell.expect("Stopped")
        self.shell.prompt()
        self.shell.type("fg\n")
        self.shell.expect("waiting for x, held by")
        self.let_go(holder)
        self.shell.expect("mine")
        self.shell.prompt()
        self.assertEqual(self.shell.status(), 0)

    def test_a_stopped_wait_keeps_nobody_from_the_lock(self):
        holder = self.hold()
        self.shell.type(f"{sandbox.holdfast} run --lease 2s x -- echo mine\n")
        self.shell.expect("waiting for x, held by")
        self.shell.type(CTRL_Z)
        self.shell.expect("Stopped")
        self.shell.prompt()
        self.let_go(holder)
        self.assertEqual(self.run_to_end("run", "--wait", "15s", "x", "--", "echo", "other")[:2], (0, "other\n"))
        self.shell.type("fg\n")
        self.shell.expect("mine")
        self.shell.prompt()
        self.assertEqual(self.shell.status(), 0)

    def test_background_wait_is_silent(self):
        holder = self.hold()
        self.shell.run(f"{sandbox.holdfast} run x -- sh -c 'echo mine; echo >done' &")
        sandbox.until(lambda: self.waiters() == 1, "it waits")
        begin = self.shell.read_from
        self.let_go(holder)
        self.shell.expect("mine")
        self.assertNotIn("waiting", self.shell.text[begin:])

    def test_killed_while_stopped(self):
        holder = self.wait_behind()
        self.shell.type(CTRL_Z)
        self.shell.expect("Stopped")
        self.shell.prompt()
        self.shell.run("kill -9 %1")
        self.let_go(holder)
        sandbox.until(self.is_free, "the name is free")


class WaitingForOthers(TerminalTest):
    def wait_for(self, words):
        self.shell.type(f"{sandbox.holdfast} {words}\n")
        job = sandbox.until(lambda: self.shell.foreground() != self.shell.pid and self.shell.foreground(), "it runs")
        sandbox.until(lambda: synchronizer.hears_signals(job), "it waits")
        return job

    def test_ctrl_c(self):
        for words in ("latch x --wait", "barrier y --parties 2", "leader z --watch"):
            with self.subTest(words=words):
                self.wait_for(words)
                self.shell.type(CTRL_C)
                self.shell.prompt()
                self.assertEqual(self.shell.status(), 128 + signal.SIGINT)
        self.assertEqual(self.show("y")["holders"], [])

    def test_ctrl_z_and_fg(self):
        for words in ("latch x --wait", "barrier x2 --parties 2", "leader x3 --watch"):
            with self.subTest(words=words):
                job = self.wait_for(words)
                self.shell.type(CTRL_Z)
                self.shell.expect("Stopped")
                self.shell.prompt()
                self.assertTrue(sandbox.is_stopped(job))
                self.shell.type("fg\n")
                sandbox.until(lambda job=job: not sandbox.is_stopped(job), "it goes on")
                self.shell.type(CTRL_C)
                self.shell.prompt()
                self.assertEqual(self.shell.status(), 128 + signal.SIGINT)


class Colours(TerminalTest):
    def test_only_on_a_terminal(self):
        holder = self.hold()
        self.assertIn("\x1b[", self.shell.run(f"{sandbox.holdfast} list")[0])
        self.assertNotIn("\x1b[", self.shell.run(f"NO_COLOR=1 {sandbox.holdfast} list")[0])
        self.assertNotIn("\x1b[", self.shell.run(f"TERM=dumb {sandbox.holdfast} list")[0])
        self.assertNotIn("\x1b[", self.shell.run(f"{sandbox.holdfast} list | cat")[0])
        self.assertIn("\x1b[", self.shell.run(f"{sandbox.holdfast} --help")[0])
        self.let_go(holder)


if __name__ == "__main__":
    sandbox.main()
