"""What every test of the command stands on: a private store, processes that cannot be left behind, and waiting on
conditions instead of sleeping for a while.

    <test>.py PATH-OF-HOLDFAST [unittest arguments]
"""

import contextlib
import ctypes
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

PATIENCE = 20  # seconds until a condition that must come true is given up
TEST_LIMIT = 90  # seconds for one test, whatever it waits for
PR_SET_CHILD_SUBREAPER = 36

holdfast = None  # the path of the command; set by main()


def main():
    global holdfast
    holdfast = str(pathlib.Path(sys.argv.pop(1)).resolve())
    # What a test starts, and what that starts, comes back to us when its parent dies: so it can be found and ended.
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    unittest.main(verbosity=2)


def until(condition, what, patience=PATIENCE):
    """The first true value of condition()."""
    end = time.monotonic() + patience
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {patience} s: {what}")
        time.sleep(0.01)


def stat_of(pid):
    """(state, parent, group) of a process, or None when it is gone or a zombie."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else (fields[0], int(fields[1]), int(fields[2]))


def name_of(pid):
    """The name by which pkill and killall know a process; None when it is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").rstrip("\n")
    except (FileNotFoundError, ProcessLookupError):
        return None


def is_alive(pid):
    return stat_of(pid) is not None


def is_stopped(pid):
    stat = stat_of(pid)
    return stat is not None and stat[0] == "T"


def descendants(root):
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            stat = stat_of(int(entry))
            if stat is not None:
                parents[int(entry)] = stat[1]
    found, frontier = set(), {root}
    while frontier:
        frontier = {pid for pid, parent in parents.items() if parent in frontier} - found
        found |= frontier
    return found


def reap():
    """Collects the orphans that we inherited; the children that subprocess knows of are its own to collect."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass


class Sandbox(unittest.TestCase):
    def setUp(self):
        signal.signal(signal.SIGALRM, self._too_long)
        signal.alarm(TEST_LIMIT)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="holdfast-test-"))
        self.database = self.folder / "locks.db"
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")}
        self.environment.update(HOME=str(self.folder), HOLDFAST_STORE=f"file:{self.database}", LC_ALL="C.UTF-8")
        self.environment.pop("XDG_STATE_HOME", None)
        self.environment.pop("NO_COLOR", None)
        self.started = []

    def tearDown(self):
        try:
            # A process that is still there when its test is over was left behind: say so, and end it.
            self.close_pipes()
            until(lambda: not self._left(), "nothing is left running", patience=PATIENCE if self._passed() else 0.1)
        finally:
            for pid in descendants(os.getpid()):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            for process in self.started:
                process.wait(PATIENCE)
            until(lambda: not self._left(), "killed processes are gone")
            signal.alarm(0)
            shutil.rmtree(self.folder, ignore_errors=True)

    def _left(self):
        for process in self.started:
            process.poll()
        left = descendants(os.getpid())
        if not left:
            reap()
        return left

    def _passed(self):
        return not any(error for _, error in self._outcome.result.errors + self._outcome.result.failures
                       if _ is self)

    def _too_long(self, *_):
        raise AssertionError(f"the test took more than {TEST_LIMIT} s")

    def close_pipes(self):
        for process in self.started:
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None and not pipe.closed:
                    try:
                        pipe.close()
                    except BrokenPipeError:
                        pass

    # --- starting ---

    def start(self, *words, before=(), **options):
        """holdfast with these words, in a session of its own, with pipes; `before` is a program that starts it."""
        options.setdefault("stdin", subprocess.PIPE)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        options.setdefault("env", self.environment)
        process = subprocess.Popen([*before, holdfast, *map(str, words)], text=True, start_new_session=True, **options)
        self.started.append(process)
        return process

    def run_to_end(self, *words, patience=PATIENCE, input=None, **options):
        """(status, stdout, stderr)"""
        process = self.start(*words, **options)
        stdout, stderr = process.communicate(input=input, timeout=patience)
        return process.returncode, stdout, stderr

    def hold(self, name="x", *options):
        """A holder that lets go when its stdin is closed. Returns when it holds."""
        process = self.start("run", *options, name, "--", "sh", "-c", "echo held; exec cat")
        self.assertEqual(process.stdout.readline(), "held\n")
        return process

    def let_go(self, process, status=0):
        process.stdin.close()
        self.assertEqual(process.wait(PATIENCE), status)

    @contextlib.contextmanager
    def silent_store(self):
        """Nobody gets an answer from the store meanwhile: another connection has it for itself."""
        with contextlib.closing(sqlite3.connect(self.database, timeout=PATIENCE, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            yield
            other.execute("ROLLBACK")

    # --- looking ---

    def show(self, name="x"):
        status, stdout, stderr = self.run_to_end("show", "--json", name)
        self.assertEqual((status, stderr), (0, ""))
        return json.loads(stdout)

    def waiters(self, name="x"):
        return len(self.show(name)["waiters"])

    def is_free(self, name="x"):
        lock = self.show(name)
        return not lock["holders"] and not lock["waiters"]

    def path(self, name):
        return self.folder / name

    def read(self, name):
        try:
            return self.path(name).read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""
