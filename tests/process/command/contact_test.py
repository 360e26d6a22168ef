"""The first minutes with a server: it is not there yet, it is another kind of server, or it wants a password."""

import http.server
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import sandbox
from terminal import CTRL_C, Shell

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "redis_scripts"))

import server  # noqa: E402 pylint: disable=wrong-import-position


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Contact(sandbox.Sandbox):
    def setUp(self):
        super().setUp()
        self.servers = []
        self.port = free_port()
        self.environment["HOLDFAST_STORE"] = f"redis://127.0.0.1:{self.port}"

    def tearDown(self):
        for each in self.servers:
            each.stop()  # or they would be found as left behind
        super().tearDown()

    def serve(self, *options):
        self.servers.append(server.Server("--port", str(self.port), *options))
        return self.servers[-1]


class NoServer(Contact):
    def setUp(self):
        super().setUp()
        self.shell = Shell(self.environment, columns=120)

    def tearDown(self):
        self.shell.close()
        super().tearDown()

    def expect_tries(self, limit, again=True):
        """The line comes, and comes again with more tries."""
        words = rf"holdfast: try (\d+), (\d+\.\ds) of {limit}: redis://127\.0\.0\.1:{self.port} cannot be reached: " \
                "Connection refused"
        first = self.shell.expect(words)
        self.assertGreaterEqual(first.group(2), "1.0s")
        if not again:
            return
        second = self.shell.expect(r"\r\x1b\[K.*" + words)
        self.assertGreater(int(second.group(1)), int(first.group(1)))

    def expect_outage(self):
        """The line comes, and comes again with more tries; nobody knows when the wait will be given up."""
        words = rf"holdfast: try (\d+), (\d+\.\ds): redis://127\.0\.0\.1:{self.port} (does not answer|cannot be reached)"
        first = self.shell.expect(words)
        self.assertGreaterEqual(first.group(2), "1.0s")
        self.shell.expect(words)

    def expect_line_to_go(self):
        """It is erased, and nothing is written instead; an observer may say once more that nobody leads."""
        self.shell.expect(r"\r\x1b\[K(\r\n)?$")

    def calls(self):
        """How many questions the server has answered."""
        with self.servers[0].connect() as asking:
            found = asking.info("commandstats")
        return sum(found.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in ("eval", "evalsha"))

    def lead(self, name):
        leader = self.start("elect", name, "--value", "w", "--", "sleep", "600")
        sandbox.until(lambda: self.run_to_end("leader", name)[1] == "w\n", "it leads")
        return leader

    def begin_waiting(self, words):
        """Types it, and waits until the store has answered it more than once: then it waits for others."""
        before = self.calls()
        self.shell.type(f"{sandbox.holdfast} --patience 1h {words}\n")
        sandbox.until(lambda: self.calls() >= before + 4, words)

    def test_run_goes_on_when_the_server_comes(self):
        self.shell.type(f"{sandbox.holdfast} --patience 60s run x -- echo held\n")
        self.expect_tries("1m 0s")
        self.serve()
        self.shell.expect(r"\r\x1b\[Kheld\r\n")
        self.shell.prompt()
        self.assertEqual(self.shell.status(), 0)

    def test_every_command_tells(self):
        # Not `evict`, which must not be tried again.
        for words in ("list", "show x", "latch x --count 1", "latch x --wait", "barrier x --parties 2",
                      "leader x", "leader --watch x", "elect x --value v -- true", "lock x"):
            with self.subTest(words=words):
                self.shell.type(f"{sandbox.holdfast} --patience 3700ms {words}\n")
                self.expect_tries(r"3\.7s", again=False)
                self.shell.expect(r"\x1b\[K.*holdfast:.* cannot be reached: Connection refused\r\n")
                self.shell.prompt()
                self.assertEqual(self.shell.status(), 69)

    def test_wait_is_the_limit_where_it_is_given(self):
        self.shell.type(f"{sandbox.holdfast} run --wait 8s x -- true\n")
        self.expect_tries("8.0s")
        self.shell.prompt()
        self.assertEqual(self.shell.status(), 69)

    def test_ctrl_c(self):
        self.shell.type(f"{sandbox.holdfast} --patience 1h run x -- true\n")
        self.expect_tries("1h 0m")
        self.shell.type(CTRL_C)
        begin = time.monotonic()
        self.shell.prompt()
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual(self.shell.status(), 128 + signal.SIGINT)

    def test_a_server_that_falls_silent_while_somebody_else_holds(self):
        self.serve()
        holder = self.hold()
        self.shell.type(f"{sandbox.holdfast} --patience 1h run x -- echo mine\n")
        self.shell.expect("waiting for x, held by")
        self.servers[0].pause()
        try:
            self.shell.expect(r"holdfast: try \d+, \S+ of \S+ \S+: redis://\S+ (does not answer|cannot be reached)")
        finally:
            self.servers[0].resume()
        self.shell.expect("waiting for x, held by")
        self.let_go(holder)
        self.shell.expect("mine")
        self.shell.prompt()

    def test_a_server_that_falls_silent_while_others_are_waited_for(self):
        self.serve()
        for words in ("latch x --wait", "latch x --wait 1h", "barrier y --parties 2", "barrier z --parties 2 --wait 1h",
                      "leader --watch e"):
            with self.subTest(words=words):
                self.begin_waiting(words)
                self.servers[0].pause()
                try:
                    self.expect_outage()
                finally:
                    self.servers[0].resume()
                self.expect_line_to_go()
                self.shell.type(CTRL_C)
                self.shell.prompt()
                self.assertEqual(self.shell.status(), 128 + signal.SIGINT)

    def test_a_server_that_dies_while_others_are_waited_for(self):
        for words in ("latch x --wait", "leader --watch e"):
            with self.subTest(words=words):
                self.serve()
                self.begin_waiting(words)
                self.servers.pop().stop()
                self.expect_outage()
                self.serve()
                self.expect_line_to_go()
                self.shell.type(CTRL_C)
                self.shell.prompt()
                self.servers.pop().stop()

    def test_a_wait_goes_on_after_an_outage(self):
        self.serve()
        self.run_to_end("latch", "x", "--count", "1")
        self.begin_waiting("latch x --wait")
        self.servers[0].pause()
        try:
            self.expect_outage()
        finally:
            self.servers[0].resume()
        self.expect_line_to_go()
        self.assertEqual(self.run_to_end("latch", "x", "--down")[0], 0)
        self.shell.prompt()
        self.assertEqual(self.shell.status(), 0)

    def test_lock_and_elect_in_the_middle_of_a_wait(self):
        for held, words in (("x", "lock x"), ("x", "run --wait 1h x -- true"), ("e", "elect e --value v -- true")):
            with self.subTest(words=words):
                self.serve()
                holder = self.hold() if held == "x" else self.lead(held)
                self.shell.type(f"{sandbox.holdfast} --patience 1h {words}\n")
                self.shell.expect(rf"waiting for {held}, (held|led) by")
                self.servers[0].pause()
                try:
                    self.shell.expect(r"holdfast: try \d+, \S+ of \S+ \S+: redis://\S+ (does not answer|cannot be reached)")
                finally:
                    self.servers[0].resume()
                self.shell.expect(rf"waiting for {held}, (held|led) by")
                self.shell.type(CTRL_C)
                self.shell.prompt()
                holder.terminate()
                holder.wait(sandbox.PATIENCE)
                self.servers.pop().stop()

    def test_in_the_middle_of_a_wait_elsewhere_only_with_verbose(self):
        self.serve()
        before = self.calls()
        waiters = [self.start(*words, "latch", "x", "--wait") for words in (["--verbose"], [])]
        sandbox.until(lambda: self.calls() >= before + 6, "both wait")
        self.servers.pop().stop()
        loud, silent = (waiter.communicate(timeout=3 * sandbox.PATIENCE)[1] for waiter in waiters)
        self.assertRegex(loud, rf"holdfast: try \d+, \S+: redis://127\.0\.0\.1:{self.port} cannot be reached")
        self.assertNotIn("try", silent)

    def test_elsewhere_only_with_verbose(self):
        for words in (["list"], ["run", "x", "--", "true"]):
            with self.subTest(words=words):
                tries = rf"holdfast: try \d+, 1\.\ds of 2\.0s: redis://127\.0\.0\.1:{self.port} cannot be reached"
                status, stdout, stderr = self.run_to_end("--patience", "2s", "--verbose", *words)
                self.assertEqual((status, stdout), (69, ""))
                self.assertEqual(len(re.findall(tries, stderr)), 1, stderr)
                status, stdout, stderr = self.run_to_end("--patience", "2s", *words)
                self.assertEqual((status, stdout), (69, ""))
                self.assertEqual(stderr, f"holdfast: the server redis://127.0.0.1:{self.port} cannot be reached: "
                                         "Connection refused\n")


