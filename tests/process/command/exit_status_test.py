"""Every exit status, and what is said beside it."""

import os
import re
import signal
import subprocess

import sandbox


class OfTheCommand(sandbox.Sandbox):
    def test_its_own(self):
        for status in (0, 1, 7, 255):
            with self.subTest(status=status):
                self.assertEqual(self.run_to_end("run", "x", "--", "sh", "-c", f"exit {status}"), (status, "", ""))

    def test_signal(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGUSR1):
            with self.subTest(signal=number):
                status, _, _ = self.run_to_end("run", "x", "--", "sh", "-c", f"kill -{int(number)} $$")
                self.assertEqual(status, 128 + number)

    def test_leaves_nobody_behind(self):
        # Orphans come to us, dead ones too. In a container whose first process reaps nobody they would stay for ever.
        for words in (("run", "x"), ("run", "--no-wait", "x"), ("elect", "y", "--value", "me")):
            with self.subTest(words=words):
                self.assertEqual(self.run_to_end(*words, "--", "true")[0], 0)
                with self.assertRaises(ChildProcessError):
                    os.waitpid(-1, os.WNOHANG)

    def test_not_found(self):
        status, _, stderr = self.run_to_end("run", "x", "--", "no-such-program")
        self.assertEqual(status, 127)
        self.assertIn("no-such-program", stderr)
        self.assertTrue(self.is_free())

    def test_not_executable(self):
        plain = self.path("plain")
        plain.write_text("text", encoding="utf-8")
        plain.chmod(0o600)
        for program in (plain, self.folder):
            with self.subTest(program=program):
                status, _, stderr = self.run_to_end("run", "x", "--", program)
                self.assertEqual(status, 126)
                self.assertIn(str(program), stderr)

    def test_arguments_are_the_commands(self):
        words = ["--help", "--", "-x", "--wait", "", "a b"]
        status, stdout, _ = self.run_to_end("run", "x", "--", "printf", "<%s>", *words)
        self.assertEqual((status, stdout), (0, "".join(f"<{word}>" for word in words)))

    def test_script_without_interpreter_line(self):
        script = self.path("script")
        script.write_text("exit 9\n", encoding="utf-8")
        script.chmod(0o700)
        self.assertEqual(self.run_to_end("run", "x", "--", script)[0], 9)


