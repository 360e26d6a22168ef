"""What a pair of acquire and release costs on both sides, in counts that a busy machine does not change: instructions,
system calls, allocations, commands, bytes. Callgrind counts what is carried out in the client and in the server.

Under Callgrind a server is slow to answer, so calls gather as they do far from one; see gathering.cpp.

    pair_cost_test.py BUILD
"""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "redis_scripts"))
from server import Server, die_with_parent  # noqa: E402

CORE = min(os.sched_getaffinity(0))


def total(file, event):
    """Of a whole run."""
    text = Path(file).read_text()
    names = re.search(r"^events: (.*)$", text, re.MULTILINE).group(1).split()
    counts = re.search(r"^totals: (.*)$", text, re.MULTILINE).group(1).split()
    return int(counts[names.index(event)])


def system_calls(file):
    """To write, to wait and to read. Others come by the clock: the reading of it, which is one under Valgrind alone, and
    what a busy machine makes of timers."""
    table = subprocess.run(["callgrind_annotate", "--show=sysCount", "--sort=sysCount", "--threshold=100", "--auto=no", file],
                           stdout=subprocess.PIPE, check=True, text=True).stdout
    counts = re.findall(r"^ *([\d,]+) .*:(?:send|recv|epoll_wait) ", table, re.MULTILINE)
    return sum(int(count.replace(",", "")) for count in counts)


@contextlib.contextmanager
def counted_server(out):
    server = Server(program=("valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "redis-server"))
    try:
        yield server
        with contextlib.suppress(Exception):
            server.connect().shutdown(nosave=True)
        server.wait()
    finally:
        server.stop()


class PairCost(unittest.TestCase):
    def run_pairs(self, how, pairs):
        """What so many of them cost, with the start and the end of everything."""
        with tempfile.TemporaryDirectory() as place:
            with counted_server(f"{place}/server") as server:
                link = server.connect()
                before = link.info()
                ended = subprocess.run(
                    ["valgrind", "--tool=callgrind", "--collect-systime=yes", f"--callgrind-out-file={place}/client",
                     f"{BUILD}/bin/tests/redis_pairs", f"redis+unix:{server.socket}", how, str(pairs)],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=240, preexec_fn=die_with_parent)
                self.assertEqual(ended.returncode, 0, ended.stderr)
                after = link.info()
                calls = sum(stats["calls"] for name, stats in link.info("commandstats").items()
                            if name in ("cmdstat_evalsha", "cmdstat_eval"))
                link.close()
            client = f"{place}/client"
            return {
                "client instructions": total(client, "Ir"),
                "system calls": system_calls(client),
                "allocations": int(ended.stdout),
                "server instructions": total(f"{place}/server", "Ir"),
                "calls": calls,
                "bytes": sum(after[it] - before[it] for it in ("total_net_input_bytes", "total_net_output_bytes")),
            }

    def assertCosts(self, how, pairs, most):
        few, all_ = (self.run_pairs(how, n) for n in (pairs, 3 * pairs))
        each = {what: (all_[what] - few[what]) / (2 * pairs) for what in few}
        print(how, {what: round(count, 2) for what, count in each.items()})
        for what, count in each.items():
            self.assertGreater(count, 0, what)
            self.assertLessEqual(count, most[what], what)

    def test_one_owner(self):
        self.assertCosts("one", 300, {
            "client instructions": 45_000,
            "system calls": 7,
            "allocations": 23,
            "server instructions": 160_000,
            "calls": 2,
            "bytes": 900,
        })

    def test_many_owners(self):
        self.assertCosts("many", 1920, {
            "client instructions": 52_000,
            "system calls": 1,
            "allocations": 36,
            "server instructions": 90_000,
            "calls": 0.3,
            "bytes": 340,
        })


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    # One core for all: then nobody looks for an answer before it is there.
    os.sched_setaffinity(0, {CORE})
    unittest.main()