class PlainAnswers(http.server.BaseHTTPRequestHandler):
    def handle(self):
        self.connection.recv(100)
        self.connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


class OtherServers(Contact):
    def refusal(self, status, scheme="redis", options=""):
        """What is said of the port: no user can see more of it."""
        store = f"{scheme}://127.0.0.1:{self.port}{options}"
        found, _, words = self.run_to_end("--store", store, "--patience", "2s", "run", "x", "--", "true")
        self.assertEqual(found, status, words)
        self.assertTrue(words.startswith(f"holdfast: the server {scheme}://127.0.0.1:{self.port} "), words)
        return words

    def test_tls_to_a_server_without(self):
        self.serve()
        words = self.refusal(69, "rediss", "?insecure=true&timeout=1s")
        self.assertIn("does not answer TLS", words)
        self.assertIn("begins with redis://", words)

    def test_no_tls_to_a_server_with_it(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=x",
                        "-keyout", self.path("key.pem"), "-out", self.path("cert.pem")], check=True,
                       capture_output=True, timeout=sandbox.PATIENCE)
        self.servers.append(server.Server(
            "--tls-port", str(self.port), "--tls-cert-file", str(self.path("cert.pem")), "--tls-key-file",
            str(self.path("key.pem")), "--tls-auth-clients", "no", "--tls-ca-cert-file", str(self.path("cert.pem"))))
        self.assertIn("the store URL begins with rediss://", self.refusal(69))
        status, stdout, stderr = self.run_to_end("--store", f"rediss://127.0.0.1:{self.port}?insecure=true", "run", "x",
                                                 "--", "echo", "held")
        self.assertEqual((status, stdout, stderr), (0, "held\n", ""))

    def test_an_alert_of_tls(self):
        """Other servers than Redis answer what is no TLS in its own words."""
        with socket.create_server(("127.0.0.1", self.port)) as listener:
            def answer():
                try:
                    while True:
                        with listener.accept()[0] as peer:
                            peer.recv(100)
                            peer.sendall(b"\x15\x03\x03\x00\x02\x02\x46")
                except OSError:  # the end of the test
                    pass
            thread = threading.Thread(target=answer)
            thread.start()
            self.assertIn("speaks TLS on this port; the store URL begins with rediss://", self.refusal(69))
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()

    def test_sentinel(self):
        configuration = self.path("sentinel.conf")
        configuration.write_text("", encoding="utf-8")
        self.servers.append(server.Server("--port", str(self.port), "--sentinel",
                                          program=["redis-server", str(configuration)]))
        self.assertIn(f"is a Sentinel, which keeps no locks; the store URL is redis+sentinel://127.0.0.1:{self.port}/"
                      "MASTER-NAME", self.refusal(64))

    def test_cluster(self):
        self.serve("--cluster-enabled", "yes", "--cluster-port", str(free_port()))
        self.assertIn(f"is part of a cluster; the store URL is redis+cluster://127.0.0.1:{self.port}", self.refusal(64))

    def test_http(self):
        for handler in (http.server.SimpleHTTPRequestHandler, PlainAnswers):
            with self.subTest(handler=handler.__name__):
                with http.server.ThreadingHTTPServer(("127.0.0.1", self.port), handler) as web:
                    handler.log_message = lambda *_: None
                    threading.Thread(target=web.serve_forever, args=(0.05,)).start()
                    self.assertIn("speaks HTTP, not Redis; check the port", self.refusal(69))
                    web.shutdown()


