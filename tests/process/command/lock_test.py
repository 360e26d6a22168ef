"""holdfast lock and unlock: a hold for a script that cannot wrap what it does."""

import json
import os
import signal
import subprocess

import sandbox
import terminal

USAGE, UNAVAILABLE, NOT_ACQUIRED, LOST, ABSENT = 64, 69, 75, 76, 1


class Locking(sandbox.Sandbox):
    def setUp(self):
        super().setUp()
        self.environment["h"] = sandbox.holdfast

    def script(self, text, shell="sh"):
        """A script that reads from its stdin and writes to its stdout, in a session of its own."""
        process = subprocess.Popen([shell, "-c", text], env=self.environment, text=True, start_new_session=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.started.append(process)
        return process

    def locked(self, text="read line", options="", shell="sh"):
        """A script that has locked x, and goes on with the text."""
        process = self.script(f'"$h" lock {options} x && echo locked\n{text}', shell)
        self.assertEqual(process.stdout.readline(), "locked\n", process.poll() is not None and process.stderr.read())
        return process

    def ends(self, process, status, stdout=""):
        """What it says."""
        out, err = process.communicate(timeout=sandbox.PATIENCE)
        self.assertEqual((process.returncode, out), (status, stdout), err)
        return err

    def result(self, text, shell="sh"):
        """(status, stdout, stderr) of a script."""
        process = self.script(text, shell)
        out, err = process.communicate(timeout=sandbox.PATIENCE)
        return process.returncode, out, err

    def holder_pid(self):
        return self.show()["holders"][0]["pid"]


class Hold(Locking):
    def test_from_lock_to_unlock(self):
        script = self.locked('read line; "$h" unlock x; echo "unlocked $?"; read line')
        self.assertEqual(self.run_to_end("run", "-n", "x", "true")[0], NOT_ACQUIRED)
        self.assertEqual(self.show()["holders"][0]["label"], "sh")
        script.stdin.write("\n")
        script.stdin.flush()
        self.assertEqual(script.stdout.readline(), "unlocked 0\n")
        self.assertTrue(self.is_free())
        self.assertEqual(self.ends(script, 1), "")

    def test_it_ends_with_the_shell(self):
        for end in (None, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(end=end):
                script = self.locked("read line; exit 0")
                if end is None:
                    script.stdin.write("\n")
                    script.stdin.flush()
                else:
                    script.send_signal(end)
                script.wait(sandbox.PATIENCE)
                sandbox.until(self.is_free, "the name is free")
                script.communicate()

    def test_it_is_renewed(self):
        script = self.locked("read line", "--lease 1s")
        sandbox.until(lambda: self.show()["holders"][0]["age_ms"] > 2500, "it is older than two leases")
        self.ends(script, 1)

    def test_the_options_of_run(self):
        script = self.locked("read line", "--shared --label words --lease 1h --fair --wait 5s --min-hold 1ms")
        holder = self.show()["holders"][0]
        self.assertEqual((holder["mode"], holder["label"]), ("shared", "words"))
        self.assertEqual(self.result('"$h" lock -s -n x; echo $?')[:2], (0, "0\n"))
        self.ends(script, 1)
        sandbox.until(self.is_free, "the name is free")
        self.assertEqual(self.result('"$h" lock --limit 2 --permits 2 x; "$h" show --json x')[0], 0)

    def test_conflict(self):
        holder = self.hold()
        status, stdout, stderr = self.result('"$h" lock -n x; echo $?; "$h" lock -n -E 9 --quiet x; echo $?')
        self.assertEqual((status, stdout), (0, f"{NOT_ACQUIRED}\n9\n"))
        self.assertRegex(stderr, "^holdfast: x is not free in file:.*: held by .*\n$")
        waiter = self.script('"$h" lock x; echo $?')
        sandbox.until(lambda: self.waiters() == 1, "it waits")
        self.let_go(holder)
        self.ends(waiter, 0, "0\n")

    def test_a_signal_ends_the_wait(self):
        holder = self.hold()
        waiter = self.start("lock", "--pid", os.getpid(), "x")
        sandbox.until(lambda: self.waiters() == 1, "it waits")
        waiter.send_signal(signal.SIGTERM)
        self.assertEqual(self.ends(waiter, 128 + signal.SIGTERM), "")
        self.assertEqual(self.waiters(), 0)
        waiter = self.start("lock", "--pid", os.getpid(), "x")
        sandbox.until(lambda: self.waiters() == 1, "it waits")
        waiter.kill()
        waiter.wait(sandbox.PATIENCE)
        sandbox.until(lambda: self.waiters() == 0, "nobody waits")
        self.let_go(holder)
        sandbox.until(self.is_free, "the name is free")

    def test_command_substitution(self):
        """The process in the background keeps nothing open of what the shell had."""
        for shell in ("sh", "bash"):
            with self.subTest(shell=shell):
                status, stdout, _ = self.result('t=$("$h" lock --token --pid $$ x 2>&1); "$h" show --json x; echo "$t" >&2;'
                                                ' "$h" unlock x', shell)
                self.assertEqual(status, 0)
                self.assertEqual(len(json.loads(stdout)["holders"]), 1)

    def test_the_token(self):
        status, stdout, _ = self.result('"$h" lock --token x; "$h" lock --check --token x; "$h" show --json x')
        first, second, rest = stdout.split("\n", 2)
        self.assertEqual((status, first, second), (0, second, json.loads(rest)["holders"][0]["token"]))

    def test_output_that_cannot_be_written_leaves_no_lock(self):
        self.assertEqual(self.result('"$h" lock --token x >/dev/full; echo $?')[1], "71\n")
        sandbox.until(self.is_free, "the name is free")

    def test_inside_itself(self):
        status, stdout, stderr = self.result('"$h" lock x; "$h" lock x; echo $?; "$h" run x true; echo $?; '
                                             '"$h" run --nested x echo under; ("$h" lock x; echo $?)')
        self.assertEqual((status, stdout), (0, f"{NOT_ACQUIRED}\n{NOT_ACQUIRED}\nunder\n{NOT_ACQUIRED}\n"))
        self.assertRegex(stderr, "held by this shell already: 'holdfast unlock x'")
        self.assertRegex(stderr, "held by the calling shell .*--nested")

    def test_several_names_and_stores(self):
        other = f"file:{self.path('other.db')}"
        self.assertEqual(self.result(f'"$h" lock x; "$h" lock y; "$h" --store {other} lock x; "$h" unlock x; echo $?; '
                                     f'"$h" lock --check y; echo $?; "$h" --store {other} unlock x; echo $?')[:2],
                         (0, "0\n0\n0\n"))


class Loss(Locking):
    def evict(self):
        self.assertEqual(self.run_to_end("evict", "x")[0], 0)

    def test_the_shell_gets_a_signal(self):
        for options, end in (("", signal.SIGTERM), ("--on-lost kill", signal.SIGKILL)):
            with self.subTest(options=options):
                script = self.locked("read line", options)
                self.evict()
                self.assertEqual(script.wait(sandbox.PATIENCE), -end)
                script.communicate()

    def test_a_script_can_take_it(self):
        script = self.locked("while :; do read line </dev/null; done", options="", shell="sh")
        script.kill()
        script.communicate()
        sandbox.until(self.is_free, "the name is free")
        script = self.script('trap \'"$h" unlock x; exit $?\' TERM; "$h" lock x; echo locked; while :; do sleep 0.05; done')
        self.assertEqual(script.stdout.readline(), "locked\n")
        self.evict()
        self.assertIn("the hold of x was lost before", self.ends(script, LOST))

    def test_check_tells(self):
        script = self.locked('read line; "$h" lock --check x; echo $?; "$h" unlock x; echo $?; "$h" lock --check x; echo $?',
                             "--on-lost ignore")
        self.evict()
        script.stdin.write("\n")
        self.assertRegex(self.ends(script, 0, f"{LOST}\n{LOST}\n{ABSENT}\n"), "the hold of x is lost: ")

    def test_a_silent_store(self):
        script = self.locked('read line', "--lease 2s")
        with self.silent_store():
            self.assertEqual(script.wait(sandbox.PATIENCE), -signal.SIGTERM)
        script.communicate()

    def test_the_holder_is_ended(self):
        script = self.locked("read line; \"$h\" lock --check x; echo $?", "--on-lost ignore")
        os.kill(self.holder_pid(), signal.SIGTERM)
        sandbox.until(self.is_free, "the name is free")
        script.stdin.write("\n")
        self.assertIn("signal 15 ended the process", self.ends(script, 0, f"{LOST}\n"))
        script = self.locked("read line; \"$h\" lock --check x; echo $?")
        os.kill(self.holder_pid(), signal.SIGKILL)
        script.stdin.write("\n")
        self.assertIn("holds no lock x", self.ends(script, 0, f"{ABSENT}\n"))

    def test_unlock_without_an_answer(self):
        script = self.locked('read line; "$h" unlock x; echo $?', "--patience 500ms --lease 20s")
        with self.silent_store():
            script.stdin.write("\n")
            self.assertIn("did not confirm", self.ends(script, 0, f"{UNAVAILABLE}\n"))


class Words(Locking):
    def test_nothing_to_unlock(self):
        status, stdout, stderr = self.result('"$h" unlock x; echo $?; "$h" lock --check x; echo $?; "$h" unlock --quiet x')
        self.assertEqual((status, stdout), (ABSENT, f"{ABSENT}\n{ABSENT}\n"))
        self.assertEqual(stderr.count("holds no lock x in file:"), 2)

    def test_usage(self):
        for words in (["lock"], ["unlock"], ["lock", "x", "true"], ["lock", "--pid", "1", "x"], ["lock", "--pid", "4194303", "x"],
                      ["lock", "--on-lost", "tango", "x"], ["lock", "n" * 513]):
            with self.subTest(words=words):
                self.assertEqual(self.run_to_end(*words)[0], USAGE)

    def test_at_a_terminal(self):
        shell = terminal.Shell(self.environment)
        try:
            self.assertEqual(shell.run(f"{sandbox.holdfast} lock x"), ("", 0))
            self.assertEqual(self.run_to_end("run", "-n", "x", "true")[0], NOT_ACQUIRED)
            self.assertEqual(shell.run(f"{sandbox.holdfast} lock --check x | cat"), ("", 0))
            self.assertEqual(shell.run(f"{sandbox.holdfast} unlock x"), ("", 0))
            self.assertTrue(self.is_free())
        finally:
            shell.close()


if __name__ == "__main__":
    sandbox.main()
