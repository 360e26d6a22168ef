"""Private servers of Redis, and what they have done so far."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections import Counter

_SEEN = re.compile(rb'^\+?\d+\.\d+ \[\d+ (lua|[^\]]*)\] "([^"]*)"', re.MULTILINE)  # by MONITOR
_CALLS = re.compile(r"^cmdstat_([^:|]+)[^:]*:calls=(\d+)", re.MULTILINE)


class Server:
    """Without persistence, else as it is by default; on one core."""

    def __init__(self, core):
        self._where = tempfile.mkdtemp(prefix="holdfast-peers-")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        allowed = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {core})  # which it inherits
        try:
            self._process = subprocess.Popen(
                ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                 "--dir", self._where, "--logfile", "redis.log"])
        finally:
            os.sched_setaffinity(0, allowed)
        self._line = self._connect()
        self._own = 0  # bytes of our own questions and their answers
        self.version = re.search(r"redis_version:(\S+)", self.ask("INFO", "server")).group(1)

    def _connect(self):
        for _ in range(200):
            with contextlib.suppress(OSError):
                return socket.create_connection(("127.0.0.1", self.port))
            time.sleep(0.05)
        raise RuntimeError("redis-server does not come up")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._line.close()
        self._process.terminate()
        self._process.wait()
        shutil.rmtree(self._where)

    def ask(self, *words):
        """The answer, a line or a text."""
        question = f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
        self._line.sendall(question.encode())
        answer = b""
        while True:
            answer += self._line.recv(65536)
            head, end, rest = answer.partition(b"\r\n")
            if end and (head[:1] != b"$" or len(rest) >= int(head[1:]) + 2):
                self._own = len(question) + len(answer)
                return (rest if head[:1] == b"$" else head).decode()

    def counts(self):
        """Calls of each command (also by scripts), bytes, and microseconds of processor time so far."""
        info = self.ask("INFO", "stats", "cpu", "commandstats")
        number = lambda name: float(re.search(rf"^{name}:(.*?)\r?$", info, re.MULTILINE).group(1))
        calls = Counter()
        for name, count in _CALLS.findall(info):
            calls[name] += int(count)
        return {"calls": calls, "bytes": number("total_net_input_bytes") + number("total_net_output_bytes"),
                "cpu": 1e6 * (number("used_cpu_user") + number("used_cpu_sys")), "own": self._own}

    def difference(self, before, after):
        """What was done between two counts. The first answer went out after it was counted, with the next question."""
        calls = after["calls"] - before["calls"]
        calls["info"] -= 1
        return {"calls": +calls, "bytes": after["bytes"] - before["bytes"] - before["own"], "cpu": after["cpu"] - before["cpu"]}

    def seen(self, span=0.2, most=1 << 22):
        """Of the commands of a moment: how many of each name clients sent, and how many there were with those of scripts."""
        text = bytearray()
        with self._connect() as watching:
            watching.sendall(b"MONITOR\r\n")
            watching.settimeout(span)
            until = time.perf_counter() + span
            with contextlib.suppress(TimeoutError):
                while time.perf_counter() < until and len(text) < most:
                    text += watching.recv(1 << 18)
        sent, called = Counter(), Counter()
        for who, name in _SEEN.findall(text):
            called[name.decode().lower()] += 1
            if who != b"lua":
                sent[name.decode().lower()] += 1
        return sent, called


class Servers:
    """Several of them, counted as one."""

    def __init__(self, count, core):
        with contextlib.ExitStack() as all_of_them:
            self._each = [all_of_them.enter_context(Server(core)) for _ in range(count)]
            self._end = all_of_them.pop_all()
        self.port = ",".join(str(each.port) for each in self._each)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._end.close()

    def ask(self, *words):
        return [each.ask(*words) for each in self._each]

    def counts(self):
        return [each.counts() for each in self._each]

    def difference(self, before, after):
        parts = [each.difference(*both) for each, *both in zip(self._each, before, after)]
        return {"calls": sum((part["calls"] for part in parts), Counter()),
                **{what: sum(part[what] for part in parts) for what in ("bytes", "cpu")}}

    def seen(self):
        return self._each[0].seen()
