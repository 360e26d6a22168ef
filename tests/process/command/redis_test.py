"""The command on a real server, where nothing but the lease frees the name of a holder that was killed: so none is."""

import os
import pathlib
import signal
import socket
import sys
import time
import urllib.parse

import sandbox

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "redis_scripts"))

import server  # noqa: E402 pylint: disable=wrong-import-position

RUNS = 10


class OnRedis(sandbox.Sandbox):
    def setUp(self):
        super().setUp()
        self.server = server.Server()
        self.environment["HOLDFAST_STORE"] = f"redis+unix:{self.server.socket}"

    def tearDown(self):
        self.server.stop()  # or it would be found as left behind
        super().tearDown()


class ManySignals(OnRedis):
    def test_timeout_signals_twice(self):
        """It signals its child and then its own group, of which the child is a member."""
        for number in (signal.SIGTERM, signal.SIGINT):
            for run in range(RUNS):
                with self.subTest(signal=number, run=run):
                    process = self.start("run", "x", "--", "sleep", "60",
                                         before=["timeout", f"--signal={int(number)}", "0.3"])
                    self.assertEqual(process.wait(sandbox.PATIENCE), 124)
                    self.assertTrue(self.is_free())

    def test_while_giving_back(self):
        # The command ends by the first; some of the others find holdfast giving back.
        for run in range(RUNS):
            with self.subTest(run=run):
                name = f"x{run}"  # one that stays taken is no obstacle for the next
                process = self.hold(name)
                while process.poll() is None:
                    process.send_signal(signal.SIGTERM)
                self.assertEqual(process.returncode, 128 + signal.SIGTERM)
                self.assertTrue(self.is_free(name))

    def test_while_waiting(self):
        holder = self.hold()
        for signals in ([signal.SIGTERM] * 3, [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]):
            for options in ([], ["--fair"], ["--wait", "1h"]):
                with self.subTest(signals=signals, options=options):
                    waiter = self.start("run", *options, "x", "--", "echo", "ran")
                    sandbox.until(lambda: self.waiters() == 1, "it waits")
                    for number in signals:
                        waiter.send_signal(number)
                    self.assertEqual(waiter.communicate(timeout=sandbox.PATIENCE), ("", ""))
                    self.assertGreater(waiter.returncode, 128)
                    self.assertEqual(self.waiters(), 0)
        self.let_go(holder)

    def test_a_silent_store_is_waited_for_only_by_the_patient(self):
        self.environment["HOLDFAST_STORE"] += "?timeout=30s"
        process = self.hold()
        self.server.connect().execute_command("CLIENT", "PAUSE", "60000", "ALL")
        begin = time.monotonic()

        def ended():
            process.send_signal(signal.SIGTERM)
            return process.poll() is not None
        sandbox.until(ended, "it ends", patience=5)
        self.assertGreater(time.monotonic() - begin, 0.9)


class Killed(OnRedis):
    def test_both_processes(self):
        """Nobody of ours is left: the system ends what takes no notice of TERM, inside the lease."""
        script = 'trap "" TERM; sh -c "while sleep 0.05; do :; done" & echo "$$ $!"; while sleep 0.05; do :; done'
        process = self.start("run", "x", "--", "sh", "-c", script)
        group = [int(pid) for pid in process.stdout.readline().split()]
        holder = self.show()["holders"][0]["pid"]
        os.kill(process.pid, signal.SIGKILL)
        os.kill(holder, signal.SIGKILL)
        sandbox.until(lambda: not any(map(sandbox.is_alive, group)), "the group is gone")
        self.assertEqual(len(self.show()["holders"]), 1)  # the server knows of no death: the lease counts


class Passwords(sandbox.Sandbox):
    def setUp(self):
        super().setUp()
        self.server = server.Server("--requirepass", "secret")

    def tearDown(self):
        self.server.stop()
        super().tearDown()

    def test_the_command_can_use_the_store_too(self):
        """The password file is named in full, and the password itself nowhere."""
        folder = pathlib.Path(self.server.folder)
        deep = "/".join(["%" * 200] * 12)  # longer than most things, when it is encoded
        (folder / deep).mkdir(parents=True)
        (folder / deep / "word").write_text("secret\n", encoding="utf-8")
        word = urllib.parse.quote(f"{deep}/word")
        script = 'env; cd / && exec "$0" show x'
        status, stdout, stderr = self.run_to_end("--store", f"redis+unix:redis.sock?passwordfile={word}", "run", "x", "--",
                                                 "sh", "-c", script, sandbox.holdfast, cwd=folder)
        self.assertEqual((status, stderr), (0, ""))
        self.assertIn(f"HOLDFAST_STORE=redis+unix:{folder}/redis.sock?passwordfile={folder}/{word}\n", stdout)
        self.assertNotIn("secret", stdout)


class Refusals(sandbox.Sandbox):
    PASSWORD = "tr0ub4dor"

    def setUp(self):
        super().setUp()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.server = server.Server("--port", str(self.port))

    def tearDown(self):
        self.server.stop()
        super().tearDown()

    def words_of_refusal(self, user):
        store = f"redis://{user}:{self.PASSWORD}@127.0.0.1:{self.port}"
        found, _, words = self.run_to_end("--store", store, "run", "--wait", "2s", "x", "--", "true")
        self.assertEqual(found, 69, words)
        self.assertNotIn(self.PASSWORD, words)
        self.assertNotIn("**", words)
        self.assertIn(f"redis://127.0.0.1:{self.port} ", words)
        return words

    def test_the_cure_can_be_read(self):
        """What a server says has an '@' of its own, far behind the address: it ends no password."""
        admin = self.server.connect()
        admin.execute_command("ACL", "SETUSER", "mute", "on", ">" + self.PASSWORD, "+@all", "-@scripting", "~*", "&*")
        self.assertIn("+@read +@write +@scripting", self.words_of_refusal("mute"))
        admin.execute_command("ACL", "SETUSER", "able", "on", ">" + self.PASSWORD, "+@all", "~*", "&*")
        admin.execute_command("REPLICAOF", "127.0.0.1", "1")
        self.assertIn("is a replica; name the primary", self.words_of_refusal("able"))

    def test_a_mistyped_command_tells_no_password(self):
        secret = self.PASSWORD
        for store in (f"redis://:{secret}@h", f"redis://u:my {secret}@h", f"redis://u:a@b'{secret}@h"):
            for words in ([store], ["run", "--lease", store, "x", "--", "true"], ["list", "a", store],
                          ["run", "--permits", store, "x", "--", "true"]):
                with self.subTest(words=words):
                    status, stdout, stderr = self.run_to_end(*words)
                    self.assertEqual(status, 64, stderr)
                    self.assertNotIn(self.PASSWORD, stdout + stderr)


if __name__ == "__main__":
    sandbox.main()
