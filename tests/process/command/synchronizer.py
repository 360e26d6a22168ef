"""What the tests of latch, barrier and election have in common."""

import json
import pathlib
import signal

import sandbox

USAGE, UNAVAILABLE, NOT_IN_TIME, LOST = 64, 69, 75, 76
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def hears_signals(pid):
    """Whether the process has made arrangements for Ctrl-C: from then on it waits, or is about to."""
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    fields = dict(line.split(":", 1) for line in text.splitlines())
    return int(fields["SigBlk"], 16) >> (signal.SIGINT - 1) & 1 == 1 and int(fields["Threads"]) > 1


class Synchronizer(sandbox.Sandbox):
    def succeeds(self, *words):
        """What it prints."""
        status, stdout, stderr = self.run_to_end(*words)
        self.assertEqual((status, stderr), (0, ""), words)
        return stdout

    def fails(self, expected, *words):
        """What it says."""
        status, stdout, stderr = self.run_to_end(*words)
        self.assertEqual((status, stdout), (expected, ""), (words, stderr))
        self.assertRegex(stderr, "^holdfast: .")
        return stderr

    def object(self, *words):
        return json.loads(self.succeeds(*words))

    def start_waiting(self, *words):
        process = self.start(*words)
        sandbox.until(lambda: hears_signals(process.pid), "it waits")
        return process

    def ends(self, process, status, stdout=""):
        """What it says."""
        out, err = process.communicate(timeout=sandbox.PATIENCE)
        self.assertEqual((process.returncode, out), (status, stdout), (process.args, err))
        return err

    def listed(self, name):
        """Its cells in the table of `holdfast list`, by heading."""
        lines = self.succeeds("list", name).splitlines()
        heading = lines[0]
        starts = [heading.index(word) for word in heading.split()] + [None]
        return [{heading[a:b].strip(): line[a:b].strip() for a, b in zip(starts, starts[1:])} for line in lines[1:]]