class Usage(sandbox.Sandbox):
    def refused(self, *words):
        status, stdout, stderr = self.run_to_end(*words)
        self.assertEqual((status, stdout), (64, ""), words)
        self.assertIn("--help", stderr)
        return stderr

    def test_nothing_asked(self):
        self.refused()

    def test_mistyped_option_is_recognised(self):
        self.assertIn("did you mean '--wait'", self.refused("run", "--wiat", "5s", "x", "--", "true"))
        self.assertIn("did you mean '--no-wait'", self.refused("run", "--nowait", "x", "--", "true"))
        self.assertIn("did you mean '--json'", self.refused("list", "--jsno"))

    def test_mistyped_command_is_recognised(self):
        self.assertIn("did you mean 'evict'", self.refused("evcit", "x"))

    def test_missing_parts(self):
        for words in (["run"], ["run", "x"], ["run", "x", "--"], ["run", "--", "true"], ["show"], ["evict"],
                      ["run", "x", "y", "--", "true"], ["run", "-n", "x"], ["list", "a", "b"], ["--store"]):
            with self.subTest(words=words):
                self.refused(*words)

    def test_bad_durations_name_the_good_ones(self):
        for text in ("", "5x", "-1", "1.2.3", "s", "1 s", "1w", "1e3", "0x10", "999999999h"):
            with self.subTest(text=text):
                stderr = self.refused("run", f"--wait={text}", "x", "--", "true")
                if text != "999999999h" and text:
                    self.assertIn("500ms, 10s, 2m, 1h", stderr)

    def test_good_durations(self):
        for text in ("500ms", "10s", "2m", "1h", "3", "0.5", "1.5s", ".5"):
            with self.subTest(text=text):
                self.assertEqual(self.run_to_end("run", "--wait", text, "x", "--", "true")[0], 0)

    def test_bad_values(self):
        for words in (["--on-lost", "cry"], ["--conflict-exit", "256"], ["--conflict-exit", "-1"],
                      ["--conflict-exit", "x"], ["--wait", "1s", "--no-wait"], ["--lease", "5s", "--grace", "5s"],
                      ["--max-hold", "0"], ["--min-hold", "2s", "--max-hold", "1s"]):
            with self.subTest(words=words):
                self.refused("run", *words, "x", "--", "true")

    def test_a_lease_of_nothing_is_not_the_graces_fault(self):
        for words in (["run", "--lease", "0"], ["run", "--lease", "0s", "--grace", "0"]):
            with self.subTest(words=words):
                text = self.refused(*words, "x", "--", "true")
                self.assertIn("--lease", text)
                self.assertNotIn("--grace", text)
        self.environment["HOLDFAST_STORE"] += "?lease=0"
        text = self.refused_by_the_library("run", "x", "--", "true")
        self.assertIn("'lease'", text)
        self.assertNotIn("grace", text)

    def refused_by_the_library(self, *words):
        status, _, stderr = self.run_to_end(*words)
        self.assertEqual(status, 64, (words, stderr))
        self.assertRegex(stderr, "^holdfast: .")
        return stderr

    def test_lease_out_of_range(self):
        self.refused_by_the_library("run", "--lease", "1ms", "x", "--", "true")

    def test_bad_names(self):
        for name in ("", "n" * 513, "a\nb"):
            with self.subTest(name=name):
                self.refused_by_the_library("run", name, "--", "true")
                self.refused_by_the_library("show", name)
                self.refused_by_the_library("evict", name)

    def test_bad_urls(self):
        for url in ("nonsense", "gopher://host", "file:", "file:/tmp/x.db?lesae=5s", "http://u:secret@h/"):
            for words in (["run", "x", "--", "true"], ["list"], ["show", "x"], ["evict", "x"], ["bench"]):
                with self.subTest(url=url, words=words):
                    self.assertNotIn("secret", self.refused_by_the_library("--store", url, *words))

    def test_help_and_version_succeed(self):
        for words in (["--help"], ["-h"], ["run", "--help"], ["list", "-h"], ["--version"], ["bench", "--help"]):
            with self.subTest(words=words):
                status, stdout, stderr = self.run_to_end(*words)
                self.assertEqual((status, stderr), (0, ""))
                self.assertNotIn("\x1b", stdout)


class Unavailable(sandbox.Sandbox):
    COMMANDS = (["run", "--no-wait", "x", "--", "echo", "ran"], ["list"], ["show", "x"], ["evict", "x"])

    def test_silent_store(self):
        self.assertTrue(self.is_free())
        with self.silent_store():
            commands = [self.start("run", "--wait", "2s", "x", "--", "echo", "ran")]
            commands += [self.start(*words) for words in self.COMMANDS]
            for command in commands:
                stdout, stderr = command.communicate(timeout=3 * sandbox.PATIENCE)
                self.assertEqual((command.returncode, stdout), (69, ""), (command.args, stderr))
                self.assertRegex(stderr, "^holdfast: .")
        self.assertEqual(self.run_to_end("run", "x", "--", "echo", "ran"), (0, "ran\n", ""))

    def test_path_that_cannot_be_a_store(self):
        plain = self.path("plain")
        plain.write_text("not a database, but long enough to be looked at as one" * 40, encoding="utf-8")
        for path in ("/proc/no/locks.db", f"{plain}/locks.db", self.folder, plain):
            for words in (*self.COMMANDS, ["bench", "--duration", "1s"]):
                with self.subTest(path=path, words=words):
                    status, stdout, stderr = self.run_to_end("--store", f"file:{path}", *words)
                    self.assertEqual((status, stdout), (64, ""), stderr)
                    self.assertIn(str(path), stderr)