class Nested(Contact):
    """A program under a hold that uses holdfast itself, on a store with a password."""

    PASSWORD = "tr0ub4dor"
    SCRIPT = 'echo "$HOLDFAST_STORE"; "$0" show x | head -n 1'

    def setUp(self):
        super().setUp()
        self.serve("--requirepass", self.PASSWORD)
        self.url = f"redis://:{self.PASSWORD}@127.0.0.1:{self.port}"
        self.shown = f"redis://127.0.0.1:{self.port}"
        del self.environment["HOLDFAST_STORE"]

    def configure(self, text):
        path = self.folder / ".config/holdfast/config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)

    def run_nested(self, *words):
        status, stdout, stderr = self.run_to_end(*words, "x", "--", "sh", "-c", self.SCRIPT, sandbox.holdfast)
        self.assertEqual(status, 0, stderr)
        lines = stdout.splitlines()
        return lines[0], lines[1:], stderr

    def test_by_name(self):
        self.configure(f'[stores]\nprod = "{self.url}"\n')
        self.assertEqual(self.run_nested("--store", "prod", "run"), ("prod", ["x  lock"], ""))
        self.environment["HOLDFAST_STORE"] = "prod"
        self.assertEqual(self.run_nested("elect", "--value", "v"), ("prod", ["x  election"], ""))

    def test_by_default(self):
        self.configure(f'default = "{self.url}"\n')
        self.assertEqual(self.run_nested("run"), ("default", ["x  lock"], ""))
        self.configure(f'default = "prod"\n[stores]\nprod = "{self.url}"\n')
        self.assertEqual(self.run_nested("run"), ("prod", ["x  lock"], ""))

    def test_a_store_without_a_password_is_given_by_its_url(self):
        self.configure('default = "here"\n[stores]\nhere = "file:' + str(self.database) + '"\n')
        self.assertEqual(self.run_nested("run"), (f"file:{self.database}", ["x  lock"], ""))

    def test_pass_credentials(self):
        self.assertEqual(self.run_nested("--store", self.url, "run", "--pass-credentials"), (self.url, ["x  lock"], ""))
        self.environment.update(HOLDFAST_STORE=self.shown, HOLDFAST_REDIS_PASSWORD=self.PASSWORD)
        self.assertEqual(self.run_nested("run", "--pass-credentials"), (self.shown, ["x  lock"], ""))

    def test_without_either_the_cure_is_named(self):
        self.environment.update(HOLDFAST_STORE=self.shown, HOLDFAST_REDIS_PASSWORD=self.PASSWORD)
        for words in (["run"], ["--store", self.url, "run"]):
            with self.subTest(words=words):
                store, found, stderr = self.run_nested(*words)
                self.assertEqual((store, found), (self.shown, []))
                self.assertNotIn(self.PASSWORD, stderr)
                self.assertIn("give the store a name in the configuration, or run with --pass-credentials", stderr)


if __name__ == "__main__":
    sandbox.main()
