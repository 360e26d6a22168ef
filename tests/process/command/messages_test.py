"""What the command says when something is wrong: once, in its own words, and with what to type next."""

import shlex

import sandbox
from terminal import Shell

BAD_NAME = "it's a name"  # that a shell would take apart


class Messages(sandbox.Sandbox):
    def said(self, status, *words, **options):
        found, _, stderr = self.run_to_end(*words, **options)
        self.assertEqual(found, status, stderr)
        self.assertTrue(stderr.startswith("holdfast: "), stderr)
        return stderr

    def suggestion(self, text):
        """The command line in a message, as a shell reads it."""
        line = text[text.index("'holdfast ") + 1:]
        for end in range(len(line), 0, -1):
            if line[end - 1] != "'":
                continue
            try:
                return shlex.split(line[:end - 1])[1:]
            except ValueError:
                continue
        self.fail(text)
        return None


class Suggestions(Messages):
    def test_they_can_be_typed(self):
        for name in ("x", BAD_NAME, "a b", "$HOME", "käse"):
            with self.subTest(name=name):
                text = self.said(1, "latch", name)
                self.assertEqual(self.suggestion(text), ["latch", name, "--count", "N"])
                self.run_to_end("latch", name, "--count", "2", "--down", "2")
                text = self.said(64, "latch", name, "--count", "2")
                self.assertEqual(self.run_to_end(*self.suggestion(text))[0], 0)

    def test_a_barrier(self):
        for status, words in ((75, ["--parties", "2", "--wait", "2s"]), (76, ["--parties", "2"])):
            text = self.said(status, "barrier", BAD_NAME, *words)
            self.assertNotIn("reset()", text)
        self.assertEqual(self.suggestion(text), ["barrier", BAD_NAME, "--reset"])
        again, away = self.said(64, "evict", BAD_NAME).split(" begins it again, ")
        self.assertEqual(self.suggestion(again), ["barrier", BAD_NAME, "--reset"])
        self.assertEqual(self.suggestion(away), ["barrier", BAD_NAME, "--delete"])
        self.assertEqual(self.run_to_end(*self.suggestion(again))[0], 0)
        self.assertEqual(self.run_to_end(*self.suggestion(away))[0], 0)
        self.assertEqual(self.run_to_end("list")[1], "")

    def test_a_line_of_the_shell(self):
        line = "echo 'it runs' && true"
        text = self.said(127, "run", "a b", "--", line)
        words = shlex.split(text[text.index("holdfast run"):])[1:]
        self.assertEqual(words, ["run", "a b", "-c", line])
        self.assertEqual(self.run_to_end(*words)[1], "it runs\n")


class Options(Messages):
    def test_the_option_that_was_typed_is_blamed(self):
        for options, word in ((["--lease", "0"], "--lease"), (["--lease", "5ms"], "--lease"), (["-w", "soon"], "--wait"),
                              (["--lease", "100ms", "--grace", "95ms"], "--grace"), (["-E", "256"], "--conflict-exit"),
                              (["--patience", "x"], "--patience"), (["--lease", "1s", "--lease", "2s"], "--lease")):
            with self.subTest(options=options):
                text = self.said(64, "run", *options, "x", "--", "true")
                self.assertRegex(text, rf"^holdfast: {word}\b")
                self.assertNotIn("At Most", text)


class Tails(Messages):
    def test_none_is_doubled(self):
        """The general words of an error code say nothing that the words before have not said better."""
        general = ("the store is unavailable", "bad name", "bad option", "bad store URL", "not supported",
                   "the barrier is broken", "access denied by the store",
                   "the name is in use as another kind of synchronizer", "the name is in use with another limit")
        self.run_to_end("latch", "l", "--count", "1")
        holder = self.hold("s", "--limit", "2")
        for status, words in ((64, ["run", "", "true"]), (64, ["--store", "nowhere://x", "list"]),
                              (64, ["--store", "quorum+postgres://h", "list"]), (64, ["--store", "file:/no/where", "list"]),
                              (64, ["run", "l", "true"]), (64, ["run", "--limit", "3", "s", "true"]),
                              (64, ["run", "--lease", "1ms", "x", "true"])):
            with self.subTest(words=words):
                text = self.said(status, *words).rstrip("\n")
                for tail in general:
                    self.assertFalse(text.endswith(": " + tail), text)
        self.let_go(holder)


class Schemes(Messages):
    def test_near_ones_are_named(self):
        for given, meant in (("redis-sentinel://h/m", "redis+sentinel:"), ("sentinel://h", "redis+sentinel:"),
                             ("redis+sentinal://h", "redis+sentinel:"), ("redis-cluster://h", "redis+cluster:"),
                             ("redis+tls://h", "rediss:"), ("valkey://h", "redis:"), ("postgresql://h", "postgres:"),
                             ("mariadb://h", "mysql:"), ("etcd3://h", "etcd:"), ("zk://h", "zookeeper:"),
                             ("sqlite:/x", "file:"), ("fiel:/x", "file:"), ("unix:/x", "redis+unix:"),
                             ("redlock://a,b,c", "quorum+redis:"), ("quorum+mariadb://a,b,c", "quorum+mysql:"),
                             ("quorum+postgresql://a,b,c", "quorum+postgres:")):
            with self.subTest(given=given):
                self.assertIn(f"did you mean '{meant}'?", self.said(64, "--store", given, "list"))

    def test_others_are_told_what_a_url_is(self):
        for given in ("localhost:6379", "127.0.0.1:6379", "http://h", "h:1"):
            with self.subTest(given=given):
                self.assertIn("redis://HOST", self.said(64, "--store", given, "list"))

    def test_a_scheme_in_capitals(self):
        self.assertEqual(self.run_to_end("--store", f"FILE:{self.database}", "list")[0], 0)


class Empty(Messages):
    def test_a_list_on_a_terminal(self):
        shell = Shell(self.environment)
        try:
            self.assertIn(f"nothing is held or waited for in file:{self.database}", shell.run(f"{sandbox.holdfast} list")[0])
        finally:
            shell.close()
        self.assertNotIn("nothing", self.run_to_end("list")[1])


if __name__ == "__main__":
    sandbox.main()