class NotAcquired(sandbox.Sandbox):
    def test_no_wait(self):
        holder = self.hold()
        status, _, stderr = self.run_to_end("run", "--no-wait", "x", "--", "echo", "ran")
        self.assertEqual(status, 75)
        self.assertIn("held by", stderr)
        self.let_go(holder)

    def test_wait(self):
        holder = self.hold()
        for wait in ("0", "200ms", "1s"):
            with self.subTest(wait=wait):
                self.assertEqual(self.run_to_end("run", "--wait", wait, "x", "--", "echo", "ran")[:2], (75, ""))
        self.assertEqual(self.waiters(), 0)
        self.let_go(holder)

    def test_conflict_exit_and_quiet(self):
        holder = self.hold()
        for code in (0, 1, 200):
            with self.subTest(code=code):
                words = ["run", "--no-wait", "--quiet", "--conflict-exit", code, "x", "--", "echo", "ran"]
                self.assertEqual(self.run_to_end(*words), (code, "", ""))
        self.let_go(holder)

    def test_acquired_in_time(self):
        holder = self.hold()
        waiter = self.start("run", "--wait", "20s", "x", "--", "echo", "ran")
        sandbox.until(lambda: self.waiters() == 1, "it waits")
        self.let_go(holder)
        self.assertEqual(waiter.communicate(timeout=sandbox.PATIENCE), ("ran\n", ""))
        self.assertEqual(waiter.returncode, 0)


class LeaseOfTheStore(sandbox.Sandbox):
    def held_with(self, query, *options):
        """What is left of the lease right after it was acquired, and the store that the command is told."""
        self.environment["HOLDFAST_STORE"] = f"file:{self.database}{query}"
        holder = self.start("run", *options, "x", "--", "sh", "-c", 'echo "$HOLDFAST_STORE"; exec cat')
        store = holder.stdout.readline().rstrip("\n")
        left = self.show()["holders"][0]["lease_left_ms"]
        self.let_go(holder)
        return left, store

    def test_it_is_used(self):
        for query in ("?lease=5s", "?lease=5000%6ds", "?le%61se=5%2e0", "?timeout=3s&lease=5000%6Ds"):
            with self.subTest(query=query):
                left, _ = self.held_with(query)
                self.assertTrue(1000 < left <= 5000, left)

    def test_the_option_wins(self):
        for query in ("?lease=5s", "?le%61se=100s", "?lease=5s&timeout=3s", "?network=0&lease=5s&timeout=3s"):
            for lease in (20, 30):
                with self.subTest(query=query, lease=lease):
                    left, store = self.held_with(query, "--lease", f"{lease}s")
                    self.assertTrue(lease * 1000 - 4000 < left <= lease * 1000, left)
                    self.assertEqual(sorted(re.split("[?&]", store)),
                                     sorted(re.split("[?&]", f"file:{self.database}{query}")))


class Output(sandbox.Sandbox):
    WORDS = (["list", "--json"], ["list"], ["show", "x"], ["show", "--json", "x"], ["show", "--deadlocks", "--json"],
             ["evict", "x"], ["leader", "--json", "x"], ["leader", "--watch", "x"], ["latch", "l"],
             ["latch", "--json", "l"], ["barrier", "b", "--parties", "1"], ["barrier", "b", "--reset", "--json"],
             ["bench", "--duration", "100ms"], ["--help"], ["run", "--help"], ["--version"])

    def test_a_full_disk_is_no_success(self):
        holder = self.hold()
        self.assertEqual(self.run_to_end("latch", "l", "--count", "1")[0], 0)
        with open("/dev/full", "w", encoding="utf-8") as full:
            for words in self.WORDS:
                with self.subTest(words=words):
                    status, _, stderr = self.run_to_end(*words, stdout=full)
                    self.assertEqual(status, 71, stderr)
                    self.assertRegex(stderr, "^holdfast: cannot write the output: ")
        self.assertEqual(holder.wait(sandbox.PATIENCE), 76)  # it was evicted, whoever could not be told

    def test_a_closed_stream_is_no_file_of_the_store(self):
        # The lowest free number is given to whatever is opened next.
        script = "test -e /proc/self/fd/1 || echo closed >&2; exec sleep 100"
        words = [sandbox.holdfast, "run", "x", "--", "sh", "-c", script]
        process = subprocess.Popen(["sh", "-c", 'exec "$0" "$@" <&- >&-', *words], env=self.environment,
                                   cwd=self.folder, stderr=subprocess.PIPE, text=True)
        try:
            self.assertEqual(process.stderr.readline(), "closed\n")
            for stream in 0, 1:
                self.assertEqual(os.readlink(f"/proc/{process.pid}/fd/{stream}"), "/dev/null")
        finally:
            process.terminate()
            self.assertEqual(process.wait(sandbox.PATIENCE), 128 + signal.SIGTERM)
            process.stderr.close()


if __name__ == "__main__":
    sandbox.main()
